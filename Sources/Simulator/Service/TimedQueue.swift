internal import Push

/// Things that have a time, given back in its order; those of one time in the order in which they came.
///
/// Nearly all have the same delay, so that they come in the order in which they go: those stand in a row, which costs
/// next to nothing. The others, which come before something that already stands there, form a heap.
struct TimedQueue<Element> {
    private struct Item {
        let time: MonotonicTime
        let order: UInt64
        let element: Element

        func precedes(_ other: Item) -> Bool {
            self.time == other.time ? self.order < other.order : self.time < other.time
        }
    }

    private var row: [Item] = []
    /// Where in `row` the first one stands.
    private var head = 0
    private var heap: [Item] = []
    private var inserted: UInt64 = 0

    var count: Int { self.row.count - self.head + self.heap.count }

    /// When the first one is due.
    var next: MonotonicTime? {
        switch (self.head < self.row.count ? self.row[self.head].time : nil, self.heap.first?.time) {
        case (let row?, let heap?): min(row, heap)
        case (let row, let heap): row ?? heap
        }
    }

    mutating func insert(_ element: Element, at time: MonotonicTime) {
        let item = Item(time: time, order: self.inserted, element: element)
        self.inserted += 1
        if self.head == self.row.count || self.row[self.row.count - 1].time <= time {
            self.row.append(item)
        } else {
            self.push(item)
        }
    }

    /// Takes the first one, if it is due.
    mutating func popDue(at now: MonotonicTime) -> Element? {
        let first = self.head < self.row.count ? self.row[self.head] : nil
        if let top = self.heap.first, first.map({ top.precedes($0) }) ?? true {
            guard top.time <= now else { return nil }
            return self.pop().element
        }
        guard let first, first.time <= now else { return nil }
        self.head += 1
        if self.head == self.row.count {
            self.row.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head >= 4096, self.head * 2 >= self.row.count {
            self.row.removeFirst(self.head)
            self.head = 0
        }
        return first.element
    }

    /// All that waits, in no order.
    var elements: [Element] { self.row[self.head...].map(\.element) + self.heap.map(\.element) }

    private mutating func push(_ item: Item) {
        self.heap.append(item)
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.heap[child].precedes(self.heap[parent]) else { return }
            self.heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() -> Item {
        self.heap.swapAt(0, self.heap.count - 1)
        let first = self.heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.heap.count {
                if self.heap[child].precedes(self.heap[smallest]) { smallest = child }
            }
            guard smallest != parent else { return first }
            self.heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}

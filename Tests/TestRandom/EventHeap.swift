/// Events in the order of their times; equal times in the order of their making.
package struct EventHeap<Event> {
    // Written plainly: simulations run in debug builds, where tuples and closures are slow.
    private struct Entry {
        let time: Int
        let order: Int
        let event: Event

        func precedes(_ other: Entry) -> Bool {
            self.time == other.time ? self.order < other.order : self.time < other.time
        }
    }

    private var heap: [Entry] = []
    private var count = 0

    package init() {}

    package var nextTime: Int? { self.heap.isEmpty ? nil : self.heap[0].time }

    package mutating func insert(_ event: Event, at time: Int) {
        let entry = Entry(time: time, order: self.count, event: event)
        self.count += 1
        self.heap.append(entry)
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entry.precedes(self.heap[parent]) else { break }
            self.heap[child] = self.heap[parent]
            child = parent
        }
        self.heap[child] = entry
    }

    package mutating func pop() -> Event? {
        guard !self.heap.isEmpty else { return nil }
        let first = self.heap[0]
        let entry = self.heap.removeLast()
        let count = self.heap.count
        guard count > 0 else { return first.event }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < count else { break }
            if child + 1 < count, self.heap[child + 1].precedes(self.heap[child]) { child += 1 }
            guard self.heap[child].precedes(entry) else { break }
            self.heap[parent] = self.heap[child]
            parent = child
        }
        self.heap[parent] = entry
        return first.event
    }
}

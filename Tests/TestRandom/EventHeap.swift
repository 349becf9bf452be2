/// Events in the order of their times; equal times in the order of their making.
package struct EventHeap<Event> {
    private var heap: [(time: Int, order: Int, event: Event)] = []
    private var count = 0

    package init() {}

    package var nextTime: Int? { self.heap.first?.time }

    package mutating func insert(_ event: Event, at time: Int) {
        self.heap.append((time, self.count, event))
        self.count += 1
        var child = self.heap.count - 1
        while child > 0, self.precedes(child, (child - 1) / 2) {
            self.heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    package mutating func pop() -> Event? {
        guard !self.heap.isEmpty else { return nil }
        self.heap.swapAt(0, self.heap.count - 1)
        let first = self.heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < self.heap.count && self.precedes(child, smallest) {
                smallest = child
            }
            guard smallest != parent else { return first.event }
            self.heap.swapAt(parent, smallest)
            parent = smallest
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (self.heap[left].time, self.heap[left].order) < (self.heap[right].time, self.heap[right].order)
    }
}

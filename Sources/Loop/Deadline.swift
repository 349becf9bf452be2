package import Push

/// A call that a loop makes once, at its time, unless it is cancelled.
package final class Deadline {
    /// When it is due.
    package let time: MonotonicTime
    private var body: (() -> Void)?
    fileprivate var order: UInt64 = 0

    init(time: MonotonicTime, body: @escaping () -> Void) {
        self.time = time
        self.body = body
    }

    /// Whether it has neither fired nor been cancelled.
    package var isPending: Bool { self.body != nil }

    /// Takes it back; what it captured is freed at once. Calling it twice, or after it fired, does nothing.
    package func cancel() {
        self.body = nil
    }

    func fire() {
        let body = self.body
        self.body = nil
        body?()
    }
}

/// A binary heap of deadlines; equal times keep the order in which they were asked for.
///
/// Cancelled ones stay until they reach the top: cancelling is free, and deadlines are few (one per connection, not
/// one per request).
struct DeadlineHeap {
    private var heap: [Deadline] = []
    private var count: UInt64 = 0

    /// The earliest time that is still pending.
    var next: MonotonicTime? {
        mutating get {
            while let first = self.heap.first, !first.isPending { _ = self.pop() }
            return self.heap.first?.time
        }
    }

    mutating func insert(_ deadline: Deadline) {
        deadline.order = self.count
        self.count += 1
        self.heap.append(deadline)
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard Self.precedes(self.heap[child], self.heap[parent]) else { break }
            self.heap.swapAt(child, parent)
            child = parent
        }
    }

    /// How many were ever inserted; see `popDue`.
    var asked: UInt64 { self.count }

    /// The earliest pending deadline that is due at `now`, if it was inserted before there were `asked` others.
    mutating func popDue(at now: MonotonicTime, askedBefore asked: UInt64) -> Deadline? {
        guard let next = self.next, next <= now, self.heap[0].order < asked else { return nil }
        return self.pop()
    }

    private mutating func pop() -> Deadline {
        self.heap.swapAt(0, self.heap.count - 1)
        let first = self.heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.heap.count {
                if Self.precedes(self.heap[child], self.heap[smallest]) { smallest = child }
            }
            guard smallest != parent else { return first }
            self.heap.swapAt(parent, smallest)
            parent = smallest
        }
    }

    private static func precedes(_ left: Deadline, _ right: Deadline) -> Bool {
        left.time == right.time ? left.order < right.order : left.time < right.time
    }
}

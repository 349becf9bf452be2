internal import Push

/// The commands that wait for an answer on one connection. Redis answers in order, so the head is always next.
///
/// Every command may take the same time, so the head's deadline is the earliest. Once it has passed nothing that
/// arrives later can be trusted to belong to anyone in time: the connection is dead and everything in the queue may or
/// may not have run.
struct CommandQueue<Waiting> {
    private var entries: [(waiting: Waiting?, deadline: MonotonicTime)] = []
    private var head = 0

    var count: Int { self.entries.count - self.head }
    var isEmpty: Bool { self.count == 0 }

    /// When the connection is dead unless the head has been answered.
    var deadline: MonotonicTime? { self.isEmpty ? nil : self.entries[self.head].deadline }

    mutating func append(_ waiting: Waiting, deadline: MonotonicTime) {
        self.entries.append((waiting, deadline))
    }

    /// Whom the answer that just arrived is for; nil when nobody asked, which ends the connection.
    mutating func answered() -> Waiting? {
        guard !self.isEmpty else { return nil }
        let waiting = self.entries[self.head].waiting.take()
        self.head += 1
        if self.head == self.entries.count {
            self.entries.removeAll(keepingCapacity: self.entries.capacity <= 4096)
            self.head = 0
        } else if self.head >= 1024, self.head * 2 >= self.entries.count {
            self.entries.removeFirst(self.head)
            self.head = 0
        }
        return waiting
    }

    func isOverdue(at now: MonotonicTime) -> Bool {
        guard let deadline = self.deadline else { return false }
        return deadline <= now
    }

    /// Empties the queue; the callers, oldest first.
    mutating func failAll() -> [Waiting] {
        let rest = self.entries[self.head...].compactMap(\.waiting)
        self.entries = []
        self.head = 0
        return rest
    }
}

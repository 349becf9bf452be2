/// What waits for a stream, in order of arrival: `now` before `bulk`.
///
/// A message with many tokens is one entry that is taken token by token, so that a large one costs no more to queue
/// than a small one.
struct SendQueue {
    /// One push that is to be sent.
    struct Push: Equatable {
        let flight: FlightID
        let token: Int
    }

    private struct Entry {
        let flight: FlightID
        var next: Int
        let end: Int
    }

    private struct Line {
        var entries: [Entry] = []
        var head = 0

        mutating func takeFirst() -> Push? {
            guard self.head < self.entries.count else { return nil }
            let push = Push(flight: self.entries[self.head].flight, token: self.entries[self.head].next)
            self.entries[self.head].next += 1
            if self.entries[self.head].next == self.entries[self.head].end { self.advance() }
            return push
        }

        var isEmpty: Bool { self.head == self.entries.count }

        mutating func takeEntry() -> Entry? {
            guard !self.isEmpty else { return nil }
            defer { self.advance() }
            return self.entries[self.head]
        }

        private mutating func advance() {
            self.head += 1
            if self.head == self.entries.count {
                self.entries.removeAll(keepingCapacity: true)
                self.head = 0
            } else if self.head > 1024, self.head * 2 > self.entries.count {
                self.entries.removeFirst(self.head)
                self.head = 0
            }
        }
    }

    private var now = Line()
    private var bulk = Line()
    /// How many pushes wait.
    private(set) var count = 0

    /// Queues tokens of a message.
    mutating func append(_ flight: FlightID, tokens: Range<Int>, isUrgent: Bool) {
        guard !tokens.isEmpty else { return }
        self.count += tokens.count
        let entry = Entry(flight: flight, next: tokens.lowerBound, end: tokens.upperBound)
        if isUrgent { self.now.entries.append(entry) } else { self.bulk.entries.append(entry) }
    }

    /// The next push to send.
    mutating func takeFirst() -> Push? {
        guard self.count > 0 else { return nil }
        self.count -= 1
        return self.now.takeFirst() ?? self.bulk.takeFirst()
    }

    /// The next entry whole, for another queue.
    mutating func takeFirstEntry() -> (flight: FlightID, tokens: Range<Int>, isUrgent: Bool)? {
        let isUrgent = !self.now.isEmpty
        guard let entry = isUrgent ? self.now.takeEntry() : self.bulk.takeEntry() else { return nil }
        self.count -= entry.end - entry.next
        return (entry.flight, entry.next..<entry.end, isUrgent)
    }

    /// Empties the queue, for giving back what waits.
    mutating func takeAll() -> [Push] {
        var all: [Push] = []
        all.reserveCapacity(self.count)
        while let push = self.takeFirst() { all.append(push) }
        return all
    }
}

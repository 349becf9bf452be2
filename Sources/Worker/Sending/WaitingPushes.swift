/// Pushes of one app and lane that wait, in order of arrival.
///
/// A message with many tokens is one entry that is taken token by token, so that a large one costs no more to queue
/// than a small one.
struct WaitingPushes {
    private struct Entry {
        let flight: FlightID
        var next: Int
        let end: Int
    }

    private var entries: [Entry] = []
    private var head = 0

    var isEmpty: Bool { self.head == self.entries.count }

    /// - Precondition: `tokens` is not empty.
    mutating func append(_ flight: FlightID, tokens: Range<Int>) {
        self.entries.append(Entry(flight: flight, next: tokens.lowerBound, end: tokens.upperBound))
    }

    mutating func takeFirst() -> SendQueue.Push? {
        guard !self.isEmpty else { return nil }
        let push = SendQueue.Push(flight: self.entries[self.head].flight, token: self.entries[self.head].next)
        self.entries[self.head].next += 1
        if self.entries[self.head].next == self.entries[self.head].end { self.advance() }
        return push
    }

    /// The next entry whole, for another queue.
    mutating func takeFirstEntry() -> (flight: FlightID, tokens: Range<Int>)? {
        guard !self.isEmpty else { return nil }
        let entry = self.entries[self.head]
        self.advance()
        return (entry.flight, entry.next..<entry.end)
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

/// What was handed to the transport and has not all left this process, in order: which stream, and where in the
/// connection's bytes.
struct Departures<Note> {
    private var entries: [(offset: Int, note: Note)] = []
    private var head = 0

    var first: (offset: Int, note: Note)? { self.head < self.entries.count ? self.entries[self.head] : nil }

    mutating func append(_ note: Note, at offset: Int) {
        self.entries.append((offset, note))
    }

    mutating func removeFirst() {
        self.head += 1
        if self.head == self.entries.count {
            self.entries.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 4096, self.head > self.entries.count / 2 {
            self.entries.removeFirst(self.head)
            self.head = 0
        }
    }
}

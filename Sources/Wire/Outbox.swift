/// Bytes that wait to be sent, in order. Taking from the front is free; the space is reused when all is sent.
struct Outbox {
    private var bytes: [UInt8] = []
    private var sent = 0

    var count: Int { self.bytes.count - self.sent }
    var isEmpty: Bool { self.count == 0 }

    mutating func append(_ new: UnsafeRawBufferPointer) {
        // Without this a slow peer would make the sent part grow for ever.
        if self.sent > 64 * 1024, self.sent > self.count {
            self.bytes.removeFirst(self.sent)
            self.sent = 0
        }
        self.bytes.append(contentsOf: new)
    }

    mutating func removeFirst(_ count: Int) {
        self.sent += count
        if self.sent == self.bytes.count {
            self.bytes.removeAll(keepingCapacity: self.bytes.capacity <= 1 << 20)
            self.sent = 0
        }
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        self.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[self.sent...])) }
    }
}

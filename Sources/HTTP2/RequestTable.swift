internal import Push

/// The requests of one connection that wait for their answer, in slots that are used again.
struct RequestTable {
    struct Request {
        var context: UInt64 = 0
        var stream: Int32 = 0
        var body: [UInt8] = []
        /// What of `body` is still to be sent.
        var unsent = 0..<0
        var status = 0
        var headers = HeaderList()
        var answer: [UInt8] = []
        var wasSent = false
        var isAnswered = false
        var isOpen = false
        var generation: UInt32 = 0
    }

    private(set) var requests: [Request] = []
    private var free: [Int] = []
    private(set) var count = 0

    mutating func open(context: UInt64, body: [UInt8], range: Range<Int>) -> Int {
        self.count += 1
        let slot = self.free.popLast() ?? self.requests.count
        if slot == self.requests.count { self.requests.append(Request()) }
        self.requests[slot].context = context
        self.requests[slot].body = body
        self.requests[slot].unsent = range
        self.requests[slot].status = 0
        self.requests[slot].wasSent = false
        self.requests[slot].isAnswered = false
        self.requests[slot].isOpen = true
        return slot
    }

    subscript(slot: Int) -> Request {
        _read { yield self.requests[slot] }
        _modify { yield &self.requests[slot] }
    }

    mutating func close(_ slot: Int) {
        precondition(self.requests[slot].isOpen, "a request ended twice")
        self.count -= 1
        self.requests[slot].isOpen = false
        self.requests[slot].generation &+= 1
        self.requests[slot].body = []
        self.requests[slot].headers.removeAll()
        self.requests[slot].answer.removeAll(keepingCapacity: true)
        self.free.append(slot)
    }

    /// Slots of all open requests.
    var open: [Int] { self.requests.indices.filter { self.requests[$0].isOpen } }
}

/// Deadlines of requests that all wait equally long, hence end in the order in which they began.
struct DeadlineLine {
    private var entries: [(time: MonotonicTime, slot: Int, generation: UInt32)] = []
    private var head = 0

    mutating func append(_ time: MonotonicTime, slot: Int, generation: UInt32) {
        self.entries.append((time, slot, generation))
    }

    /// The next deadline of a request that is still open.
    mutating func next(in table: borrowing RequestTable) -> MonotonicTime? {
        self.skipEnded(in: table)
        return self.head < self.entries.count ? self.entries[self.head].time : nil
    }

    /// Takes a request whose time is over.
    mutating func popDue(at now: MonotonicTime, in table: borrowing RequestTable) -> Int? {
        self.skipEnded(in: table)
        guard self.head < self.entries.count, self.entries[self.head].time <= now else { return nil }
        defer { self.head += 1 }
        return self.entries[self.head].slot
    }

    private mutating func skipEnded(in table: borrowing RequestTable) {
        while self.head < self.entries.count {
            let entry = self.entries[self.head]
            let request = table.requests[entry.slot]
            if request.isOpen, request.generation == entry.generation { break }
            self.head += 1
        }
        if self.head == self.entries.count {
            self.entries.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 4096, self.head * 2 > self.entries.count {
            self.entries.removeFirst(self.head)
            self.head = 0
        }
    }
}

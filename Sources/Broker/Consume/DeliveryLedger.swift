/// Which deliveries of one channel's life are open, and what has to be told the broker about the others.
///
/// A tag is settled once: the broker answers a second ack by closing the channel, and everything open on it is handed
/// out again. Tags of an earlier life are dropped and counted, as they now may name other messages. Acks are gathered
/// and leave together: one `multiple` up to the low-water mark, below which nothing is open, and single ones above.
struct DeliveryLedger {
    enum Settlement: Equatable {
        case ack(UInt64, multiple: Bool)
        case reject(UInt64, requeue: Bool)
    }

    enum Answer: Equatable {
        case accepted
        /// Of an earlier life; the broker has taken the message back already.
        case stale
        /// Settled before, or never delivered.
        case refused
    }

    private enum Mark: UInt8 {
        case open, settled
    }

    /// nil while there is no channel.
    private(set) var epoch: UInt32?
    private(set) var openCount = 0
    /// Settlements that came too late, since the beginning.
    private(set) var staleCount = 0
    /// Settlements that were refused, since the beginning.
    private(set) var refusedCount = 0

    /// Marks of the tags from `base` on; those before `head` are no longer needed.
    private var marks: [Mark] = []
    private var head = 0
    /// The tag of `marks[head]`.
    private var base: UInt64 = 1
    private var acked: [UInt64] = []
    private var rejected: [(tag: UInt64, requeue: Bool)] = []

    /// A channel opened.
    mutating func begin(epoch: UInt32) {
        self.end()
        self.epoch = epoch
    }

    /// The channel is gone. Returns how many deliveries were open; the broker hands them out again.
    @discardableResult
    mutating func end() -> Int {
        let open = self.openCount
        self.epoch = nil
        self.openCount = 0
        self.marks.removeAll(keepingCapacity: true)
        self.head = 0
        self.base = 1
        self.acked.removeAll(keepingCapacity: true)
        self.rejected.removeAll(keepingCapacity: true)
        return open
    }

    /// A delivery came in. False if its tag is not the next one, which the broker promises.
    mutating func delivered(_ tag: UInt64) -> Bool {
        guard self.epoch != nil, tag == self.base + UInt64(self.marks.count - self.head) else { return false }
        self.marks.append(.open)
        self.openCount += 1
        return true
    }

    mutating func ack(_ id: DeliveryID) -> Answer {
        let answer = self.settle(id)
        if answer == .accepted { self.acked.append(id.tag) }
        return answer
    }

    mutating func reject(_ id: DeliveryID, requeue: Bool) -> Answer {
        let answer = self.settle(id)
        if answer == .accepted { self.rejected.append((id.tag, requeue)) }
        return answer
    }

    /// Whether there is anything to tell the broker.
    var hasSettlements: Bool { !self.acked.isEmpty || !self.rejected.isEmpty }

    /// Takes out what has to be told the broker, in this order.
    mutating func takeSettlements(_ emit: (Settlement) -> Void) {
        for (tag, requeue) in self.rejected { emit(.reject(tag, requeue: requeue)) }
        self.rejected.removeAll(keepingCapacity: true)
        self.advance()
        guard !self.acked.isEmpty else { return }
        // `multiple` must name a tag that the broker still holds, so it is one of these acks, never a rejected tag.
        var highest: UInt64 = 0
        var below = 0
        for tag in self.acked where tag < self.base {
            below += 1
            highest = max(highest, tag)
        }
        if below > 0 { emit(.ack(highest, multiple: below > 1)) }
        if below < self.acked.count {
            for tag in self.acked where tag >= self.base { emit(.ack(tag, multiple: false)) }
        }
        self.acked.removeAll(keepingCapacity: true)
    }

    private mutating func settle(_ id: DeliveryID) -> Answer {
        guard id.epoch == self.epoch else {
            self.staleCount += 1
            return .stale
        }
        guard id.tag >= self.base, id.tag - self.base < UInt64(self.marks.count - self.head),
            self.marks[self.head + Int(id.tag - self.base)] == .open
        else {
            self.refusedCount += 1
            return .refused
        }
        self.marks[self.head + Int(id.tag - self.base)] = .settled
        self.openCount -= 1
        return .accepted
    }

    /// Moves the low-water mark over everything settled.
    private mutating func advance() {
        while self.head < self.marks.count, self.marks[self.head] == .settled {
            self.head += 1
            self.base += 1
        }
        if self.head == self.marks.count {
            self.marks.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 4096, self.head > self.marks.count / 2 {
            self.marks.removeFirst(self.head)
            self.head = 0
        }
    }
}

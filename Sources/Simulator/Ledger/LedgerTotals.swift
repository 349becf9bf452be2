/// What the ledger counts as it goes, over all requests since the beginning or the last reset.
struct LedgerTotals: Equatable, Sendable {
    private(set) var requests = 0
    /// Processed and found good, whatever the sender was told.
    private(set) var accepted = 0
    /// Answers that were handed to a connection.
    var answered = 0
    /// Requests of which a GOAWAY said that they were not processed.
    private(set) var withdrawn = 0
    /// Requests whose `apns-id` had been seen before.
    var repeated = 0
    /// Acceptances of an `apns-id` that had been accepted before: pushes that a device got once too often.
    var duplicates = 0
    /// Requests for a token after its sender was told 410.
    var afterGone = 0
    /// Entries that are not kept any more.
    var dropped = 0
    /// By status (upper half) and reason (lower half).
    private(set) var byVerdict: [UInt32: Int] = [:]
    /// By far the most common verdict, kept apart.
    private(set) var good = 0

    mutating func add(status: UInt16, reason: UInt16, isAccepted: Bool) {
        self.requests += 1
        if isAccepted { self.accepted += 1 }
        self.count(status, reason, 1)
    }

    mutating func withdraw(status: UInt16, reason: UInt16, wasAccepted: Bool) {
        self.withdrawn += 1
        if wasAccepted { self.accepted -= 1 }
        self.count(status, reason, -1)
        self.count(0, 0, 1)
    }

    private mutating func count(_ status: UInt16, _ reason: UInt16, _ change: Int) {
        if status == 200, reason == 0 {
            self.good += change
        } else {
            self.byVerdict[UInt32(status) << 16 | UInt32(reason), default: 0] += change
        }
    }
}

/// What waits for a stream: `now` before `bulk`, and within a lane the apps in turns.
///
/// Of ten pushes one is `bulk`'s while any waits, so that a flood of `now` slows it down but never stops it.
struct SendQueue {
    /// One push that is to be sent.
    struct Push: Equatable {
        let flight: FlightID
        let token: Int
    }

    private var now = AppTurns()
    private var bulk = AppTurns()
    /// Pushes of `now` that went since one of `bulk` did, while it had some waiting.
    private var streak = 0
    /// How many pushes wait.
    private(set) var count = 0

    private static let longestStreak = 9

    /// Queues tokens of a message.
    mutating func append(_ flight: FlightID, tokens: Range<Int>, isUrgent: Bool, of turn: AppTurn) {
        guard !tokens.isEmpty else { return }
        self.count += tokens.count
        if isUrgent {
            self.now.append(flight, tokens: tokens, of: turn)
        } else {
            self.bulk.append(flight, tokens: tokens, of: turn)
        }
    }

    /// The next push to send.
    mutating func takeFirst() -> Push? { self.take { _, _ in true }?.push }

    /// The next push to send, and its app.
    /// - Parameter mayGo: whether a push of this app may go now, `now` or not; asked until one may.
    mutating func take(where mayGo: (_ app: Int, _ isUrgent: Bool) -> Bool) -> (push: Push, app: Int)? {
        guard self.count > 0 else { return nil }
        let isBulksTurn = self.streak >= Self.longestStreak
        var taken = isBulksTurn ? self.takeBulk(mayGo) : self.takeNow(mayGo)
        if taken == nil { taken = isBulksTurn ? self.takeNow(mayGo) : self.takeBulk(mayGo) }
        if taken != nil { self.count -= 1 }
        return taken
    }

    private mutating func takeNow(_ mayGo: (Int, Bool) -> Bool) -> (push: Push, app: Int)? {
        guard !self.now.isEmpty, let taken = self.now.takeFirst(where: { mayGo($0, true) }) else { return nil }
        if !self.bulk.isEmpty { self.streak += 1 }
        return taken
    }

    private mutating func takeBulk(_ mayGo: (Int, Bool) -> Bool) -> (push: Push, app: Int)? {
        guard !self.bulk.isEmpty else { return nil }
        self.streak = 0
        return self.bulk.takeFirst { mayGo($0, false) }
    }

    /// The next entry whole, for another queue.
    mutating func takeFirstEntry() -> (flight: FlightID, tokens: Range<Int>, isUrgent: Bool, turn: AppTurn)? {
        let isUrgent = !self.now.isEmpty
        guard let entry = isUrgent ? self.now.takeFirstEntry() : self.bulk.takeFirstEntry() else { return nil }
        self.count -= entry.tokens.count
        return (entry.flight, entry.tokens, isUrgent, entry.turn)
    }

    /// Empties the queue, for giving back what waits.
    mutating func takeAll() -> [Push] {
        var all: [Push] = []
        all.reserveCapacity(self.count)
        while let push = self.takeFirst() { all.append(push) }
        return all
    }
}

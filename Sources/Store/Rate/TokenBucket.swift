package import Push

/// The rule of ``RateScript`` in Swift, for simulations; proved equal to it by the tests of this room.
package struct TokenBucket: Hashable, Sendable {
    private struct Entry: Hashable {
        let runID: String
        /// When the bucket would be full, in microseconds.
        var full: Int
        /// When somebody was last sent away.
        var away: Int
    }

    private var entry: Entry?

    /// What Redis knows of an app that never sent.
    package init() {}

    /// - Parameters:
    ///   - runID: the server process.
    ///   - now: the server's clock, in microseconds.
    package mutating func take(_ request: RateRequest, of limit: RateLimit, runID: String, now: Int) -> RateAnswer {
        func microseconds(_ time: Duration) -> Int { Int(time.nanoseconds / 1000) }
        func cost(_ count: Int) -> Int { (count * limit.interval + 999) / 1000 }
        let (capacity, horizon) = (microseconds(limit.capacity), microseconds(limit.horizon))
        let doubt = now + capacity + horizon + microseconds(limit.spread)
        var known = Entry(runID: runID, full: doubt, away: 0)
        if let entry = self.entry, entry.runID == runID, entry.full <= doubt { known = entry }
        known.full = max(known.full, now)
        let debt = known.full - capacity - now
        var count = request.need
        if request.want > request.need, (known.full + cost(request.want) - now) * 2 <= capacity {
            count = request.want
        }
        if debt > 0 { count = max(1, min(count, request.need * max(0, horizon - debt) / horizon)) }
        let due = max(0, debt + cost(count))
        guard due <= horizon else {
            // Beyond the horizon nobody stands in line; it is doubt.
            if debt <= horizon { known.away = now }
            self.entry = known
            return RateAnswer(tokens: 0, due: .microseconds(due - horizon), isCrowded: true)
        }
        known.full += cost(count)
        self.entry = known
        let isCrowded = known.away > 0 && known.away <= now && now - known.away < 1_000_000
        return RateAnswer(tokens: count, due: .microseconds(due), isCrowded: isCrowded)
    }
}

internal import Push
internal import Store

/// What a worker has at hand of an app's rate: when it asks the fleet's bucket for tokens, for how many, and until when
/// it may use them.
///
/// Tokens are asked for when pushes wait for them, one request at a time, and a few more at the pace of late, so that
/// trips to Redis are fewer than pushes. What is not used within the limit's `life` lapses: it was spent in the bucket,
/// and used later it would meet the tokens of that later time at Apple.
struct RateAllowance {
    private struct Batch {
        var tokens: Int
        let from: MonotonicTime
        let until: MonotonicTime
        /// Whether the bucket had none when they were asked for.
        let isLate: Bool
        var isAnnounced = false
    }

    let limit: RateLimit
    /// In the order of their times; seldom more than two.
    private var batches: [Batch] = []
    private var askedAt: MonotonicTime?
    private var notBefore = MonotonicTime(nanoseconds: .min)
    private var pace = Pace()
    /// Whether the last request brought no tokens.
    private var isSentAway = false

    init(_ limit: RateLimit) {
        self.limit = limit
    }

    // MARK: Using

    /// Whether a push may go now.
    mutating func hasToken(at now: MonotonicTime) -> Bool {
        guard !self.batches.isEmpty else { return false }
        self.forgetLapsed(at: now)
        return self.batches.first.map { $0.from <= now } ?? false
    }

    /// A push goes; ``hasToken(at:)`` was true in this turn.
    mutating func take(at now: MonotonicTime) {
        guard self.hasToken(at: now) else { preconditionFailure("a token was taken that is not there") }
        self.batches[0].tokens -= 1
        if self.batches[0].tokens == 0 { self.batches.removeFirst() }
        self.pace.used(at: now)
    }

    /// Tokens that have become due since it was last asked, and whether they had to be waited for, longer than one trip
    /// to Redis takes.
    mutating func newlyDue(at now: MonotonicTime) -> (tokens: Int, isLate: Bool) {
        self.forgetLapsed(at: now)
        var (count, isLate) = (0, false)
        for index in self.batches.indices where self.batches[index].from <= now && !self.batches[index].isAnnounced {
            self.batches[index].isAnnounced = true
            count += self.batches[index].tokens
            isLate = isLate || self.batches[index].isLate
        }
        return (count, isLate)
    }

    private mutating func forgetLapsed(at now: MonotonicTime) {
        while let first = self.batches.first, now >= first.until { self.batches.removeFirst() }
    }

    // MARK: Asking

    /// Whether pushes that wait are reason to ask now: nothing is under way, and nothing is at hand that is due later.
    func mayAsk(at now: MonotonicTime) -> Bool {
        self.askedAt == nil && now >= self.notBefore && self.batches.allSatisfy { $0.from <= now }
    }

    /// What to ask for, if now is the time. ``answered(_:at:random:)`` or ``failed(at:)`` must follow.
    /// - Parameter waiting: pushes that wait for tokens.
    mutating func request(waiting: Int, at now: MonotonicTime) -> RateRequest? {
        guard waiting > 0, self.mayAsk(at: now) else { return nil }
        self.askedAt = now
        let need = min(waiting, self.limit.batch)
        return RateRequest(
            need: need,
            want: min(need + self.pace.soon(within: self.limit.life / 2, at: now), self.limit.batch)
        )
    }

    /// - Parameter random: any number; spreads the requests of workers that wait.
    mutating func answered(_ answer: RateAnswer, at now: MonotonicTime, random: UInt64) {
        guard let askedAt = self.askedAt else { return }
        self.askedAt = nil
        let part = Int64(random % 1000)
        let isLate = self.isSentAway || answer.due > .zero
        self.isSentAway = answer.tokens == 0
        guard answer.tokens > 0 else {
            self.notBefore = now + answer.due + .microseconds(100_000 + 200 * part)
            return
        }
        // The bucket answered between these two times: tokens are used not before they are due, and not too late.
        let (from, until) = (now + answer.due, askedAt + answer.due + self.limit.life)
        if from < until { self.batches.append(Batch(tokens: answer.tokens, from: from, until: until, isLate: isLate)) }
        // Who was sent away asks again sooner than this.
        if answer.isCrowded { self.notBefore = from + .microseconds(300_000 + 100 * part) }
    }

    /// There is no answer, and what the bucket may have handed out is lost.
    mutating func failed(at now: MonotonicTime) {
        self.askedAt = nil
        self.isSentAway = true
        self.notBefore = now + Self.pause
    }

    /// When there is something to do for pushes that wait; nil if only an answer brings that.
    func wakeTime(at now: MonotonicTime) -> MonotonicTime? {
        if let next = self.batches.first(where: { $0.from > now }) { return next.from }
        return self.askedAt == nil ? max(self.notBefore, now) : nil
    }

    private static let pause: Duration = .milliseconds(250)
}

/// How many tokens were used of late.
private struct Pace {
    private static let window: Duration = .milliseconds(100)
    private var windowEnd = MonotonicTime(nanoseconds: .min)
    private var count = 0
    private var countBefore = 0

    mutating func used(at now: MonotonicTime) {
        self.turn(at: now)
        self.count += 1
    }

    /// How many will be used within this time, 50 ms at most, if the pace lasts.
    mutating func soon(within time: Duration, at now: MonotonicTime) -> Int {
        self.turn(at: now)
        return max(self.count, self.countBefore) * Int(min(time, Self.window / 2).milliseconds) / 100
    }

    private mutating func turn(at now: MonotonicTime) {
        guard now >= self.windowEnd else { return }
        self.countBefore = now - Self.window >= self.windowEnd ? 0 : self.count
        self.count = 0
        self.windowEnd = now + Self.window
    }
}

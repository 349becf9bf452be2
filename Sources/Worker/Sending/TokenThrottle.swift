internal import Push

/// Keeps a few requests in flight for each device token, and lets a token rest that Apple calls too busy.
///
/// Counts live in a table of fixed size by the token's hash, so that a push costs one addition. Two tokens may share a
/// place; they then share its count as well, which at the table's size is rare and harmless.
struct TokenThrottle {
    enum Verdict: Equatable {
        /// It was counted; ``answered(_:accepted:)`` must follow.
        case go
        /// Others for this token are in flight. Give it to ``wait(_:for:)``.
        case wait
        /// Apple said TooManyRequests for this token.
        case rest(until: MonotonicTime)
    }

    private static let places = 1 << 15
    /// Tokens that rest at most; beyond it a token's pushes follow each its own backoff only.
    private static let restLimit = 10_000

    private let limit: UInt16
    private var inFlight = [UInt16](repeating: 0, count: Self.places)
    private var resting: [UInt64: MonotonicTime] = [:]
    private var waiting: [Int: [SendQueue.Push]] = [:]

    /// - Parameter limit: requests in flight for one token.
    init(limit: Int) {
        self.limit = UInt16(clamping: limit)
    }

    /// Tells tokens apart, by their digits in lower case.
    static func hash(_ digits: UnsafeRawBufferPointer) -> UInt64 { Fingerprint.of(digits) }

    private static func place(_ token: UInt64) -> Int { Int(truncatingIfNeeded: token & UInt64(Self.places - 1)) }

    /// Whether a push to this token may go now.
    mutating func admit(_ token: UInt64, at now: MonotonicTime) -> Verdict {
        let place = Self.place(token)
        if !self.resting.isEmpty, let until = self.resting[token] {
            if now < until { return .rest(until: until) }
            // One finds out whether Apple takes more.
            if self.inFlight[place] > 0 { return .wait }
        }
        guard self.inFlight[place] < self.limit else { return .wait }
        self.inFlight[place] += 1
        return .go
    }

    /// Keeps a push until another one for its token has its answer.
    mutating func wait(_ push: SendQueue.Push, for token: UInt64) {
        self.waiting[Self.place(token), default: []].append(push)
    }

    /// A push that went has its answer, or will have none.
    /// - Returns: those that waited and may try again.
    mutating func answered(_ token: UInt64, accepted: Bool) -> [SendQueue.Push] {
        let place = Self.place(token)
        self.inFlight[place] -= 1
        if accepted, !self.resting.isEmpty { self.resting[token] = nil }
        guard !self.waiting.isEmpty, var pushes = self.waiting[place] else { return [] }
        // After a rest everything may go, or all must learn of the next one.
        if pushes.count == 1 || self.resting[token] != nil || self.inFlight[place] == 0 {
            self.waiting[place] = nil
            return pushes
        }
        let first = pushes.removeFirst()
        self.waiting[place] = pushes
        return [first]
    }

    /// Apple said TooManyRequests for this token.
    mutating func rest(_ token: UInt64, until: MonotonicTime) {
        guard self.resting.count < Self.restLimit || self.resting[token] != nil else { return }
        self.resting[token] = max(until, self.resting[token] ?? until)
    }

    /// Now and then: forgets tokens that rested long ago and were not sent to since.
    mutating func forget(restedBefore time: MonotonicTime) {
        guard !self.resting.isEmpty else { return }
        self.resting = self.resting.filter { $0.value > time }
    }

    /// Takes out all that waits, for giving it back.
    mutating func takeWaiting() -> [SendQueue.Push] {
        guard !self.waiting.isEmpty else { return [] }
        defer { self.waiting.removeAll() }
        return self.waiting.sorted { $0.key < $1.key }.flatMap(\.value)
    }
}

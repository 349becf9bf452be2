/// Keeps account of the tokens of one message until every one of them is settled.
///
/// What is done stays done: a token that was delivered, or whose onward copy the broker has confirmed, gets its bit in
/// Redis, so that a redelivery does not send to it again. What failed is grouped by where it goes, so that each group
/// travels on as one message. A message of one token touches no heap unless something is to be published for it. There
/// is one for a message: it cannot be copied.
package struct TokenLedger: ~Copyable, Sendable {
    /// Tokens that go on to one delay level together.
    package struct RetryGroup: Equatable, Sendable {
        package let level: DelayLevel
        package let counted: Bool
        package internal(set) var tokens: [Int]
    }

    /// Tokens that go to the dead-letter queue together.
    package struct DeadLetterGroup: Equatable, Sendable {
        package let reason: DeadLetterReason
        package let apns: ApnsReason?
        package internal(set) var tokens: [Int]
    }

    /// A token to tell the feedback exchange about.
    package struct GoneToken: Equatable, Sendable {
        package let token: Int
        package let at: UnixTime?
        package let reason: ApnsReason
    }

    /// How many tokens the message has.
    package var tokenCount: Int { self.finished.capacity }

    /// Tokens that were done before this delivery and must not be sent to again.
    package let alreadyDoneCount: Int

    /// Tokens that Apple accepted during this delivery.
    package private(set) var deliveredCount = 0

    package private(set) var retries: [RetryGroup] = []
    package private(set) var deadLetters: [DeadLetterGroup] = []
    package private(set) var gone: [GoneToken] = []

    /// Tokens to give back to the queue as they are.
    package private(set) var givenBack: [Int] = []

    /// Whether somebody is told of each delivered token, so that it is done only when that is confirmed.
    package let tellsDelivered: Bool

    private var finished: TokenBits
    private var forwarded: TokenBits
    private var dirty: TokenBits

    /// - Parameters:
    ///   - tokenCount: 1 to 1000.
    ///   - done: tokens done in an earlier delivery of the same message, from Redis.
    ///   - tellsDelivered: whether delivered tokens are confirmed like others: a receipt goes out for each.
    package init(tokenCount: Int, done: TokenBits? = nil, tellsDelivered: Bool = false) {
        precondition(tokenCount > 0, "a message has tokens")
        precondition(done == nil || done?.capacity == tokenCount, "the bitmap of another message")
        self.tellsDelivered = tellsDelivered
        self.finished = done ?? TokenBits(capacity: tokenCount)
        self.forwarded = self.finished
        self.dirty = TokenBits(capacity: tokenCount)
        self.alreadyDoneCount = self.finished.count
    }

    /// Tokens without a settlement.
    package var openCount: Int { self.finished.capacity - self.finished.count }

    /// Whether every token is settled. Then the groups are published and confirmed, and the delivery acked.
    package var isComplete: Bool { self.openCount == 0 }

    /// Whether a token is settled, in this delivery or an earlier one.
    package func isSettled(_ token: Int) -> Bool { self.finished.contains(token) }

    /// The tokens without a settlement, ascending.
    package var open: [Int] { self.finished.missing }

    /// Takes down how a token ended. Settling one twice is a bug of the caller and traps.
    package mutating func settle(_ token: Int, as settlement: Settlement) {
        precondition(self.finished.insert(token), "token \(token) is settled already")
        switch settlement {
        case .delivered:
            self.deliveredCount += 1
            guard !self.tellsDelivered else { break }
            self.forwarded.insert(token)
            self.dirty.insert(token)
        case .retry(let level, let counted):
            let index = self.retries.firstIndex { $0.level == level && $0.counted == counted }
            if let index {
                self.retries[index].tokens.append(token)
            } else {
                self.retries.append(RetryGroup(level: level, counted: counted, tokens: [token]))
            }
        case .deadLetter(let reason, let apns):
            let index = self.deadLetters.firstIndex { $0.reason == reason && $0.apns == apns }
            if let index {
                self.deadLetters[index].tokens.append(token)
            } else {
                self.deadLetters.append(DeadLetterGroup(reason: reason, apns: apns, tokens: [token]))
            }
        case .tokenGone(let time, let reason):
            self.gone.append(GoneToken(token: token, at: time, reason: reason))
        case .giveBack:
            self.givenBack.append(token)
        }
    }

    /// Takes down that the broker has confirmed what was published for a settled token, so that it is done.
    ///
    /// For retries, dead letters and dead tokens; for tokens given back if a copy of the message carries them; and for
    /// delivered ones if somebody is told of them. Confirming a token twice, another delivered or an open one is a bug
    /// of the caller and traps.
    package mutating func confirm(_ token: Int) {
        precondition(self.finished.contains(token), "token \(token) is confirmed before it is settled")
        precondition(self.forwarded.insert(token), "token \(token) is confirmed already")
        self.dirty.insert(token)
    }

    /// Whether every token is done: delivered, or confirmed elsewhere. Then the delivery may be acked.
    package var isDone: Bool { self.forwarded.count == self.forwarded.capacity }

    /// Whether there are bits to write.
    package var hasDirty: Bool { self.dirty.count > 0 }

    /// The tokens done since the last call, ascending: the bits to set in Redis.
    package mutating func takeDirty() -> [Int] {
        let tokens = self.dirty.tokens
        self.dirty.removeAll()
        return tokens
    }
}

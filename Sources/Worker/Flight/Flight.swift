internal import Broker
internal import Push
internal import Store

/// One message between its delivery and its acknowledgement.
///
/// An object, since a push asks it for many things: each would copy a value of this size, with a count of references for
/// every array in it.
final class Flight {
    /// Which delivery it answers.
    let delivery: DeliveryID
    /// The consumer it came through.
    let line: Line
    /// What it carries; nil for a message that was refused and only waits for its dead letter's confirm.
    private let cargo: Job?
    let messageID: [UInt8]
    let routingKey: String
    /// The publisher's own headers, which copies carry on.
    let foreignHeaders: [Header]
    /// Of several publishes of the message, which one this is; nil if there is only one.
    let once: String?
    /// The name under which it can be cancelled until it is due.
    let schedule: String?
    /// The dead letter that it was, if it is replayed.
    let replay: String?
    /// When it was published, for measuring; when it was received, if nobody said.
    let published: UnixTime
    /// When it came here.
    let received: UnixTime
    /// Where its age begins.
    let start: UnixTime
    /// Attempts that counted, before this delivery.
    let attempts: Int
    /// How many copies lie between it and what was published.
    let copies: Int
    /// How often a quorum queue has handed it out before.
    let deliveryCount: Int
    /// Whether the broker has handed it out before.
    let isRedelivered: Bool
    /// What became of each token.
    var ledger: TokenLedger
    /// Requests that wait for Apple's answer.
    var inFlight = 0
    /// Whether any push of it was sent during this delivery.
    var wasSent = false
    /// Copies that wait for the broker's confirm.
    var publishing = 0
    /// How often a push of it was resent at once because it was certainly not processed.
    var resends = 0
    /// Tokens whose push was sent once more because the credential was refused.
    private var secondChances: TokenBits?
    /// How long Apple took to answer, in milliseconds by token; kept for receipts only.
    var latencies: [Int: Int64] = [:]
    /// Whether its delivery is void: the broker hands the message out again.
    var isLost = false
    /// Whether its done tokens are already listed for writing to Redis.
    var isListedAsDirty = false
    /// What the trail will be told of its tokens: of several, or of the only one.
    let traces: UnsafeMutablePointer<TokenTrace>?
    var onlyTrace = TokenTrace()
    /// Answers after which a token was sent to again at once.
    var earlierAnswers: [EarlierAnswer] = []
    /// Whether the trail was told of it while it was not over.
    var isTold = false
    /// The trail's name for why it is no job; 0 if it is.
    var refusal: UInt16 = 0

    convenience init(_ job: Job, _ delivery: Delivery, on line: Line, start: UnixTime, now: UnixTime) {
        self.init(cargo: job, delivery, on: line, start: start, now: now)
    }

    convenience init(refused delivery: Delivery, on line: Line, now: UnixTime) {
        self.init(cargo: nil, delivery, on: line, start: now, now: now)
    }

    private init(cargo: Job?, _ delivery: Delivery, on line: Line, start: UnixTime, now: UnixTime) {
        self.cargo = cargo
        self.delivery = delivery.id
        self.line = line
        self.messageID = MessageID.of(delivery)
        self.routingKey = line.routingKey ?? delivery.routingKey
        self.foreignHeaders = delivery.headers.foreign
        self.once = delivery.headers.once
        self.schedule = delivery.headers.schedule
        self.replay = delivery.headers.replay
        self.published = min(delivery.timestamp ?? delivery.headers.firstSeen ?? now, now)
        self.received = now
        self.start = start
        self.attempts = delivery.headers.attempt
        self.copies = delivery.headers.copy
        self.deliveryCount = delivery.headers.deliveryCount
        self.isRedelivered = delivery.redelivered
        let count = cargo?.tokenCount ?? 0
        self.traces = count > 1 ? .allocate(capacity: count) : nil
        self.traces?.initialize(repeating: TokenTrace(), count: count)
        self.ledger = TokenLedger(tokenCount: cargo?.tokenCount ?? 1, tellsDelivered: cargo?.wantsReceipt ?? false)
    }

    deinit {
        self.traces?.deallocate()
    }

    /// - Precondition: it was not refused.
    var job: Job {
        _read {
            precondition(self.cargo != nil, "a refused message has no job")
            yield self.cargo.unsafelyUnwrapped
        }
    }

    var isBroadcast: Bool { self.cargo?.isBroadcast ?? false }

    /// Whether somebody wants to know what became of each token.
    var wantsReceipt: Bool { self.ledger.tellsDelivered }

    /// Whether Redis has to be asked before it is sent.
    var isDoubtful: Bool { self.once != nil || self.schedule != nil }

    /// Attempts, the present one included.
    var attemptsMade: Int { self.attempts + (self.wasSent ? 1 : 0) }

    /// A refused credential may be one connection's fault: each token is tried once more before it is believed.
    /// - Returns: whether this token still had that chance.
    func takeSecondChance(_ token: Int) -> Bool {
        var chances = self.secondChances ?? TokenBits(capacity: self.job.tokenCount)
        defer { self.secondChances = chances }
        return chances.insert(token)
    }

    /// Its message id, as Redis' keys name it.
    var messageName: String { String(decoding: self.messageID, as: UTF8.self) }

    /// Tells this copy of the message from others, which keep the id but hold other tokens under other numbers: by how
    /// many copies lie before it and by all of its tokens. Attempts would not do: what is given back or postponed keeps
    /// theirs.
    var copyName: String {
        let job = self.job
        let tokens = withUnsafeTemporaryAllocation(byteCount: Contract.addressBuffer, alignment: 8) { buffer in
            (0..<job.tokenCount).reduce(into: UInt64(0)) { hash, token in
                let length = job.writeToken(token, to: buffer)
                let digits = UnsafeRawBufferPointer(rebasing: buffer[..<length])
                hash = hash &* 0x0000_0100_0000_01b3 ^ TokenThrottle.hash(digits)
            }
        }
        return "\(self.copies).\(String(tokens, radix: 16))"
    }
}

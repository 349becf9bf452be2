package import Push

/// What is kept of one token while its message is in flight. Thirty-two bytes, and nothing to count references of.
package struct TokenTrace: Sendable {
    /// Its fingerprint; 0 until it was sent for the first time.
    package var hash: UInt64 = 0
    /// The first and last two bytes, as its redacted text shows them; 0 if it has none.
    package var ends: UInt32 = 0
    /// Milliseconds after the message was received: when the last answer came, or if there is none, when it was sent.
    package var time: UInt32 = 0
    /// Milliseconds that the last answer took.
    package var latency: UInt32 = 0
    /// By state: milliseconds until it is tried again, the name of the dead letter's reason, or Apple's time in seconds.
    package var detail: UInt32 = 0
    /// The name of the last answer, if it was another than 200, or of why there was none.
    package var name: UInt16 = 0
    /// Which of the worker's connections it was sent on last.
    package var connection: UInt16 = 0
    /// Requests that were sent.
    package var sends: UInt8 = 0
    package var state = TrailState.waiting
    /// Whether a request had its answer, or its failure.
    package var isAnswered = false

    package init() {}

    /// Notes which token it is.
    /// - Parameter digits: in lower case; or a channel's id.
    package mutating func identify(_ digits: UnsafeRawBufferPointer, hash: UInt64) {
        self.hash = hash
        let count = digits.count
        guard count >= 16 else { return }
        var ends: UInt32 = 0
        for index in 0..<4 {
            guard let first = Hex.value(digits[index]), let last = Hex.value(digits[count - 4 + index]) else { return }
            ends |= UInt32(first) << UInt32(28 - index * 4) | UInt32(last) << UInt32(12 - index * 4)
        }
        self.ends = ends
    }

    /// Whether all there is to say is that Apple took it at once, or that it waits untried.
    var isPlain: Bool {
        switch self.state {
        case .delivered: self.sends <= 1
        case .waiting, .sent: self.sends <= 1 && !self.isAnswered
        case .postponed, .held, .returned: self.sends == 0
        case .retry, .deadLetter, .gone, .done, .cancelled: false
        }
    }
}

/// An answer that was not the last one: the token was sent to again at once.
package struct EarlierAnswer: Sendable {
    package let token: Int
    package let time: UInt32
    package let latency: UInt32
    package let connection: UInt16
    package let name: UInt16

    package init(_ token: Int, _ trace: TokenTrace) {
        self.token = token
        self.time = trace.time
        self.latency = trace.latency
        self.connection = trace.connection
        self.name = trace.name
    }
}

/// What is told of a message beside its tokens.
package struct MessageTrace: Sendable {
    /// The name of app and lane.
    package var line: UInt16
    package var received: UnixTime
    package var published: UnixTime
    /// Attempts that counted before this delivery.
    package var attempts: Int
    /// Copies between it and what was published.
    package var copies: Int
    /// How often a quorum queue had handed it out before.
    package var deliveries: Int
    package var isRedelivered: Bool
    package var isBroadcast: Bool
    /// The name of the reason why it was no job; 0 if it was.
    package var refusal: UInt16
    package var end: TrailEnd
    /// When it ended, or was written.
    package var ended: UnixTime

    package init(
        line: UInt16,
        received: UnixTime,
        published: UnixTime,
        attempts: Int = 0,
        copies: Int = 0,
        deliveries: Int = 0,
        isRedelivered: Bool = false,
        isBroadcast: Bool = false,
        refusal: UInt16 = 0,
        end: TrailEnd,
        ended: UnixTime
    ) {
        self.line = line
        self.received = received
        self.published = published
        self.attempts = attempts
        self.copies = copies
        self.deliveries = deliveries
        self.isRedelivered = isRedelivered
        self.isBroadcast = isBroadcast
        self.refusal = refusal
        self.end = end
        self.ended = ended
    }
}

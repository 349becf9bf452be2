internal import Broker
internal import Push

/// What goes on somewhere else instead of, or because of, the message that was delivered: one message, or several that
/// tell of the same tokens and count only together.
struct Copy {
    let messages: [Message]
    /// Which tokens of the flight are done once the broker has confirmed it.
    let tokens: [Int]

    init(message: Message, and others: [Message] = [], tokens: [Int]) {
        self.messages = [message] + others
        self.tokens = tokens
    }
}

/// Builds the copies of a flight: what is tried again, what is dead, which tokens are gone, what is given back.
///
/// Copies keep the message id and the first time; attempts and reasons travel in headers of our own, because brokers
/// and publishers may write `x-death` as they please.
struct CopyWriter {
    let workerName: String
    let version: String

    /// The groups of a settled flight, each as one message.
    func copies(of flight: Flight, now: UnixTime, random: () -> UInt64) -> [Copy] {
        var copies: [Copy] = []
        for group in flight.ledger.retries {
            copies.append(self.retry(flight, group, random: random()))
        }
        for group in flight.ledger.deadLetters {
            copies.append(self.deadLetter(flight, group, now: now))
        }
        for gone in flight.ledger.gone { copies.append(self.feedback(flight, gone, now: now)) }
        if !flight.ledger.givenBack.isEmpty { copies.append(self.giveBack(flight, tokens: flight.ledger.givenBack)) }
        return copies
    }

    private func body(_ flight: Flight, _ tokens: [Int]) -> [UInt8] {
        tokens.count == flight.job.tokenCount ? flight.job.body : flight.job.body(withTokens: tokens)
    }

    private func properties(_ flight: Flight, attempts: Int) -> MessageProperties {
        var properties = MessageProperties()
        properties.messageID = flight.messageID
        properties.timestamp = flight.published
        properties.carry(flight.foreignHeaders)
        properties.headers.append(Header(HeaderName.attempt, .integer(Int64(attempts))))
        properties.headers.append(Header(HeaderName.copy, .integer(Int64(flight.copies + 1))))
        properties.headers.append(Header(HeaderName.firstSeen, .integer(flight.start.milliseconds)))
        return properties
    }

    private func retry(_ flight: Flight, _ group: TokenLedger.RetryGroup, random: UInt64) -> Copy {
        let wait = DelayLadder.retry(group.level, random: random)
        var properties = self.properties(flight, attempts: flight.attempts + (group.counted ? 1 : 0))
        properties.expiration = wait.expiration
        return Copy(
            message: Message(
                exchange: group.level.queueName,
                routingKey: flight.routingKey,
                properties: properties,
                body: self.body(flight, group.tokens)
            ),
            tokens: group.tokens
        )
    }

    /// What is not sent yet is still to be asked for, when it is due.
    private func unsent(_ flight: Flight) -> MessageProperties {
        var properties = self.properties(flight, attempts: flight.attempts)
        if let once = flight.once { properties.headers.append(Header(HeaderName.once, .string(once))) }
        if let replay = flight.replay { properties.headers.append(Header(HeaderName.replay, .string(replay))) }
        if let schedule = flight.schedule { properties.headers.append(Header(HeaderName.schedule, .string(schedule))) }
        return properties
    }

    /// A message whose time has not come waits in the broker and costs no attempt.
    func hold(_ flight: Flight, _ wait: DelayLadder.Wait) -> Copy {
        var properties = self.unsent(flight)
        properties.expiration = wait.expiration
        return Copy(
            message: Message(
                exchange: wait.level.queueName,
                routingKey: flight.routingKey,
                properties: properties,
                body: flight.job.body
            ),
            tokens: Array(0..<flight.job.tokenCount)
        )
    }

    private func giveBack(_ flight: Flight, tokens: [Int]) -> Copy {
        Copy(
            message: Message(
                exchange: FleetTopology.exchange,
                routingKey: flight.routingKey,
                properties: self.unsent(flight),
                body: self.body(flight, tokens)
            ),
            tokens: tokens
        )
    }

    private func deadLetter(_ flight: Flight, _ group: TokenLedger.DeadLetterGroup, now: UnixTime) -> Copy {
        var properties = self.properties(flight, attempts: flight.attemptsMade)
        self.append(DeathCertificate(reason: group.reason, apns: group.apns), to: &properties, now: now)
        var others: [Message] = []
        if group.reason == .suspectToken {
            others += group.tokens.map { self.suspect(flight, $0, reason: group.apns) }
        }
        if group.reason == .channelGone { others += group.tokens.map { self.channelGone(flight, $0, group.apns) } }
        if flight.wantsReceipt {
            others += group.tokens.map { token in
                Receipt(.deadLettered, reason: group.reason.rawValue, apns: group.apns).message(flight, token, now: now)
            }
        }
        return Copy(
            message: Message(
                exchange: FleetTopology.dead,
                routingKey: flight.routingKey,
                properties: properties,
                body: self.body(flight, group.tokens)
            ),
            and: others,
            tokens: group.tokens
        )
    }

    /// A delivery that never became a job: its body goes on byte for byte.
    func deadLetter(_ delivery: Delivery, _ refusal: Refusal, now: UnixTime) -> Copy {
        var properties = MessageProperties()
        properties.messageID = delivery.messageID
        properties.timestamp = delivery.timestamp
        properties.carry(delivery.headers.foreign)
        self.append(
            DeathCertificate(reason: refusal.reason, field: refusal.field, detail: refusal.detail),
            to: &properties,
            now: now
        )
        return Copy(
            message: Message(
                exchange: FleetTopology.dead,
                routingKey: AMQPName.fit(delivery.routingKey),
                properties: properties,
                body: delivery.body
            ),
            tokens: []
        )
    }

    private struct DeathCertificate {
        let reason: DeadLetterReason
        var apns: ApnsReason?
        var field: String?
        var detail: String?
    }

    private func append(_ certificate: DeathCertificate, to properties: inout MessageProperties, now: UnixTime) {
        properties.headers.append(Header(HeaderName.reason, .string(certificate.reason.rawValue)))
        if let apns = certificate.apns { properties.headers.append(Header(HeaderName.apnsReason, .string(apns.text))) }
        if let field = certificate.field ?? certificate.reason.field {
            properties.headers.append(Header(HeaderName.field, .string(field)))
        }
        properties.headers.append(Header(HeaderName.detail, .string(certificate.detail ?? certificate.reason.meaning)))
        properties.headers.append(Header(HeaderName.diedAt, .integer(now.milliseconds)))
        properties.headers.append(Header(HeaderName.worker, .string(self.workerName)))
        properties.headers.append(Header(HeaderName.version, .string(self.version)))
    }
}

extension MessageProperties {
    /// Adds the headers that the publisher gave a message, such as a trace context.
    fileprivate mutating func carry(_ headers: [Header]) {
        for header in headers where AMQPName.fits(header.name) { self.headers.append(header) }
    }
}

/// The headers of PushFleet's own that travel with copies; documented in the README.
enum HeaderName {
    static let attempt = DeliveryHeaders.attemptName
    static let copy = DeliveryHeaders.copyName
    static let firstSeen = DeliveryHeaders.firstSeenName
    static let reason = DeliveryHeaders.reasonName
    static let once = DeliveryHeaders.onceName
    static let schedule = DeliveryHeaders.scheduleName
    static let replay = DeliveryHeaders.replayName
    static let apnsReason = "x-pushfleet-apns-reason"
    static let field = "x-pushfleet-field"
    static let detail = "x-pushfleet-detail"
    static let diedAt = "x-pushfleet-died-at"
    static let worker = "x-pushfleet-worker"
    static let version = "x-pushfleet-version"
}

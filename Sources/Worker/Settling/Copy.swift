internal import Broker
internal import Push

/// A message that goes on somewhere else instead of, or because of, the one that was delivered.
struct Copy {
    let message: Message
    /// Which tokens of the flight are done once the broker has confirmed it.
    let tokens: [Int]
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
            let refusal = DeathCertificate(reason: group.reason, apns: group.apns)
            let letter = self.deadLetter(flight, refusal, tokens: group.tokens, now: now)
            if group.reason == .channelGone {
                copies += self.channelCopies(flight, group.apns, letter: letter.message)
            } else {
                copies.append(letter)
            }
        }
        for gone in flight.ledger.gone { copies.append(self.feedback(flight, gone)) }
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

    /// A message whose time has not come waits in the broker and costs no attempt.
    func hold(_ flight: Flight, _ wait: DelayLadder.Wait) -> Copy {
        var properties = self.properties(flight, attempts: flight.attempts)
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
                properties: self.properties(flight, attempts: flight.attempts),
                body: self.body(flight, tokens)
            ),
            tokens: tokens
        )
    }

    private func deadLetter(
        _ flight: Flight,
        _ certificate: DeathCertificate,
        tokens: [Int],
        now: UnixTime
    ) -> Copy {
        var properties = self.properties(flight, attempts: flight.attempts + (flight.wasSent ? 1 : 0))
        self.append(certificate, to: &properties, now: now)
        return Copy(
            message: Message(
                exchange: FleetTopology.dead,
                routingKey: flight.routingKey,
                properties: properties,
                body: self.body(flight, tokens)
            ),
            tokens: tokens
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

    /// For whoever keeps the tokens; the schema is shipped in `deploy/contract/feedback.schema.json`.
    private func feedback(_ flight: Flight, _ gone: TokenLedger.GoneToken) -> Copy {
        guard let app = flight.line.app, let sender = flight.line.sender else {
            preconditionFailure("a push without an app")
        }
        var text = #"{"token":"\#(flight.job.token(gone.token))","app":"\#(app.id)""#
        text += #","environment":"\#(sender.credential.environment.rawValue)","reason":"\#(gone.reason.text)""#
        if let time = gone.at { text += #","invalid_since":\#(time.milliseconds)"# }
        text += #","message_id":\#(JSONText.quoted(flight.messageID))}"#
        var properties = MessageProperties()
        properties.messageID = flight.messageID
        return Copy(
            message: Message(
                exchange: FleetTopology.feedback,
                routingKey: "\(app.id).gone",
                properties: properties,
                body: Array(text.utf8)
            ),
            tokens: [gone.token]
        )
    }
}

/// Names in AMQP have at most 255 bytes. One that was no text has grown when it was made text.
enum AMQPName {
    static func fits(_ name: String) -> Bool { name.utf8.count <= 255 }

    /// The name, cut after whole characters.
    static func fit(_ name: String) -> String {
        guard !Self.fits(name) else { return name }
        var cut = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= 255 else { break }
            cut.append(scalar)
        }
        return String(cut)
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
    static let firstSeen = DeliveryHeaders.firstSeenName
    static let reason = DeliveryHeaders.reasonName
    static let apnsReason = "x-pushfleet-apns-reason"
    static let field = "x-pushfleet-field"
    static let detail = "x-pushfleet-detail"
    static let diedAt = "x-pushfleet-died-at"
    static let worker = "x-pushfleet-worker"
    static let version = "x-pushfleet-version"
}

/// RFC 8259 §7, for the one text in our own JSON that others chose.
enum JSONText {
    static func quoted(_ bytes: [UInt8]) -> String {
        var text = "\""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

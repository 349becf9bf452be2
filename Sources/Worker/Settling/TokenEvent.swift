internal import APNs
internal import Broker
internal import Push

/// JSON events about single tokens, for whoever keeps them. Their schemas are shipped in `deploy/contract`.
extension CopyWriter {
    /// The token is gone.
    func feedback(_ flight: Flight, _ gone: TokenLedger.GoneToken, now: UnixTime) -> Copy {
        var event = TokenEvent(flight, gone.token)
        event.add("reason", gone.reason.text)
        if let time = gone.at { event.add("invalid_since", time.milliseconds) }
        let receipt = Receipt(.tokenGone, reason: gone.reason.text, apns: gone.reason)
        return Copy(
            message: event.message(to: FleetTopology.feedback, "gone"),
            and: flight.wantsReceipt ? [receipt.message(flight, gone.token, now: now)] : [],
            tokens: [gone.token]
        )
    }

    /// The token may be fine in another environment or for another topic. Without a time, so that nobody deletes by it.
    func suspect(_ flight: Flight, _ token: Int, reason: ApnsReason?) -> Message {
        var event = TokenEvent(flight, token)
        if let app = flight.line.app {
            let topic = flight.job.topicOverride ?? Topic.derive(bundleID: app.bundleID, pushType: flight.job.pushType)
            event.add("topic", topic)
        }
        if let reason { event.add("reason", reason.text) }
        return event.message(to: FleetTopology.feedback, "suspect")
    }

    /// Apple does not know the channel, or no longer.
    func channelGone(_ flight: Flight, _ token: Int, _ reason: ApnsReason?) -> Message {
        var event = TokenEvent(flight, token)
        if let reason { event.add("reason", reason.text) }
        return event.message(to: FleetTopology.feedback, "channel_gone")
    }

    /// Apple accepted the push, and its publisher wants to know.
    func receipt(_ flight: Flight, delivered token: Int, now: UnixTime) -> Copy {
        Copy(message: Receipt(.delivered).message(flight, token, now: now), tokens: [token])
    }
}

/// What became of one token, for publishers that ask for it with `receipt`.
struct Receipt {
    /// Closed; also the end of the routing key.
    enum Outcome: String {
        case delivered
        case tokenGone = "token_gone"
        case deadLettered = "dead_lettered"
    }

    let outcome: Outcome
    /// Why, in the words of the dead letter or, for a token that is gone, of Apple.
    let reason: String?
    let apns: ApnsReason?

    init(_ outcome: Outcome, reason: String? = nil, apns: ApnsReason? = nil) {
        self.outcome = outcome
        self.reason = reason
        self.apns = apns
    }

    func message(_ flight: Flight, _ token: Int, now: UnixTime) -> Message {
        var event = TokenEvent(flight, token)
        var digits: [UInt8] = []
        flight.job.appendToken(token, to: &digits)
        event.add("apns_id", ApnsID(messageID: flight.messageID, token: digits).string)
        event.add("outcome", self.outcome.rawValue)
        if let reason = self.reason { event.add("reason", reason) }
        if let apns = self.apns { event.add("apns_reason", apns.text) }
        event.add("attempts", Int64(flight.attemptsMade))
        event.add("latency_ms", max(0, (now - flight.published).milliseconds))
        if let latency = flight.latencies[token] { event.add("apns_latency_ms", latency) }
        return event.message(to: FleetTopology.receipts, self.outcome.rawValue)
    }
}

/// One JSON object about a token of a flight, under construction.
private struct TokenEvent {
    private let app: String
    private let messageID: [UInt8]
    private var text: String

    init(_ flight: Flight, _ token: Int) {
        guard let app = flight.line.app, let sender = flight.line.sender else {
            preconditionFailure("a push without an app")
        }
        self.app = app.id
        self.messageID = flight.messageID
        let target = flight.job.isBroadcast ? "channel" : "token"
        self.text = #"{"\#(target)":"\#(flight.job.token(token))","app":"\#(app.id)""#
        self.text += #","environment":"\#(sender.credential.environment.rawValue)""#
    }

    /// - Parameter value: of letters, digits and harmless signs only.
    mutating func add(_ key: String, _ value: String) { self.text += #","\#(key)":"\#(value)""# }

    mutating func add(_ key: String, _ value: Int64) { self.text += #","\#(key)":\#(value)"# }

    func message(to exchange: String, _ kind: String) -> Message {
        var properties = MessageProperties()
        properties.messageID = self.messageID
        return Message(
            exchange: exchange,
            routingKey: "\(self.app).\(kind)",
            properties: properties,
            body: Array((self.text + #","message_id":\#(JSONText.quoted(self.messageID))}"#).utf8)
        )
    }
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

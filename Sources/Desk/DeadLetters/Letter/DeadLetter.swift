package import Broker
package import Push

/// A message that will not be tried again, as it lies in the dead-letter queue.
///
/// Workers write why and when into headers; what RabbitMQ gave up itself has its `x-death` instead. Publishers may have
/// written anything: every text in here may be hostile, and is to be escaped where it is shown.
package struct DeadLetter: Sendable {
    package let id: DeadLetterID
    /// As it was published; empty if its publisher gave none.
    package let messageID: [UInt8]
    package let routingKey: String
    /// As the routing key names it, or else the body; nil if neither does.
    package let app: String?
    /// Nil if the routing key does not end with one.
    package let lane: Lane?
    /// Why it died: one of ``DeadLetterReason``, or a word of RabbitMQ's (https://www.rabbitmq.com/docs/dlx), or `unknown`.
    package let reason: String
    /// Apple's last answer, if that was why.
    package let apnsReason: String?
    /// The key of the body, or the property, at fault.
    package let field: String?
    package let detail: String?
    /// Nil if nobody wrote it down: only somebody else's messages lack it.
    package let diedAt: UnixTime?
    package let firstSeen: UnixTime?
    /// The publisher's `timestamp`.
    package let published: UnixTime?
    package let attempts: Int
    /// How many copies lie between it and what was published.
    package let copies: Int
    /// The worker that gave it up, and its version.
    package let worker: String?
    package let version: String?
    /// Whether some of its tokens may be done already: a worker was at it when RabbitMQ gave it up.
    package let isUnfinished: Bool
    package let contentType: String
    /// The publisher's own headers, which go on with it.
    package private(set) var foreign: [Header]
    /// All headers, for display.
    package private(set) var headers: [Header]
    /// How many tokens the body names, 1 for a channel; nil if it is no message of the contract.
    package let tokens: Int?
    /// Whether it goes to a broadcast channel.
    package let isBroadcast: Bool
    package let bodyBytes: Int
    /// Empty where only summaries were asked for, as all headers are.
    package private(set) var body: [UInt8]

    package var knownReason: DeadLetterReason? { DeadLetterReason(rawValue: self.reason) }

    /// - Parameter headers: all of them, as RabbitMQ handed them over.
    package init(
        routingKey: String,
        messageID: [UInt8],
        contentType: String = "application/json",
        published: UnixTime? = nil,
        foreign: [Header] = [],
        headers: [Header],
        body: [UInt8]
    ) {
        let reader = DeathReader(headers)
        let job = try? EnvelopeDecoder.decode(body: body, fit: .truncate)
        let address = DeadLetterAddress(routingKey)
        self.routingKey = routingKey
        self.lane = address?.lane
        self.app = address?.app ?? job?.appName
        self.messageID = messageID
        self.contentType = contentType
        self.published = published
        self.foreign = foreign
        self.headers = headers
        self.reason = reader.reason
        self.apnsReason = reader.text(DeadLetterHeader.apnsReason)
        self.field = reader.text(DeadLetterHeader.field)
        self.detail = reader.text(DeadLetterHeader.detail)
        self.diedAt = reader.diedAt
        self.firstSeen = reader.time(DeliveryHeaders.firstSeenName)
        self.attempts = reader.count(DeliveryHeaders.attemptName)
        self.copies = reader.count(DeliveryHeaders.copyName)
        self.worker = reader.text(DeadLetterHeader.worker)
        self.version = reader.text(DeadLetterHeader.version)
        self.isUnfinished = reader.isUnfinished
        self.tokens = job?.tokenCount
        self.isBroadcast = job?.isBroadcast ?? false
        self.bodyBytes = body.count
        self.body = body
        self.id = DeadLetterID(hashing: [
            Array(routingKey.utf8), messageID, Array(self.reason.utf8),
            Array("\(self.diedAt?.milliseconds ?? -1) \(self.attempts) \(self.copies)".utf8), body,
        ])
    }

    package init(_ delivery: Delivery) {
        self.init(
            routingKey: delivery.routingKey,
            messageID: delivery.messageID,
            contentType: delivery.contentType,
            published: delivery.timestamp,
            foreign: delivery.headers.foreign,
            headers: delivery.headers.all,
            body: delivery.body
        )
    }

    /// The same without its body and headers, for lists.
    package consuming func summary() -> DeadLetter {
        self.body = []
        self.headers = []
        self.foreign = []
        return self
    }
}

/// A routing key `<app>.<lane>`.
struct DeadLetterAddress: Equatable {
    let app: String
    let lane: Lane

    init?(_ routingKey: String) {
        guard let dot = routingKey.utf8.lastIndex(of: UInt8(ascii: ".")), dot > routingKey.startIndex,
            let lane = Lane(rawValue: String(routingKey[routingKey.index(after: dot)...]))
        else { return nil }
        self.app = String(routingKey[..<dot])
        self.lane = lane
    }
}

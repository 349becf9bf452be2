internal import Broker
internal import Foundation
internal import Push
internal import Registry
internal import SNS

/// A message on its way to one subscriber, with all that further attempts need: the body of a message in RabbitMQ.
struct WebhookOrder: Codable, Sendable, Equatable {
    var version = 1
    /// The envelope's `Type`.
    var kind: String
    /// `http`, `https` or `sqs`.
    var transport: String
    /// A URL, or a queue's ARN.
    var endpoint: String
    /// The topic's name.
    var topic: String
    /// The subscription's id.
    var subscription: String
    var messageID: String
    /// Milliseconds since 1970.
    var publishedAt: Int64
    var text: String
    var subject: String?
    var attributes: [FanOutOrder.Attribute] = []
    var signatureVersion: String?
    /// Of confirmations.
    var token: String?
    /// The text alone, without the envelope.
    var isRaw = false
    /// Seconds before each further attempt.
    var delays: [Int]
    var contentType: String?
    /// Where it goes when all attempts have failed; nil for nowhere.
    var deadLetterQueue: String?
    /// Attempts made.
    var attempts = 0
    /// When the next one is to be made, in milliseconds since 1970; nil for at once.
    var dueAt: Int64?

    enum CodingKeys: String, CodingKey {
        case version, kind, transport, endpoint, topic, subscription, text, subject, attributes, token, delays, attempts
        case messageID = "message_id"
        case publishedAt = "published_at"
        case signatureVersion = "signature_version"
        case isRaw = "is_raw"
        case contentType = "content_type"
        case deadLetterQueue = "dead_letter_queue"
        case dueAt = "due_at"
    }

    /// A notification for one of the topic's subscribers.
    init(
        _ order: FanOutOrder,
        _ text: String,
        to recipient: Recipient,
        _ transport: String,
        _ endpoint: String,
        topic: TopicDelivery
    ) {
        self.kind = SubscriberMessage.Kind.notification.rawValue
        self.transport = transport
        self.endpoint = endpoint
        self.topic = order.topic
        self.subscription = recipient.subscription.description
        self.messageID = order.messageID
        self.publishedAt = order.publishedAt
        self.text = text
        self.subject = order.subject
        self.attributes = order.attributes
        self.signatureVersion = topic.signatureVersion
        self.isRaw = recipient.delivery?.isRaw ?? false
        let policy = Self.policy(recipient.delivery?.deliveryPolicy, topic.deliveryPolicy)
        self.delays = policy.delays
        self.contentType = policy.contentType
        self.deadLetterQueue = Self.deadLetterQueue(recipient.delivery?.redrivePolicy)
    }

    /// Asks somebody whether it wants to be, or stay, a subscriber.
    init(
        _ kind: SubscriberMessage.Kind,
        _ url: String,
        transport: String,
        _ name: SubscriptionName,
        text: String,
        token: String,
        at now: UnixTime,
        deliveryPolicy: String? = nil
    ) {
        self.kind = kind.rawValue
        self.transport = transport
        self.endpoint = url
        self.topic = name.topic
        self.subscription = name.id.description
        self.messageID = SNS.UUID.random().description
        self.publishedAt = now.milliseconds
        self.text = text
        self.token = token
        let policy = Self.policy(deliveryPolicy, nil)
        self.delays = policy.delays
        self.contentType = policy.contentType
    }

    init?(body: [UInt8]) {
        guard let order = try? JSONDecoder().decode(Self.self, from: Data(body)), order.version == 1 else { return nil }
        self = order
    }

    /// The subscription's own goes before the topic's. What cannot be read was refused when it was set.
    private static func policy(_ own: String?, _ topics: String?) -> DeliveryPolicy {
        let text = own ?? topics
        return text.flatMap { try? DeliveryPolicy(parsing: $0) } ?? .standard
    }

    static func deadLetterQueue(_ policy: String?) -> String? {
        policy.flatMap { try? RedrivePolicy(parsing: $0) }.flatMap { QueueARN($0.deadLetterTarget)?.name }
    }

    /// The order for the next attempt; nil if that was the last.
    func next(at now: UnixTime) -> WebhookOrder? {
        guard self.attempts < self.delays.count else { return nil }
        var order = self
        order.attempts += 1
        let delay = Int64(self.delays[self.attempts]) * 1000
        order.dueAt = delay == 0 ? nil : now.milliseconds + delay
        return order
    }

    /// The message that brings it to a gateway, at once or when its time comes nearer.
    func message(at now: UnixTime) -> Broker.Message {
        var properties = MessageProperties()
        properties.messageID = Array("\(self.messageID).\(self.subscription)".utf8)
        properties.timestamp = UnixTime(milliseconds: self.publishedAt)
        let wait = self.dueAt.map { Duration.milliseconds($0 - now.milliseconds) } ?? .zero
        let level = GatewayTopology.waits.last { .seconds($0) <= wait }
        guard let data = try? JSONEncoder().encode(self) else { preconditionFailure("text is always JSON") }
        return Broker.Message(
            exchange: level == nil ? GatewayTopology.webhooks : "",
            routingKey: level.map(GatewayTopology.waitQueue) ?? self.topic,
            properties: properties,
            body: Array(data)
        )
    }
}

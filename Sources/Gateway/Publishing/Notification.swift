internal import Broker
internal import Push
internal import Registry
internal import SNS

/// A message to a subscriber that is no device, for RabbitMQ: in Amazon's envelope, or raw.
struct Notification {
    private let order: WebhookOrder
    private let envelope: SubscriberMessage
    private let subscription: SubscriptionARN?

    init(_ order: WebhookOrder, settings: GatewaySettings) {
        let topic = settings.arn(topic: order.topic)
        self.order = order
        self.subscription = SNS.UUID(order.subscription).map { SubscriptionARN(topic: topic, id: $0) }
        self.envelope = SubscriberMessage(order, topic: topic)
    }

    /// For a queue, by its name. One that is not there loses the message, unless it is mandatory.
    func message(toQueue name: String, isMandatory: Bool, signer: EnvelopeSigner) -> Broker.Message {
        var properties = MessageProperties()
        properties.messageID = Array("\(self.order.messageID).\(self.order.subscription)".utf8)
        properties.timestamp = UnixTime(milliseconds: self.order.publishedAt)
        let body: [UInt8]
        if self.order.isRaw {
            body = Array(self.order.text.utf8)
            // Amazon gives them to the queue's message as attributes.
            properties.headers = self.order.attributes.map { Header($0.name, .string($0.shown.value)) }
            if properties.headers.reduce(0, { $0 + $1.name.utf8.count + "\($1.value)".utf8.count }) > 64 * 1024 {
                properties.headers = []
            }
        } else {
            body = self.envelope.body(
                signer.seal(self.envelope, version: self.order.signatureVersion),
                unsubscribeURL: self.subscription.map(signer.unsubscribeURL)
            )
        }
        return Broker.Message(
            exchange: "",
            routingKey: name,
            properties: properties,
            body: body,
            isMandatory: isMandatory
        )
    }

    /// For whoever listens to events, by the topic's name.
    static func event(_ order: FanOutOrder, _ text: String, topic: TopicARN) -> Broker.Message {
        var properties = MessageProperties()
        properties.messageID = Array(order.messageID.utf8)
        var envelope = SubscriberMessage(
            .notification,
            id: order.messageID,
            topic: topic,
            text: text,
            time: UnixTime(milliseconds: order.publishedAt)
        )
        envelope.subject = order.subject
        return Broker.Message(
            exchange: GatewayTopology.events,
            routingKey: String(order.topic.prefix(255)),
            properties: properties,
            body: envelope.body(nil)
        )
    }
}

extension SubscriberMessage {
    /// What the order says, in the envelope.
    init(_ order: WebhookOrder, topic: TopicARN) {
        self.init(
            Kind(rawValue: order.kind) ?? .notification,
            id: order.messageID,
            topic: topic,
            text: order.text,
            time: UnixTime(milliseconds: order.publishedAt)
        )
        self.subject = order.subject
        self.attributes = order.attributes.map(\.shown)
        self.token = order.token
    }
}

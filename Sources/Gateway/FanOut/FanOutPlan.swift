internal import Broker
internal import Push
internal import Registry
internal import SNS

/// What of an order is the same for all chunks: which recipients want it, and what each application's devices get.
final class FanOutPlan {
    private let order: FanOutOrder
    private let settings: GatewaySettings
    private let signer: EnvelopeSigner
    private let content: PublishContent?
    private let attributes: MessageAttributes
    private var pushes: [String: PlatformPush?] = [:]
    private var policies: [String: FilterPolicy?] = [:]
    private var subjects: [String: FilterSubject] = [:]

    init(_ order: FanOutOrder, settings: GatewaySettings, signer: EnvelopeSigner) {
        self.order = order
        self.settings = settings
        self.signer = signer
        let message = order.content
        self.attributes = message.attributes
        self.content = try? PublishContent(message)
    }

    /// When the pushes shall be sent; nil for at once.
    var notBefore: UnixTime? { self.content?.notBefore }

    /// Whether the recipient's filter policy lets the message through. One that cannot be read lets nothing through.
    func wants(_ recipient: Recipient) -> Bool {
        guard let text = recipient.filterPolicy, !text.isEmpty else { return true }
        guard let policy = self.policy(text, scope: recipient.filterPolicyScope) else { return false }
        return policy.matches(self.subject(for: recipient))
    }

    private func policy(_ text: String, scope: String?) -> FilterPolicy? {
        let key = "\(scope ?? "") \(text)"
        if let known = self.policies[key] { return known }
        let scope = scope.flatMap(FilterPolicy.Scope.init(rawValue:)) ?? .messageAttributes
        let policy = try? FilterPolicy(parsing: text, scope: scope)
        // Most subscribers of a topic have one of a few policies.
        if self.policies.count >= 10_000 { self.policies.removeAll() }
        self.policies[key] = .some(policy)
        return policy
    }

    private func subject(for recipient: Recipient) -> FilterSubject {
        let key: String
        let text: String?
        switch recipient.subscriber {
        case .endpoint(let endpoint, _, _):
            key = endpoint.name.application.platform
            if let known = self.subjects[key] { return known }
            text = Platform(rawValue: key).flatMap { self.content?.text(for: $0) }
        case .other(let transport, _):
            key = transport
            if let known = self.subjects[key] { return known }
            text = self.content?.text(forTransport: transport)
        case .dangling:
            key = ""
            text = nil
        }
        let subject = FilterSubject(self.attributes, body: text ?? "")
        self.subjects[key] = subject
        return subject
    }

    /// Nil for what cannot be sent to these devices, such as a payload that is too long.
    func push(for device: FanOutChunk.Device) -> PlatformPush? {
        let name = device.application.platform
        if let known = self.pushes[name] { return known }
        let push = Platform(rawValue: name).flatMap { try? self.content?.push(for: $0) }
        self.pushes[name] = .some(push)
        return push
    }

    /// What subscribers get that are no devices: a queue of RabbitMQ for each of protocol `sqs`; those that may need more
    /// than one attempt are orders of their own.
    func notifications(_ page: Recipients) -> [Broker.Message] {
        page.recipients.compactMap { recipient in
            guard case .other(let transport, let endpoint) = recipient.subscriber, self.wants(recipient),
                let content = self.content
            else { return nil }
            let order = WebhookOrder(
                self.order,
                content.text(forTransport: transport),
                to: recipient,
                transport,
                endpoint,
                topic: page.topic
            )
            switch transport {
            case "http", "https": return order.message(at: UnixTime(milliseconds: self.order.publishedAt))
            case "sqs" where order.deadLetterQueue != nil:
                return order.message(at: UnixTime(milliseconds: self.order.publishedAt))
            case "sqs":
                return QueueARN(endpoint).map {
                    Notification(order, settings: self.settings)
                        .message(toQueue: $0.name, isMandatory: false, signer: self.signer)
                }
            default: return nil
            }
        }
    }

    /// Whether somebody wants to know what becomes of pushes to this device.
    func wantsReceipt(_ device: FanOutChunk.Device, _ topic: TopicDelivery) -> Bool {
        topic.isLogged || device.isLogged
    }
}

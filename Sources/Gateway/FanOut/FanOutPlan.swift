internal import Broker
internal import Push
internal import Registry
internal import SNS

/// What of an order is the same for all chunks: which recipients want it, and what each application's devices get.
final class FanOutPlan {
    private let order: FanOutOrder
    private let settings: GatewaySettings
    private let content: PublishContent?
    private let attributes: MessageAttributes
    private var pushes: [String: PlatformPush?] = [:]
    private var policies: [String: FilterPolicy?] = [:]
    private var subjects: [String: FilterSubject] = [:]

    init(_ order: FanOutOrder, settings: GatewaySettings) {
        self.order = order
        self.settings = settings
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
        var platform: Platform?
        if case .endpoint(let endpoint, _, _) = recipient.subscriber {
            platform = Platform(rawValue: endpoint.name.application.platform)
        }
        let key = platform?.rawValue ?? ""
        if let known = self.subjects[key] { return known }
        let subject = FilterSubject(self.attributes, body: self.content?.text(for: platform) ?? "")
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

    /// What subscribers get that are no devices: a queue of RabbitMQ for each of protocol `sqs`.
    func notifications(_ recipients: [Recipient]) -> [Broker.Message] {
        recipients.compactMap { recipient in
            guard case .other("sqs", let arn) = recipient.subscriber, self.wants(recipient) else { return nil }
            return Notification(self.order, self.content?.text(for: nil) ?? "", settings: self.settings)
                .message(toQueueOf: arn, subscription: recipient.subscription)
        }
    }
}

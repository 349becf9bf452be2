internal import Push
internal import Registry
internal import SNS

/// What of an order is the same for all chunks: which recipients want it, and what each application's devices get.
final class FanOutPlan {
    private let content: PublishContent?
    private let attributes: MessageAttributes
    private var drafts: [String: PushDraft?] = [:]
    private var policies: [String: FilterPolicy?] = [:]

    init(_ order: FanOutOrder) {
        let message = order.content
        self.attributes = message.attributes
        self.content = try? PublishContent(message, publishedAt: UnixTime(milliseconds: order.publishedAt))
    }

    /// Whether the recipient's filter policy lets the message through. One that cannot be read lets nothing through.
    func wants(_ recipient: Recipient) -> Bool {
        guard let text = recipient.filterPolicy, !text.isEmpty else { return true }
        let key = "\(recipient.filterPolicyScope ?? "") \(text)"
        let policy: FilterPolicy?
        if let known = self.policies[key] {
            policy = known
        } else {
            policy = FilterPolicy.stored(text, scope: recipient.filterPolicyScope)
            self.policies[key] = .some(policy)
        }
        guard let policy, let content = self.content else { return false }
        return policy.matches(attributes: self.attributes, body: content.text(for: recipient))
    }

    /// Nil for what cannot be sent to these devices, such as a payload that is too long.
    func draft(for device: FanOutChunk.Device) -> PushDraft? {
        if let known = self.drafts[device.app] { return known }
        let draft = try? self.content?.draft(app: device.app, platform: device.application.platform)
        self.drafts[device.app] = .some(draft)
        return draft
    }
}

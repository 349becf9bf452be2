internal import Push
internal import SNS

/// What is published, once it is read: what each platform's devices get.
struct PublishContent {
    private let body: MessageBody
    private let attributes: MessageAttributes

    /// When it shall be sent; nil for at once.
    let notBefore: UnixTime?

    /// Beyond Amazon's attributes: Unix seconds until which the push waits in the broker, at most 30 days ahead.
    static let notBeforeName = "pushfleet.not_before"

    init(_ message: SNS.Message) throws(SNSError) {
        self.body = try MessageBody(message)
        self.attributes = message.attributes
        self.notBefore = try Self.notBefore(message.attributes)
    }

    private static func notBefore(_ attributes: MessageAttributes) throws(SNSError) -> UnixTime? {
        guard let value = attributes[Self.notBeforeName] else { return nil }
        guard case .text(let text) = value.content, let seconds = Int64(text), Contract.unixSeconds.contains(seconds)
        else {
            throw .invalidParameter(
                "MessageAttributes",
                reason: "Invalid value for attribute: \(Self.notBeforeName): must be Unix seconds"
            )
        }
        return UnixTime(seconds: seconds)
    }

    /// The text that a platform's devices get, before it is wrapped; what filters of scope `MessageBody` look at.
    func text(for platform: Platform) -> String { self.body.text(for: platform)?.text ?? "" }

    /// The text that a subscriber gets that is no device: the one for its protocol, such as `http`, or `default`.
    func text(forTransport transport: String) -> String {
        switch self.body {
        case .plain(let text): text
        case .perPlatform(let texts): texts[ExactText(transport)] ?? texts["default"] ?? ""
        }
    }

    /// The push for one platform's devices.
    /// - Throws: what Publish to an endpoint answers; for a topic's devices it means that they get nothing.
    func push(for platform: Platform) throws(SNSError) -> PlatformPush {
        try PlatformPush(self.body, try PushAttributes(self.attributes, platform: platform), platform: platform)
    }
}

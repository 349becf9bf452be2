internal import Push
internal import SNS

/// What is published, once it is read: what each platform's devices get.
struct PublishContent {
    private let body: MessageBody
    private let attributes: MessageAttributes

    init(_ message: SNS.Message) throws(SNSError) {
        self.body = try MessageBody(message)
        self.attributes = message.attributes
    }

    /// The text that a platform's devices get, before it is wrapped; what filters of scope `MessageBody` look at.
    /// - Parameter platform: nil for subscribers that are no devices, who get `default`.
    func text(for platform: Platform?) -> String {
        if let platform { return self.body.text(for: platform)?.text ?? "" }
        switch self.body {
        case .plain(let text): return text
        case .perPlatform(let texts): return texts["default"] ?? ""
        }
    }

    /// The push for one platform's devices.
    /// - Throws: what Publish to an endpoint answers; for a topic's devices it means that they get nothing.
    func push(for platform: Platform) throws(SNSError) -> PlatformPush {
        try PlatformPush(self.body, try PushAttributes(self.attributes, platform: platform), platform: platform)
    }
}

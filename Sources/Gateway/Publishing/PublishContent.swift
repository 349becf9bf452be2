internal import Push
internal import SNS

/// What is published, once it is read: what each platform's devices get.
struct PublishContent {
    private let body: MessageBody
    private let attributes: MessageAttributes
    private let publishedAt: UnixTime

    init(_ message: SNS.Message, publishedAt: UnixTime) throws(SNSError) {
        self.body = try MessageBody(message)
        self.attributes = message.attributes
        self.publishedAt = publishedAt
    }

    /// The text that a platform's devices get, before it is wrapped; what filters of scope `MessageBody` look at.
    func text(for platform: Platform?) -> String {
        guard let platform else { return self.body.text(for: .apns)?.text ?? "" }
        return self.body.text(for: platform)?.text ?? ""
    }
}

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
    /// - Parameter platform: nil for subscribers that are no devices, who get `default`.
    func text(for platform: Platform?) -> String {
        if let platform { return self.body.text(for: platform)?.text ?? "" }
        switch self.body {
        case .plain(let text): return text
        case .perPlatform(let texts): return texts["default"] ?? ""
        }
    }

    /// The push for one platform's devices, without their tokens.
    /// - Throws: what Publish to an endpoint answers; for a topic's devices it means that they get nothing.
    func draft(app: String, platform: Platform) throws(SNSError) -> PushDraft {
        guard let (text, isPayload) = self.body.text(for: platform) else {
            throw .invalidParameter("JSON must contain an entry for 'default' or '\(platform.rawValue)'.")
        }
        var aps: [ExactText: JSONTree] = [:]
        var payload = Array(text.utf8)
        if isPayload {
            guard case .object(let members)? = try? JSONTree(parsing: text) else {
                throw Self.invalid("Notification is malformed", platform)
            }
            if case .object(let found)? = members["aps"] { aps = found }
        } else {
            payload = Array(#"{"aps":{"alert":"#.utf8)
            JSONString.append(text, to: &payload)
            payload += "}}".utf8
        }
        let headers = try PushHeaders(self.attributes, platform: platform)
        let type = headers.pushType ?? Self.pushType(platform, aps, isPayload: isPayload)
        guard payload.count <= Contract.payloadLimit(for: type) else {
            throw Self.invalid("Notification is too long", platform)
        }
        if let priority = headers.priority, type == .background, priority == 10 {
            throw .invalidParameter("Message", reason: "A background notification must not have priority 10")
        }
        return PushDraft(
            app: app,
            pushType: type == .alert ? nil : type.rawValue,
            topic: headers.topic,
            priority: headers.priority,
            collapseID: headers.collapseID,
            expiresAt: headers.lifetime.map { $0 == 0 ? 0 : self.publishedAt.seconds + $0 },
            payload: payload
        )
    }

    /// What Amazon infers. Source: Amazon SNS Developer Guide, "Mobile app attributes".
    private static func pushType(_ platform: Platform, _ aps: [ExactText: JSONTree], isPayload: Bool) -> PushType {
        switch platform.production {
        case .voip: return .voip
        case .mdm: return .mdm
        default: break
        }
        let isSilent = aps["content-available"] == .number(1) || aps["content-available"] == .bool(true)
        let isShown = aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil
        return isPayload && isSilent && !isShown ? .background : .alert
    }

    private static func invalid(_ problem: String, _ platform: Platform) -> SNSError {
        .invalidParameter(
            "Message",
            reason: "Invalid notification for protocol \(platform.rawValue): \(problem)"
        )
    }
}

/// What is published: the members that Publish and each entry of PublishBatch have in common.
package struct Message: Equatable, Sendable {
    /// Bytes of a message with its attributes' names, types and values; also of a whole batch.
    package static let sizeLimit = 262_144

    package let text: String

    /// Not used for Apple's devices.
    package let subject: String?

    /// Whether the text holds a text for each platform. Anything but `json` is refused when the text is read.
    package let structure: String?

    package let attributes: MessageAttributes

    package let deduplicationID: String?
    package let groupID: String?

    /// In bytes.
    package var size: Int { self.text.utf8.count + self.attributes.size }

    package init(
        text: String,
        subject: String? = nil,
        structure: String? = nil,
        attributes: MessageAttributes = MessageAttributes(),
        deduplicationID: String? = nil,
        groupID: String? = nil
    ) {
        self.text = text
        self.subject = subject
        self.structure = structure
        self.attributes = attributes
        self.deduplicationID = deduplicationID
        self.groupID = groupID
    }

    static let members = [
        "Message", "Subject", "MessageStructure", "MessageAttributes", "MessageDeduplicationId", "MessageGroupId",
    ]

    /// Reads and checks what needs no look at the target, in Amazon's order.
    init(_ parameters: Parameters, place: String = "") throws(SNSError) {
        let subject = try parameters.text("Subject")
        if let subject { try Self.checkSubject(subject) }
        guard let text = try parameters.text("Message") else { throw .null("\(place)message") }
        guard !text.isEmpty else { throw .invalidParameter("Empty message") }
        self.init(
            text: text,
            subject: subject,
            structure: try parameters.text("MessageStructure"),
            attributes: try MessageAttributes(parameters, place: place),
            deduplicationID: try parameters.text("MessageDeduplicationId"),
            groupID: try parameters.text("MessageGroupId")
        )
    }

    private static func checkSubject(_ subject: String) throws(SNSError) {
        guard (1..<100).contains(subject.unicodeScalars.count),
            subject.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            !subject.isBeyondXML
        else { throw .invalidParameter("Subject") }
    }
}

/// A message's text, or its texts.
package enum MessageBody: Equatable, Sendable {
    case plain(String)

    /// Of structure `json`: the string values by their keys, of which `default` is one. Others are left out.
    case perPlatform([ExactText: String])

    /// - Throws: `InvalidParameter` for another structure than `json`, and for a text that is no JSON object.
    package init(_ message: Message) throws(SNSError) {
        guard let structure = message.structure else {
            self = .plain(message.text)
            return
        }
        guard structure == "json" else { throw .invalidParameter("MessageStructure") }
        guard case .object(let members)? = try? JSONTree(parsing: message.text) else {
            throw .invalidParameter("Message Structure - JSON message body failed to parse")
        }
        self = .perPlatform(
            members.compactMapValues { if case .text(let text) = $0 { text.string } else { nil } }
        )
    }

    /// What every message to a topic needs.
    ///
    /// - Throws: `InvalidParameter` for structure `json` without a `default`.
    package func checkForTopic() throws(SNSError) {
        guard case .perPlatform(let texts) = self, texts["default"] == nil else { return }
        throw .invalidParameter("Message Structure - No default entry in JSON message body")
    }

    /// The text that devices of a platform get, before it is wrapped; nil if there is none for them.
    package func text(for platform: Platform, fallsBack: Bool = false) -> (text: String, isPayload: Bool)? {
        switch self {
        case .plain(let text): return (text, false)
        case .perPlatform(let texts):
            if let own = texts[ExactText(platform.rawValue)] { return (own, true) }
            if fallsBack, let own = texts[ExactText(platform.production.rawValue)] { return (own, true) }
            return texts["default"].map { ($0, false) }
        }
    }
}

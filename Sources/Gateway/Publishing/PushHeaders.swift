internal import Push
internal import SNS

/// The reserved attributes of a message, which become headers of the push. Source: Amazon SNS Developer Guide, "Using
/// Amazon SNS message attributes for mobile push".
struct PushHeaders: Equatable {
    private(set) var pushType: PushType?
    private(set) var topic: String?
    private(set) var priority: Int?
    private(set) var collapseID: String?
    /// Seconds; 0 means now or never.
    private(set) var lifetime: Int64?

    /// - Parameter platform: each has its own name for the time to live.
    init(_ attributes: MessageAttributes, platform: Platform) throws(SNSError) {
        // Nearly no message has any.
        guard !attributes.all.isEmpty else { return }
        if let text = Self.text("APNS.PUSH_TYPE", attributes) {
            guard let type = PushType(rawValue: text) else { throw Self.invalid("APNS.PUSH_TYPE", text) }
            self.pushType = type
        }
        if let text = Self.text("APNS.TOPIC", attributes) {
            let isValid = Array(text.utf8).withUnsafeBytes { Topic.isValid($0) }
            guard isValid else { throw Self.invalid("APNS.TOPIC", text) }
            self.topic = text
        }
        if let text = Self.text("APNS.PRIORITY", attributes) {
            guard let priority = Int(text), [1, 5, 10].contains(priority) else {
                throw Self.invalid("APNS.PRIORITY", text)
            }
            self.priority = priority
        }
        if let text = Self.text("APNS.COLLAPSE_ID", attributes) {
            guard Contract.collapseIDBytes.contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw Self.invalid("APNS.COLLAPSE_ID", text) }
            self.collapseID = text
        }
        if let text = Self.text("\(platform.rawValue).TTL", attributes) {
            guard let seconds = Int64(text), (0...Self.longestLifetime).contains(seconds) else {
                throw Self.invalid("\(platform.rawValue).TTL", text)
            }
            self.lifetime = seconds
        }
    }

    /// Ten years: more would be beyond what the fleet's contract can say.
    private static let longestLifetime: Int64 = 10 * 366 * 86_400

    private static func text(_ name: String, _ attributes: MessageAttributes) -> String? {
        guard case .text(let text)? = attributes["AWS.SNS.MOBILE.\(name)"]?.content else { return nil }
        return text
    }

    private static func invalid(_ name: String, _ value: String) -> SNSError {
        .invalidValue(
            "Invalid value '\(value.prefix(80))' for the message attribute 'AWS.SNS.MOBILE.\(name)'."
        )
    }
}

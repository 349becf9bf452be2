/// Attributes of a platform application, checked.
package struct ApplicationAttributes: Sendable {
    /// All that are to be stored as they are: neither the credentials nor what is read-only. An empty value takes one away.
    package let plain: [String: String]

    /// Nil if they do not change.
    package let credentials: PlatformCredentials?

    /// Nil if it was not given.
    package let isEnabled: Bool?

    /// Attributes whose value is the topic that gets an event.
    package static let eventNames = [
        "EventEndpointCreated", "EventEndpointDeleted", "EventEndpointUpdated", "EventDeliveryFailure",
        "EventDeliveryAttemptFailure",
    ]

    private static let secretNames = ["PlatformPrincipal", "PlatformCredential"]
    private static let readOnlyNames = ["AuthenticationMethod", "AppleCertificateExpiryDate"]
    private static let plainNames =
        Self.eventNames + [
            "SuccessFeedbackRoleArn", "FailureFeedbackRoleArn", "SuccessFeedbackSampleRate", "ApplePlatformTeamID",
            "ApplePlatformBundleID",
        ]

    /// - Parameter isNew: whether the credentials must be there.
    init(_ given: [String: String], isNew: Bool) throws(SNSError) {
        for name in given.keys.sorted()
        where name != "Enabled" && !(Self.secretNames + Self.readOnlyNames + Self.plainNames).contains(name) {
            throw .invalidAttributeName(name)
        }
        let principal = given["PlatformPrincipal"].flatMap { $0.isEmpty ? nil : $0 }
        let credential = given["PlatformCredential"].flatMap { $0.isEmpty ? nil : $0 }
        guard (principal == nil) == (credential == nil) else {
            let (one, other) = principal == nil ? ("Credential", "Principal") : ("Principal", "Credential")
            throw .invalidParameter(
                "Attributes",
                reason: "Platform\(one) attribute provided without Platform\(other)"
            )
        }
        if let principal, let credential {
            self.credentials = try PlatformCredentials(
                principal: principal,
                credential: credential,
                teamID: given["ApplePlatformTeamID"],
                bundleID: given["ApplePlatformBundleID"]
            )
        } else {
            guard !isNew else { throw .badCredentials }
            self.credentials = nil
        }
        for name in Self.eventNames {
            guard let arn = given[name], !arn.isEmpty else { continue }
            guard (try? TopicARN(arn)) != nil else {
                throw .invalidParameter("Attributes", reason: "\(name) has invalid ARN format")
            }
        }
        if let rate = given["SuccessFeedbackSampleRate"], !rate.isEmpty {
            guard let rate = Int(rate), (0...100).contains(rate) else {
                throw .invalidParameter(
                    "Attributes",
                    reason:
                        "Invalid value for attribute: SuccessFeedbackSampleRate: must be a whole number from 0 to 100"
                )
            }
        }
        self.isEnabled = try given["Enabled"].map { (text) throws(SNSError) in try AttributeValue.bool(text, "Enabled")
        }
        self.plain = given.filter { Self.plainNames.contains($0.key) }
    }
}

/// Values of attributes of several kinds of things.
enum AttributeValue {
    static func bool(_ text: String, _ name: String) throws(SNSError) -> Bool {
        switch text.lowercased() {
        case "true": return true
        case "false": return false
        default:
            throw .invalidParameter(
                "Attributes",
                reason: "Invalid value for attribute: \(name): must be true or false"
            )
        }
    }
}

extension SNSError {
    static func invalidAttributeName(_ name: String) -> Self {
        Self.invalidParameter("Attributes", reason: "Invalid attribute name: \(name)")
    }
}

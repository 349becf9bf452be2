/// Attributes of a subscription, checked.
package struct SubscriptionAttributes: Sendable {
    /// As they are to be stored. An empty filter policy takes the one that is there away.
    package let plain: [String: String]

    /// The policy among them, or the stored one with a new scope; nil if there is none.
    package let filter: FilterPolicy?

    private static let names: Set = [
        "DeliveryPolicy", "FilterPolicy", "FilterPolicyScope", "RawMessageDelivery", "RedrivePolicy",
        "SubscriptionRoleArn",
    ]

    /// Those of Subscribe.
    init(_ given: [String: String]) throws(SNSError) {
        let prefix = "Attributes Reason: "
        for (name, value) in given.sorted(by: { $0.key < $1.key }) { try Self.check(name, value, prefix) }
        self.plain = given
        self.filter = try Self.filter(given, prefix)
    }

    /// The one of SetSubscriptionAttributes.
    init(changing name: String, to value: String, of stored: [String: String]) throws(SNSError) {
        try Self.check(name, value, "")
        self.plain = [name: value]
        self.filter = try Self.filter(stored.merging(self.plain) { $1 }, "")
    }

    private static func filter(_ attributes: [String: String], _ prefix: String) throws(SNSError) -> FilterPolicy? {
        guard let policy = attributes["FilterPolicy"], !policy.isEmpty else { return nil }
        let scope = attributes["FilterPolicyScope"].flatMap(FilterPolicy.Scope.init(rawValue:)) ?? .messageAttributes
        return try FilterPolicy(parsing: policy, scope: scope, prefix: prefix)
    }

    /// - Parameter prefix: what stands between "Invalid parameter: " and the text.
    private static func check(_ name: String, _ value: String, _ prefix: String) throws(SNSError) {
        guard Self.names.contains(name) else { throw .invalidParameter("AttributeName") }
        switch name {
        case "FilterPolicyScope":
            guard FilterPolicy.Scope(rawValue: value) != nil else {
                throw .invalidParameter(
                    "\(prefix)FilterPolicyScope: Invalid value [\(value)]. Please use either MessageBody or "
                        + "MessageAttributes"
                )
            }
        case "RawMessageDelivery":
            guard ["true", "false"].contains(value.lowercased()) else {
                throw .invalidParameter(
                    "\(prefix)RawMessageDelivery: Invalid value [\(value)]. Must be true or false."
                )
            }
        case "RedrivePolicy" where !value.isEmpty:
            do throws(RedrivePolicyFault) {
                _ = try RedrivePolicy(parsing: value)
            } catch {
                throw .invalidParameter("\(prefix)RedrivePolicy: \(error.problem)")
            }
        case "DeliveryPolicy" where !value.isEmpty:
            do throws(DeliveryPolicyFault) {
                _ = try DeliveryPolicy(parsing: value)
            } catch {
                throw .invalidParameter("\(prefix)DeliveryPolicy: \(error.problem)")
            }
        default: break
        }
    }
}

internal import Push
internal import SNS

/// What may be called without a signature: the links in messages to subscribers, who have no access key. What the links
/// name is known to nobody else. Source: Amazon SNS API reference, ConfirmSubscription and Unsubscribe.
enum UnsignedCall {
    /// Who calls then.
    static let name = "anonymous"

    private static let policy = AccessPolicy([
        AccessPolicy.Statement(actions: ["ConfirmSubscription", "Unsubscribe"], resources: ["*"])
    ])

    /// Nil for a request that has to be signed.
    static func principal(_ request: IncomingRequest, _ settings: GatewaySettings) -> Principal? {
        guard !settings.allowsAnonymous, request.header("authorization") == nil,
            !request.query.contains("X-Amz-Signature"),
            let parameters = try? Parameters(query: Array(request.query.utf8), body: request.formBody),
            let name = try? Action.name(parameters), [.confirmSubscription, .unsubscribe].contains(name)
        else { return nil }
        return Principal(arn: self.name, accessKeyID: nil, policy: self.policy)
    }
}

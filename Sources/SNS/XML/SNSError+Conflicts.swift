/// What is refused because of what is there already.
extension SNSError {
    /// An endpoint with this token is there with other attributes. Clients take the ARN out of this very sentence.
    package static func endpointConflict(_ existing: EndpointARN) -> Self {
        Self.invalidParameter(
            "Token",
            reason: "Endpoint \(existing) already exists with the same Token, but different attributes."
        )
    }

    /// All endpoints that could be made from the token are taken by endpoints whose token has changed since.
    package static let slotsTaken = Self.invalidParameter(
        "This endpoint is already registered with a different token."
    )

    package static let topicConflict = Self.invalidParameter(
        "Attributes",
        reason: "Topic already exists with different attributes"
    )

    package static let topicTagConflict = Self.invalidParameter(
        "Tags",
        reason: "Topic already exists with different tags"
    )

    package static let subscriptionConflict = Self.invalidParameter(
        "Attributes",
        reason: "Subscription already exists with different attributes"
    )

    /// Subscribe names an endpoint that is not there. Amazon's text has no space before the ARN.
    package static func noEndpointToSubscribe(_ endpoint: EndpointARN) -> Self {
        Self.invalidParameter("Endpoint", reason: "Endpoint does not exist for endpoint arn\(endpoint)")
    }

    package static let statementExists = Self.invalidParameter("Statement already exists")

    package static let tagLimit = SNSError(
        "TagLimitExceeded",
        "Could not complete request: tag quota of per resource exceeded"
    )

    /// Credentials that do not parse, or that Apple refuses.
    package static let badCredentials = Self.invalidParameter(
        "Attributes",
        reason: "Platform credentials are invalid"
    )

    /// An event attribute of an application names a topic that is not there.
    package static func noEventTopic(_ attribute: String) -> Self {
        Self.invalidParameter("Attributes", reason: "\(attribute) is not an existing Topic")
    }

    package static func invalidNextToken() -> Self { Self.invalidParameter("NextToken") }
}

/// An error as Amazon SNS answers it: clients assert on all four of its parts.
///
/// The code on the wire has no "Exception" suffix. Source: Amazon SNS API Reference, "Common Errors" and each action's
/// "Errors"; the texts as recorded against AWS.
package struct SNSError: Error, Equatable, Sendable {
    /// `Error.Code`, such as `InvalidParameter`.
    package let code: String

    /// The HTTP status.
    package let status: Int

    /// `Error.Message`, with its prefix.
    package let message: String

    /// Whether the caller is at fault: `Error.Type` is `Sender`, or else `Receiver`.
    package let isSender: Bool

    /// - Parameter isSender: nil for what follows from the status.
    package init(_ code: String, status: Int = 400, _ message: String, isSender: Bool? = nil) {
        self.code = code
        self.status = status
        self.message = message
        self.isSender = isSender ?? (status < 500)
    }
}

extension SNSError {
    // MARK: Parameters

    /// `Invalid parameter: ` and the text.
    package static func invalidParameter(_ text: String) -> Self {
        SNSError("InvalidParameter", "Invalid parameter: " + text)
    }

    /// `Invalid parameter: <name> Reason: <reason>`.
    package static func invalidParameter(_ name: String, reason: String) -> Self {
        Self.invalidParameter("\(name) Reason: \(reason)")
    }

    /// What is wrong with a message attribute.
    package static func invalidValue(_ message: String) -> Self { SNSError("ParameterValueInvalid", message) }

    /// A required member that did not come.
    ///
    /// - Parameter member: as the model names it, with a small first letter: `attributes`.
    package static func null(_ member: String) -> Self {
        SNSError(
            "ValidationError",
            "1 validation error detected: Value null at '\(member)' failed to satisfy constraint: Member must not be null"
        )
    }

    /// A required ARN that did not come.
    package static func noValue(_ name: String) -> Self {
        Self.invalidParameter(name, reason: "no value for required parameter")
    }

    // MARK: Requests

    package static func malformedInput(_ message: String) -> Self { SNSError("MalformedInput", message) }

    package static func malformedQuery(_ message: String) -> Self { SNSError("MalformedQueryString", message) }

    package static let missingAction = SNSError(
        "MissingAction",
        "The request is missing an action or a required parameter."
    )

    package static func invalidAction(_ name: String, version: String) -> Self {
        SNSError("InvalidAction", "Could not find operation \(name) for version \(version)")
    }

    // MARK: Things that are not there, or not to be used

    package static func notFound(_ message: String) -> Self { SNSError("NotFound", status: 404, message) }

    package static let noTopic = Self.notFound("Topic does not exist")
    package static let noApplication = Self.notFound("PlatformApplication does not exist")
    package static let noEndpoint = Self.notFound("Endpoint does not exist")
    package static let noSubscription = Self.notFound("Subscription does not exist")

    /// Of the tagging actions only.
    package static let noResource = SNSError("ResourceNotFound", status: 404, "Resource does not exist")

    package static let endpointDisabled = SNSError("EndpointDisabled", "Endpoint is disabled")

    package static let applicationDisabled = SNSError(
        "PlatformApplicationDisabled",
        "Platform application is disabled"
    )

    /// Publish to an endpoint that is not there; not `NotFound`.
    package static let noTarget = Self.invalidParameter(
        "TargetArn",
        reason: "No endpoint found for the target arn specified"
    )

    // MARK: The gateway's own condition

    package static func notAuthorized(_ user: String, action: String, resource: String) -> Self {
        SNSError(
            "AuthorizationError",
            status: 403,
            "User: \(user) is not authorized to perform: SNS:\(action) on resource: \(resource)"
        )
    }

    /// Too many calls. SDKs retry this code with this status in every mode; they do not retry `Throttled`.
    package static let throttling = SNSError("Throttling", "Rate exceeded")

    /// RabbitMQ or Redis is away. SDKs retry it.
    package static let unavailable = SNSError(
        "ServiceUnavailable",
        status: 503,
        "The request has failed due to a temporary failure of the server."
    )

    package static let internalFailure = SNSError(
        "InternalError",
        status: 500,
        "The request processing has failed because of an unknown error, exception or failure."
    )
}

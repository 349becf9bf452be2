/// Why a device did not get a push, as Amazon's events and delivery logs name it.
///
/// Source: Amazon SNS Developer Guide, "Application event notifications"; the sentences as consumers have recorded them.
package enum FailureType: String, CaseIterable, Sendable {
    case invalidPlatformToken = "InvalidPlatformToken"
    case invalidCredentials = "InvalidCredentials"
    case invalidNotification = "InvalidNotification"
    case throttled = "Throttled"
    case dependencyUnavailable = "DependencyUnavailable"
    case unexpectedFailure = "UnexpectedFailure"
    case timeToLiveExpired = "NotificationTTLExpired"
    case endpointDisabled = "EndpointDisabled"

    package var message: String {
        switch self {
        case .invalidPlatformToken: "Platform token associated with the endpoint is not valid"
        case .invalidCredentials: "Platform application credentials are not valid."
        case .invalidNotification: "Notification body is invalid"
        case .throttled: "Request throttled by [apns]."
        case .dependencyUnavailable: "Dependency is not available."
        case .unexpectedFailure: "Unexpected failure; please contact Amazon."
        case .timeToLiveExpired: "Notification TTL expired"
        case .endpointDisabled: "Endpoint is disabled"
        }
    }
}

internal import SNS

extension FailureType {
    /// Why a push was given up: by Apple's last reason, if it gave one that says it, or else by the fleet's.
    init(deadLetter report: TokenReport) {
        switch report.apnsReason {
        case "InvalidProviderToken", "ExpiredProviderToken", "MissingProviderToken", "BadCertificate",
            "BadCertificateEnvironment", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken":
            self = .invalidCredentials
        case "TooManyRequests", "TooManyProviderTokenUpdates": self = .throttled
        case "ServiceUnavailable", "Shutdown", "IdleTimeout": self = .dependencyUnavailable
        case "PayloadTooLarge", "PayloadEmpty", "BadCollapseId", "BadExpirationDate", "BadPriority", "InvalidPushType",
            "BadTopic", "MissingTopic":
            self = .invalidNotification
        default: self.init(reason: report.reason ?? "")
        }
    }

    /// - Parameter reason: of a dead letter, in the fleet's words.
    private init(reason: String) {
        switch reason {
        case "suspect_token": self = .invalidPlatformToken
        case "expired", "age_limit", "retry_limit": self = .timeToLiveExpired
        case "payload_too_large", "payload_lint", "invalid_field", "invalid_json": self = .invalidNotification
        default: self = .unexpectedFailure
        }
    }
}

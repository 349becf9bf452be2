internal import Foundation
internal import Push
internal import SNS

/// What happened to an endpoint, as Amazon tells it. Source: Amazon SNS Developer Guide, "Application event
/// notifications"; the members as received from Amazon.
struct EndpointEvent: Sendable, Equatable {
    enum Kind: String, Sendable {
        case created = "EndpointCreated"
        case updated = "EndpointUpdated"
        case deleted = "EndpointDeleted"
        case failure = "DeliveryFailure"

        /// The application's attribute that names the topic.
        var attribute: String { "Event\(self.rawValue)" }
    }

    let kind: Kind
    let endpoint: EndpointARN
    let time: UnixTime
    /// Attributes that were changed, or what failed.
    var details: [String: String] = [:]
    /// Of a failed delivery.
    var attempts: Int?

    var subject: String {
        let application = self.endpoint.application
        // Amazon's limit of a subject is 100 characters.
        return String(
            "\(self.kind.rawValue) event for app \(application.name) (\(application.platform.rawValue))".prefix(99)
        )
    }

    /// One JSON object.
    var message: String {
        var members: [String: Any] = self.details
        members["EndpointArn"] = self.endpoint.description
        members["EventType"] = self.kind.rawValue
        members["Resource"] = self.endpoint.application.description
        members["Service"] = "SNS"
        members["Time"] = ISOTime.text(self.time)
        if let attempts = self.attempts { members["DeliveryAttempts"] = attempts }
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: members, options: options) else {
            preconditionFailure("text and numbers are always JSON")
        }
        return String(decoding: data, as: UTF8.self)
    }
}

/// Why a push never arrived, in Amazon's words. Source: Amazon SNS Developer Guide, "Application event notifications".
enum DeliveryFailureType: String, Sendable {
    case invalidPlatformToken = "InvalidPlatformToken"
    case invalidCredentials = "InvalidCredentials"
    case invalidNotification = "InvalidNotification"
    case expired = "NotificationTTLExpired"
    case endpointDisabled = "EndpointDisabled"
    case unexpected = "UnexpectedFailure"

    /// - Parameter reason: of a dead letter, in the fleet's words.
    init(deadLetter reason: String) {
        switch reason {
        case "suspect_token": self = .invalidPlatformToken
        case "expired", "age_limit", "retry_limit": self = .expired
        case "payload_too_large", "invalid_payload", "payload_lint", "invalid_field", "invalid_json":
            self = .invalidNotification
        default: self = .unexpected
        }
    }

    var message: String {
        switch self {
        case .invalidPlatformToken: "Platform token associated with the endpoint is not valid"
        case .invalidCredentials: "Platform application credentials are not valid."
        case .invalidNotification: "Notification body is invalid"
        case .expired: "Notification TTL expired"
        case .endpointDisabled: "Endpoint is disabled"
        case .unexpected: "Unexpected failure"
        }
    }
}

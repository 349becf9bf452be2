package import Push

/// What happened at an endpoint, as it is published to the topic that the application names for it.
///
/// Source: Amazon SNS Developer Guide, "Application event notifications".
package struct ApplicationEvent: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case endpointCreated
        case endpointUpdated
        case endpointDeleted
        /// A push to the endpoint itself has failed for good.
        case deliveryFailure(FailureType, attempts: Int, messageID: UUID)

        /// The value of `EventType`.
        package var name: String {
            switch self {
            case .endpointCreated: "EndpointCreated"
            case .endpointUpdated: "EndpointUpdated"
            case .endpointDeleted: "EndpointDeleted"
            case .deliveryFailure: "DeliveryFailure"
            }
        }

        /// The application's attribute that names the topic.
        package var attribute: String { "Event\(self.name)" }
    }

    package let kind: Kind
    package let endpoint: EndpointARN
    package let time: UnixTime

    package init(_ kind: Kind, endpoint: EndpointARN, time: UnixTime) {
        self.kind = kind
        self.endpoint = endpoint
        self.time = time
    }

    /// The subject of the message.
    package var subject: String {
        let application = self.endpoint.application
        return "\(self.kind.name) event for app \(application.name) (\(application.platform.rawValue))"
    }

    /// The text of the message: a JSON object.
    package var message: String {
        var members: [(name: String, value: JSONMember)] = [
            ("EndpointArn", .text("\(self.endpoint)")),
            ("EventType", .text(self.kind.name)),
        ]
        if case .deliveryFailure(let type, let attempts, let messageID) = self.kind {
            members.insert(("DeliveryAttempts", .number(attempts)), at: 0)
            members.append(("FailureMessage", .text(type.message)))
            members.append(("FailureType", .text(type.rawValue)))
            members.append(("MessageId", .text("\(messageID)")))
        }
        members.append(("Resource", .text("\(self.endpoint.application)")))
        members.append(("Service", .text("SNS")))
        members.append(("Time", .text(self.time.iso8601)))
        return JSONMember.object(members).text
    }
}

extension UnixTime {
    /// `2025-09-30T11:31:53.650Z`.
    package var iso8601: String { "\(self.date)T\(self.ofDay)Z" }

    /// `2015-01-26 23:07:39.540`, as delivery logs have it.
    var logged: String { "\(self.date) \(self.ofDay)" }

    private var ofDay: String {
        let milliseconds = ((self.milliseconds % 86_400_000) + 86_400_000) % 86_400_000
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: count - digits.utf8.count) + digits
        }
        return padded(milliseconds / 3_600_000, 2) + ":" + padded(milliseconds / 60_000 % 60, 2) + ":"
            + padded(milliseconds / 1000 % 60, 2) + "." + padded(milliseconds % 1000, 3)
    }
}

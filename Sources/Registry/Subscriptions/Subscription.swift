/// Who is subscribed.
package enum Subscriber: Hashable, Sendable {
    /// Protocol `application`.
    case endpoint(EndpointName)
    /// Another protocol, such as `http` or `sqs`, and its endpoint.
    case other(protocol: String, endpoint: String)

    /// What the subscription's id derives from.
    var key: String {
        switch self {
        case .endpoint(let name): "application \(name)"
        case .other(let name, let endpoint): "\(name) \(endpoint)"
        }
    }
}

/// A subscription to a topic.
package struct Subscription: Hashable, Sendable {
    package var name: SubscriptionName
    /// As it is; also an endpoint that is no more.
    package var subscriber: Subscriber
    /// Only those that were set, such as `FilterPolicy`.
    package var attributes: [String: String]
    /// Of what has to be confirmed; nil for all others.
    package var confirmation: Confirmation?
}

/// How a subscriber said that it wants to be one.
package struct Confirmation: Hashable, Sendable {
    /// It has not yet.
    package var isPending: Bool
    /// By a signed call.
    package var wasAuthenticated: Bool
    /// Only signed calls may end the subscription.
    package var needsAuthentication: Bool
    /// Who subscribed, as an ARN.
    package var principal: String

    init?(_ attributes: [String: String]) {
        guard attributes[".token"] != nil else { return nil }
        self.isPending = attributes[".pending"] != nil
        self.wasAuthenticated = attributes[".authenticated"] == "1"
        self.needsAuthentication = attributes[".authenticates"] == "1"
        self.principal = attributes[".principal"] ?? ""
    }
}

/// What became of a subscription that was to be made.
package enum Subscribing: Hashable, Sendable {
    case created(ResourceID)
    /// It was there, and says the same of all that was given.
    case existing(ResourceID)
    /// It was there, and an attribute that was given is another one or new.
    case otherAttributes(ResourceID)
    case noTopic
    case noEndpoint
}

/// One subscriber of a topic as a publish to the topic needs it.
package struct Recipient: Hashable, Sendable {
    package var subscription: ResourceID
    package var subscriber: Destination
    package var filterPolicy: String?
    package var filterPolicyScope: String?
    /// Of who is no endpoint.
    package var delivery: Delivery?
    /// Whether the endpoint's application wants to know what became of pushes.
    package var isLogged = false

    /// How messages go to a subscriber that is no endpoint.
    package struct Delivery: Hashable, Sendable {
        /// Without Amazon's envelope.
        package var isRaw: Bool
        /// As JSON.
        package var redrivePolicy: String?
        /// As JSON.
        package var deliveryPolicy: String?
    }

    package enum Destination: Hashable, Sendable {
        case endpoint(PlatformEndpoint, isApplicationEnabled: Bool, fleetApp: String?)
        /// The endpoint was deleted.
        case dangling
        case other(protocol: String, endpoint: String)
    }
}

/// Part of a topic's subscribers, in the order of subscriptions.
package struct Recipients: Hashable, Sendable {
    package var recipients: [Recipient]
    package var topic = TopicDelivery()
    /// What to go on after; nil at the end. What is subscribed all the time comes exactly once.
    package var next: ResourceID?
}

/// What of a topic's attributes deliveries go by.
package struct TopicDelivery: Hashable, Sendable {
    package var signatureVersion: String?
    /// As JSON.
    package var deliveryPolicy: String?
    /// Whether the topic wants to know what became of pushes to its endpoints.
    package var isLogged = false

    package init() {}
}

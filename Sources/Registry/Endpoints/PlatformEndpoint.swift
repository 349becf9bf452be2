package import Push

/// One device's registration with a platform application.
package struct PlatformEndpoint: Hashable, Sendable {
    package var name: EndpointName
    package var token: EndpointToken
    package var isEnabled: Bool
    /// Amazon's `CustomUserData`.
    package var userData: String?
    /// Since when it has this token, or when it was last told that it still has; by Redis' clock.
    package var registeredAt: UnixTime
    /// Grows with every other token.
    package var generation: Int
    /// Whether another endpoint of the application had the same token at a time: publishing to many should look twice.
    package var mayShareToken: Bool
}

/// An endpoint to be made.
package struct NewEndpoint: Hashable, Sendable {
    package var application: ApplicationName
    package var token: EndpointToken
    /// Compared with what is there, also when it is missing.
    package var userData: String?
    /// Compared with what is there only if it is given; default true.
    package var isEnabled: Bool?
    /// The id that it gets if other endpoints were made with this token already, three of them, and have others now. Nil
    /// keeps to Amazon's three.
    package var spare: ResourceID?

    package init(
        _ application: ApplicationName,
        token: EndpointToken,
        userData: String? = nil,
        isEnabled: Bool? = nil
    ) {
        self.application = application
        self.token = token
        self.userData = userData
        self.isEnabled = isEnabled
    }
}

/// What became of an endpoint that was to be made.
package enum EndpointCreation: Hashable, Sendable {
    case created(ResourceID)
    /// It was there with the same attributes; nothing was written.
    case existing(ResourceID)
    /// Another one has the token, with other attributes.
    case conflict(ResourceID)
    /// All that could be made for this token are there, with other tokens by now.
    case slotsTaken
    case noApplication
}

/// What of an endpoint is to change; what is nil stays.
package struct EndpointChange: Hashable, Sendable {
    package var token: EndpointToken?
    package var isEnabled: Bool?
    package var userData: String?

    package init(token: EndpointToken? = nil, isEnabled: Bool? = nil, userData: String? = nil) {
        self.token = token
        self.isEnabled = isEnabled
        self.userData = userData
    }
}

/// What a message to one endpoint needs.
package struct EndpointTarget: Hashable, Sendable {
    package var endpoint: PlatformEndpoint
    package var isApplicationEnabled: Bool
    /// The app of the fleet that sends for it.
    package var fleetApp: String?
}

/// What a provider said of a token.
package struct TokenVerdict: Hashable, Sendable {
    package var application: ApplicationName
    package var token: EndpointToken
    /// The endpoint that was sent to; nil for whichever has the token.
    package var endpoint: ResourceID?
    /// The generation that was sent to; nil if it is not known.
    package var generation: Int?
    /// When the token had ceased to be valid, as Apple says; nil if it does not.
    package var invalidSince: UnixTime?

    package init(
        _ application: ApplicationName,
        token: EndpointToken,
        endpoint: ResourceID? = nil,
        generation: Int? = nil,
        invalidSince: UnixTime? = nil
    ) {
        self.application = application
        self.token = token
        self.endpoint = endpoint
        self.generation = generation
        self.invalidSince = invalidSince
    }
}

/// What became of an endpoint whose token a provider refused.
package enum Disabling: Hashable, Sendable {
    case disabled(ResourceID)
    case alreadyDisabled(ResourceID)
    /// It has another token by now, or was given this one anew.
    case otherToken(ResourceID)
    /// It was registered at or after the time that Apple names.
    case registeredLater(ResourceID)
    case noEndpoint
}

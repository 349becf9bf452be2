/// A platform application: `app/<platform>/<name>` of an ARN.
package struct ApplicationName: Hashable, Sendable, CustomStringConvertible {
    /// Such as `APNS` or `APNS_SANDBOX`.
    package let platform: String
    package let name: String

    package init(platform: String, name: String) {
        self.platform = platform
        self.name = name
    }

    /// - Parameter key: as in `description`; neither part holds a slash.
    init?(key: String) {
        guard let slash = key.firstIndex(of: "/") else { return nil }
        self.init(platform: String(key[..<slash]), name: String(key[key.index(after: slash)...]))
    }

    /// `<platform>/<name>`.
    package var description: String { "\(self.platform)/\(self.name)" }

    /// The ids that endpoints made with this token may have, the first that is free: Amazon's three.
    /// Source: seed documents of Amazon ("three endpoints starting with the same token").
    package func slots(for token: EndpointToken) -> [ResourceID] {
        (0..<3).map { ResourceID(naming: "\(self)|\(token.text)|\($0)") }
    }
}

/// An endpoint: `endpoint/<platform>/<name>/<id>` of an ARN.
package struct EndpointName: Hashable, Sendable, CustomStringConvertible {
    package let application: ApplicationName
    package let id: ResourceID

    package init(application: ApplicationName, id: ResourceID) {
        self.application = application
        self.id = id
    }

    package var description: String { "\(self.application)/\(self.id)" }
}

/// A subscription: `<topic>:<id>` of an ARN.
package struct SubscriptionName: Hashable, Sendable, CustomStringConvertible {
    package let topic: String
    package let id: ResourceID

    package init(topic: String, id: ResourceID) {
        self.topic = topic
        self.id = id
    }

    package var description: String { "\(self.topic):\(self.id)" }
}

package import Push

/// A platform application.
package struct PlatformApplication: Hashable, Sendable {
    package var name: ApplicationName
    /// As they were given; `Enabled` is always there. Never a credential.
    package var attributes: [String: String]
    /// The app of the fleet that sends for it; nil if none was given.
    package var fleetApp: String?
    package var createdAt: UnixTime
    /// How many endpoints it has.
    package var endpoints: Int

    package var isEnabled: Bool { self.attributes["Enabled"] != "false" }
}

/// The app of the fleet that sends for a platform application; both change in one step.
package struct FleetApp: Hashable, Sendable {
    /// Its id, as messages and queues name it.
    package var id: String
    /// Its settings as a JSON object, see ``StoredApps``; they name the credential by the app's id.
    package var settings: String
    /// Sealed with ``SealingKeys`` for the app's id; nil to leave what there is.
    package var credential: SealedCredential?

    package init(id: String, settings: String, credential: SealedCredential?) {
        self.id = id
        self.settings = settings
        self.credential = credential
    }
}

/// What became of an application that was to be made.
package enum ApplicationCreation: Hashable, Sendable {
    case created
    /// It was there; the attributes given were set, and the others kept.
    case existing
}

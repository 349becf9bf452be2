package import Push

/// What a fleet is configured to be, as far as the page shows it; no secrets.
package struct ConfiguredFleet: Sendable, Equatable {
    package struct App: Sendable, Equatable {
        package enum Origin: String, Sendable, Encodable {
            case file, redis
        }

        package var id: String
        package var origin: Origin
        package var credential: String
        /// Its keys in the configuration, with their values as text.
        package var settings: [String: String]
        /// What its workers check payloads by.
        package var fit = PayloadFit.reject
        package var lint = PayloadLint.Mode.off

        package init(id: String, origin: Origin, credential: String, settings: [String: String]) {
            self.id = id
            self.origin = origin
            self.credential = credential
            self.settings = settings
        }
    }

    package struct Credential: Sendable, Equatable {
        package enum Kind: String, Sendable, Encodable {
            case key, certificate
        }

        package var name: String
        package var kind: Kind
        /// `production` or `sandbox`.
        package var environment: String
        /// The budget that it uses.
        package var pool: String
        package var maxConnections: Int
        package var teamID: String?
        package var keyID: String?
        /// The certificate's.
        package var subject: String?
        /// When the certificate in the file ends.
        package var expiresAt: UnixTime?

        package init(name: String, kind: Kind, environment: String, pool: String, maxConnections: Int) {
            self.name = name
            self.kind = kind
            self.environment = environment
            self.pool = pool
            self.maxConnections = maxConnections
        }
    }

    /// Sorted by id.
    package var apps: [App]
    package var credentials: [Credential]
    /// The delay queues that there shall be.
    package var delays: [DelayLevel]
    /// Whether anything is written down for `find`.
    package var hasTrail: Bool

    package init(apps: [App] = [], credentials: [Credential] = [], delays: [DelayLevel] = [], hasTrail: Bool = true) {
        self.apps = apps
        self.credentials = credentials
        self.delays = delays
        self.hasTrail = hasTrail
    }

    var appIDs: [AppID] { self.apps.compactMap { AppID($0.id) } }

    func credential(_ name: String) -> Credential? { self.credentials.first { $0.name == name } }
}

/// One reason as `pushfleet explain` tells it.
package struct ExplainedReason: Sendable, Equatable {
    package enum Source: String, Sendable, Encodable {
        case apns
        case deadLetter = "dead_letter"
    }

    package let reason: String
    package let source: Source
    package let isBroadcast: Bool
    /// The HTTP status of an answer.
    package let status: Int?
    package let meaning: String
    package let nextStep: String
    /// What the fleet does by itself.
    package let handling: String

    package init(
        reason: String,
        source: Source,
        isBroadcast: Bool,
        status: Int?,
        meaning: String,
        nextStep: String,
        handling: String
    ) {
        self.reason = reason
        self.source = source
        self.isBroadcast = isBroadcast
        self.status = status
        self.meaning = meaning
        self.nextStep = nextStep
        self.handling = handling
    }
}

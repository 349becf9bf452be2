/// One of Apple's keys, the environment it is used in, and how many connections the whole fleet may hold with it.
package struct CredentialSettings: Sendable, Equatable {
    /// The operator's name for it; names its budget and its provider token in Redis.
    package var name: String
    package var environment: APNsEnvironment
    /// Ten characters, from Apple's membership page.
    package var teamID: String
    /// Ten characters, from the key's name `AuthKey_<key id>.p8`.
    package var keyID: String
    /// Path of the `.p8` file.
    package var keyFile: String
    /// Connections that all workers together may hold.
    package var maxConnections: Int
    /// Host and port other than Apple's, for a simulator or a proxy.
    package var host: String?
    package var port: UInt16?
    /// The host and port of channel management other than Apple's.
    package var channelHost: String?
    package var channelPort: UInt16?
    /// PEM file of the certificate authorities to trust; nil for the system's.
    package var caFile: String?

    package init(
        name: String,
        environment: APNsEnvironment,
        teamID: String,
        keyID: String,
        keyFile: String,
        maxConnections: Int
    ) {
        self.name = name
        self.environment = environment
        self.teamID = teamID
        self.keyID = keyID
        self.keyFile = keyFile
        self.maxConnections = maxConnections
    }

    /// Names the connection budget in Redis: what Apple counts connections by, whatever the operator calls it.
    package var pool: String { "\(self.environment.rawValue).\(self.teamID).\(self.keyID)" }
}

/// Which of Apple's two worlds a key and a token belong to. Source: Apple, "Sending notification requests to APNs".
package enum APNsEnvironment: String, Sendable, CaseIterable {
    case production
    case sandbox

    /// Apple's host, on port 443 or 2197.
    package var host: String {
        switch self {
        case .production: "api.push.apple.com"
        case .sandbox: "api.sandbox.push.apple.com"
        }
    }

    /// Apple's host for the management of broadcast channels. Source: Apple, "Sending channel management requests to
    /// APNs".
    package var channelHost: String {
        switch self {
        case .production: "api-manage-broadcast.push.apple.com"
        case .sandbox: "api-manage-broadcast.sandbox.push.apple.com"
        }
    }

    /// Its only port there.
    package var channelPort: UInt16 {
        switch self {
        case .production: 2196
        case .sandbox: 2195
        }
    }
}

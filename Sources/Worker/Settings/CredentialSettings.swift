package import Wire

/// How the fleet shows Apple who it is, in which environment, and how many connections it may hold so.
package struct CredentialSettings: Sendable, Equatable {
    /// What proves it.
    package enum Kind: Sendable, Equatable {
        /// A key that signs provider tokens.
        case token(SigningKeySettings)
        /// A certificate that is shown in the TLS handshake.
        case certificate(CertificateSettings)
    }

    /// The operator's name for it.
    package var name: String
    package var environment: APNsEnvironment
    package var kind: Kind
    /// Connections that all workers together may hold.
    package var maxConnections: Int
    /// Host and port other than Apple's, for a simulator or a proxy.
    package var host: String?
    package var port: UInt16?
    /// The host and port of channel management other than Apple's.
    package var channelHost: String?
    package var channelPort: UInt16?
    /// The host, port and budget that broadcasts have to themselves; nil if they share the connections of other pushes.
    package var broadcast: BroadcastHost?
    /// The name of the credential that this one is derived from, to carry its broadcasts; nil for the operator's own.
    package private(set) var broadcastsOf: String?
    /// PEM file of the certificate authorities to trust; nil for the system's.
    package var caFile: String?
    /// The HTTP proxy that connections go through.
    package var proxy: Proxy?

    package init(name: String, environment: APNsEnvironment, kind: Kind, maxConnections: Int) {
        self.name = name
        self.environment = environment
        self.kind = kind
        self.maxConnections = maxConnections
    }

    /// With a signing key.
    package init(
        name: String,
        environment: APNsEnvironment,
        teamID: String,
        keyID: String,
        keyFile: String,
        maxConnections: Int
    ) {
        let key = SigningKeySettings(teamID: teamID, keyID: keyID, file: keyFile)
        self.init(name: name, environment: environment, kind: .token(key), maxConnections: maxConnections)
    }

    /// Names the connection budget in Redis: what Apple counts connections by, whatever the operator calls it. A
    /// certificate that was renewed keeps its subject and so its budget.
    package var pool: String {
        let suffix = self.broadcastsOf == nil ? "" : Self.broadcastSuffix
        return switch self.kind {
        case .token(let key): "\(self.environment.rawValue).\(key.teamID).\(key.keyID)\(suffix)"
        case .certificate(let certificate):
            "\(self.environment.rawValue).\(certificate.subject ?? self.configuredName)\(suffix)"
        }
    }

    /// The files that prove it, to be read before it is loaded and to be watched for changes.
    package var files: [String] {
        switch self.kind {
        case .token(let key): [key.file]
        case .certificate(let certificate): certificate.files
        }
    }
}

/// Where broadcasts go if not where other pushes go, and with how many connections.
package struct BroadcastHost: Sendable, Equatable {
    /// Nil for the host of other pushes.
    package var host: String?
    /// Nil for the port of other pushes.
    package var port: UInt16?
    /// Connections that all workers together may hold there; default 1.
    package var connections = 1

    package init(host: String?, port: UInt16? = nil) {
        self.host = host
        self.port = port
    }
}

extension CredentialSettings {
    private static let broadcastSuffix = ".broadcast"

    /// The same proof with a host and a budget of its own, which everything but the choice of a sender treats as one
    /// more credential; nil if broadcasts share the connections of other pushes.
    package var forBroadcasts: CredentialSettings? {
        guard let broadcast = self.broadcast else { return nil }
        var own = self
        own.broadcast = nil
        own.broadcastsOf = self.name
        own.name += Self.broadcastSuffix
        own.host = broadcast.host ?? self.host
        own.port = broadcast.port ?? self.port
        own.maxConnections = broadcast.connections
        return own
    }

    /// The operator's name for it, under which its keys stand in the configuration.
    package var configuredName: String { self.broadcastsOf ?? self.name }
}

/// One of Apple's keys.
package struct SigningKeySettings: Sendable, Equatable {
    /// Ten characters, from Apple's membership page.
    package var teamID: String
    /// Ten characters, from the key's name `AuthKey_<key id>.p8`.
    package var keyID: String
    /// Path of the `.p8` file.
    package var file: String

    package init(teamID: String, keyID: String, file: String) {
        self.teamID = teamID
        self.keyID = keyID
        self.file = file
    }
}

/// One of Apple's certificates for providers, with its private key.
package struct CertificateSettings: Sendable, Equatable {
    package enum Source: Sendable, Equatable {
        /// The certificate and its chain; the key is in the same file if none is named for it.
        case pem(certificate: String, privateKey: String?)
        case pkcs12(String)
    }

    package enum Passphrase: Sendable, Equatable {
        /// A secret, never logged.
        case text(String)
        /// The first line of a file.
        case file(String)
    }

    package var source: Source
    package var passphrase: Passphrase?
    /// The UID of the certificate's subject; known once it has been loaded.
    package var subject: String?

    package init(source: Source, passphrase: Passphrase? = nil, subject: String? = nil) {
        self.source = source
        self.passphrase = passphrase
        self.subject = subject
    }

    /// The file with the certificate in it.
    package var file: String {
        switch self.source {
        case .pem(let certificate, _): certificate
        case .pkcs12(let file): file
        }
    }

    /// All files that it is made of.
    package var files: [String] {
        var files = [self.file]
        if case .pem(_, let key?) = self.source { files.append(key) }
        if case .file(let file)? = self.passphrase { files.append(file) }
        return files
    }
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

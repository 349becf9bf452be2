internal import APNs
internal import Push
internal import Registry
internal import SNS
internal import Wire

/// Makes an app of the fleet out of a platform application's credentials: sealed, and with the settings that workers
/// take up.
struct ApplicationDesk: Sendable {
    private let settings: GatewaySettings

    init(_ settings: GatewaySettings) {
        self.settings = settings
    }

    func fleetApp(_ arn: ApplicationARN, _ credentials: PlatformCredentials) throws(SNSError) -> FleetApp {
        guard let keys = self.settings.masterKeys else {
            throw .invalidParameter(
                "Attributes",
                reason: "This gateway takes no credentials: it has no redis.master_key_file"
            )
        }
        let app = arn.appID.name
        let environment = arn.platform.isSandbox ? "sandbox" : "production"
        let bundleID: String
        var stored: StoredCredential
        switch credentials {
        case .token(let keyID, let key, let teamID, let bundle):
            bundleID = bundle
            stored = StoredCredential(
                environment: environment,
                proof: .token(teamID: teamID, keyID: keyID, key: key)
            )
        case .certificate(let certificate, let key):
            bundleID = try Self.bundleID(certificate, key, isSandbox: arn.platform.isSandbox)
            stored = StoredCredential(
                environment: environment,
                proof: .certificate(certificate, privateKey: key)
            )
        }
        stored.maxConnections = self.settings.apns.maxConnections
        stored.host = self.settings.apns.host
        stored.port = self.settings.apns.port.map(Int.init)
        stored.caFile = self.settings.apns.caFile
        // Both are made of letters, digits and harmless signs.
        let settings = #"{"bundle_id":"\#(bundleID)","credential":"\#(app)"}"#
        return FleetApp(
            id: app,
            settings: settings,
            credential: keys.seal(stored, for: app)
        )
    }

    /// The last moment of a certificate; nil for a signing key.
    func expiry(of credentials: PlatformCredentials) -> UnixTime? {
        guard case .certificate(let pem, let key) = credentials else { return nil }
        return (try? TLSIdentity(pem: Array(pem.utf8), privateKey: Array(key.utf8)))?.certificate.notAfter
    }

    /// The app that a certificate is for.
    private static func bundleID(_ pem: String, _ key: String, isSandbox: Bool) throws(SNSError) -> String {
        guard let identity = try? TLSIdentity(pem: Array(pem.utf8), privateKey: Array(key.utf8)),
            let certificate = ClientCertificate(identity.certificate),
            isSandbox ? certificate.allowsSandbox : certificate.allowsProduction,
            Topic.isValid(certificate.subject)
        else { throw .badCredentials }
        return certificate.subject
    }
}

internal import Loop
internal import Registry
internal import Store
internal import Worker

/// The credential that an app in Redis brings along, named like the app: to be sealed now, or as it rests there. Does no
/// I/O.
struct OwnCredential {
    /// What the app is checked with.
    private(set) var checked = AppCredentials()
    /// To be written; nil if Redis has it already.
    private(set) var sealed: String?
    /// What is sealed, without the secret: `sandbox key KEY1234567 of team TEAM123456`. Nil for none.
    private(set) var shown: String?
    /// What the file says of it and a sealed one cannot say.
    private(set) var leftBehind: [String] = []

    /// None: the app uses one of the file's.
    init() {}

    /// - Parameters:
    ///   - given: what is to be sealed, with the content of its files; nil to go on with what rests in Redis.
    ///   - resting: what rests there for the app, sealed; nil if nothing does, or nobody looked.
    init(
        of app: String,
        given: (settings: CredentialSettings, files: CredentialFiles)?,
        resting: String?,
        _ loaded: LoadedConfiguration
    ) throws(VerbFailure) {
        guard let keys = loaded.masterKeys else {
            throw VerbFailure(
                "the credential of \(app) is its own, and there is no master key to seal or open it with: set "
                    + "redis.master_key_file to the file that workers and gateways have, made by openssl rand -base64 32",
                code: VerbFailure.configuration
            )
        }
        if let given {
            let credential = try Self.stored(given.settings, given.files)
            self.shown = "\(credential)"
            self.leftBehind = Self.leftBehind(given.settings)
            // Sealing differs each time; what is the same under the same key stays.
            let isThere = resting.map { text in
                text.hasPrefix("v1 \(keys.ids[0]) ")
                    && (try? keys.open(SealedCredential(text: text), for: app)) == credential
            }
            if isThere != true { self.sealed = keys.seal(credential, for: app).text }
        }
        guard let text = self.sealed ?? resting else {
            throw VerbFailure("\(app) has no credential of its own in Redis: give it one of the file's with --seal")
        }
        var stored = StoredApps(values: [app: "{}"])
        stored.credentials = [app: text]
        self.checked.take(stored, keys: keys, file: loaded.settings.credentials, at: WallClock.now())
    }

    /// The content of files in place of their names.
    private static func stored(
        _ settings: CredentialSettings,
        _ files: CredentialFiles
    ) throws(VerbFailure) -> StoredCredential {
        func text(_ path: String) -> String { String(decoding: files[path], as: UTF8.self) }
        func refusal(_ what: String, _ fix: String) -> VerbFailure {
            VerbFailure(
                "credentials.\(settings.name) cannot be sealed: \(what); \(fix)",
                code: VerbFailure.configuration
            )
        }
        let proof: StoredCredential.Proof
        switch settings.kind {
        case .token(let key): proof = .token(teamID: key.teamID, keyID: key.keyID, key: text(key.file))
        case .certificate(let certificate):
            guard case .pem(let file, let key) = certificate.source else {
                throw refusal(
                    "it is PKCS #12, and only PEM can be",
                    "make that with openssl pkcs12 -nodes -in \(certificate.file), and name it as certificate_file"
                )
            }
            guard certificate.passphrase == nil else {
                throw refusal(
                    "its key has a passphrase, and only one without can be",
                    "write it without, by openssl pkey, and leave out passphrase and passphrase_file"
                )
            }
            proof = .certificate(text(file), privateKey: text(key ?? file))
        }
        var stored = StoredCredential(environment: settings.environment.rawValue, proof: proof)
        stored.maxConnections = settings.maxConnections
        stored.host = settings.host
        stored.port = settings.port.map(Int.init)
        stored.caFile = settings.caFile
        return stored
    }

    private static func leftBehind(_ settings: CredentialSettings) -> [String] {
        var keys: [String] = []
        if settings.proxy != nil { keys.append("proxy") }
        if settings.channelHost != nil || settings.channelPort != nil { keys.append("the host of channels") }
        if settings.broadcast != nil { keys.append("the host of broadcasts") }
        return keys
    }
}

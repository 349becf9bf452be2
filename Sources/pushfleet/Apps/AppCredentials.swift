internal import Push
internal import Registry
internal import Store
internal import Worker

/// The credentials that apps in Redis bring along: opened, checked, and one for each budget. Does no I/O.
///
/// Apps with the same key share one credential and so one budget, with one of the file if that has the same. One that
/// cannot be opened is refused alone; if it was good before, that goes on.
struct AppCredentials {
    private struct Opened {
        let text: String
        /// The last good one.
        var credential: LoadedCredential?
        var fault: String?
    }

    private var opened: [String: Opened] = [:]
    private var keys: SealingKeys?
    /// One for each budget, named by it.
    private(set) var loaded: [LoadedCredential] = []
    /// What stands for the credential that an app names: one of these, or of the file.
    private(set) var names: [String: String] = [:]
    /// Why a credential cannot be used as it stands in Redis.
    private(set) var faults: [String: String] = [:]
    /// Those whose content is another one than before.
    private(set) var swapped: [LoadedCredential] = []

    /// Connections that all workers may hold with a credential that does not say.
    static let standardConnections = 10

    /// - Parameters:
    ///   - stored: what Redis says; nil if it has not answered yet.
    ///   - file: those of the file, which go first.
    /// - Returns: whether apps are to be judged anew.
    @discardableResult
    mutating func take(
        _ stored: StoredApps?,
        keys: SealingKeys?,
        file: [CredentialSettings],
        at now: UnixTime
    ) -> Bool {
        self.swapped = []
        guard let stored else { return false }
        let (names, faults) = (self.names, self.faults)
        // Keys that came or went may open what others did not.
        let isAnew = keys?.ids != self.keys?.ids
        self.keys = keys
        // What Redis has lost stays, as its app does.
        self.opened = self.opened.filter { name, _ in
            stored.values[name] == nil ? !stored.removed.contains(name) : stored.credentials[name] != nil
        }
        for (name, text) in stored.credentials where stored.values[name] != nil {
            if let known = self.opened[name], known.text == text, known.fault == nil || !isAnew { continue }
            var entry = Opened(text: text, credential: self.opened[name]?.credential)
            do throws(Refusal) {
                entry.credential = try self.open(name, text, at: now)
            } catch {
                entry.fault = error.text
            }
            self.opened[name] = entry
        }
        self.share(with: file)
        return names != self.names || faults != self.faults || !self.swapped.isEmpty
    }

    private mutating func share(with file: [CredentialSettings]) {
        let before = self.loaded
        self.names = [:]
        self.faults = self.opened.compactMapValues(\.fault)
        var chosen: [String: (source: String, credential: LoadedCredential)] = [:]
        let own = file.filter { $0.broadcastsOf == nil }
        for (name, entry) in self.opened.sorted(by: { $0.key < $1.key }) {
            // A name means what the file says, if it says something.
            guard let credential = entry.credential, !own.contains(where: { $0.name == name }) else { continue }
            if let same = own.first(where: { $0.pool == credential.settings.pool }) {
                self.names[name] = same.name
                continue
            }
            self.names[name] = credential.settings.name
            let other = chosen[credential.settings.name]?.credential
            // Of two certificates for the same the one that ends later.
            guard other == nil || (other?.expiresAt).map({ $0 < credential.expiresAt ?? $0 }) ?? false else { continue }
            chosen[credential.settings.name] = (name, credential)
        }
        self.loaded = chosen.sorted { $0.key < $1.key }.map(\.value.credential)
        self.swapped = self.loaded.filter { credential in
            // Loaded anew, since a change of the text is the only reason to.
            before.contains { $0.settings.name == credential.settings.name && $0.tls !== credential.tls }
        }
    }

    // MARK: Opening

    private struct Refusal: Error {
        let text: String
    }

    private func open(_ name: String, _ text: String, at now: UnixTime) throws(Refusal) -> LoadedCredential {
        guard let keys else {
            throw Refusal(
                text: "is sealed in Redis, and this process has no master key to open it; set redis.master_key_file"
            )
        }
        let credential: StoredCredential
        do throws(SealingFault) {
            credential = try keys.open(SealedCredential(text: text), for: name)
        } catch {
            throw Refusal(text: "\(error)")
        }
        let (settings, files) = try Self.settings(credential)
        do throws(CredentialFault) {
            let loaded = try LoadedCredential(settings, files: files, at: now)
            // Named by what its budget is called, which of a certificate is known only now.
            var named = loaded.settings
            named.name = "redis.\(named.pool)"
            return try LoadedCredential(named, files: files, at: now)
        } catch {
            throw Refusal(text: "is sealed in Redis and cannot be used: \(error.problem)")
        }
    }

    /// What the credential would be in the file. Its files have names that only say where they come from.
    private static func settings(
        _ credential: StoredCredential
    ) throws(Refusal) -> (CredentialSettings, CredentialFiles) {
        guard let environment = APNsEnvironment(rawValue: credential.environment) else {
            throw Refusal(text: "is sealed in Redis with an environment that does not exist")
        }
        let kind: CredentialSettings.Kind
        let files: CredentialFiles
        switch credential.proof {
        case .token(let teamID, let keyID, let key):
            kind = .token(SigningKeySettings(teamID: teamID, keyID: keyID, file: "its key"))
            files = CredentialFiles(["its key": Array(key.utf8)])
        case .certificate(let certificate, let privateKey):
            let source = CertificateSettings.Source.pem(certificate: "its certificate", privateKey: "its key")
            kind = .certificate(CertificateSettings(source: source))
            files = CredentialFiles(["its certificate": Array(certificate.utf8), "its key": Array(privateKey.utf8)])
        }
        var settings = CredentialSettings(
            name: "redis",
            environment: environment,
            kind: kind,
            maxConnections: min(max(credential.maxConnections ?? Self.standardConnections, 1), 1000)
        )
        settings.host = credential.host
        settings.port = credential.port.flatMap { UInt16(exactly: $0) }
        settings.caFile = credential.caFile
        return (settings, files)
    }
}

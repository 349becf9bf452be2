internal import Foundation
internal import Loop
internal import Worker

/// Rules about the files that the configuration names.
struct FileChecks {
    let values: SettingValues
    private(set) var problems: [ConfigurationProblem] = []
    /// What could be loaded.
    private(set) var credentials: [LoadedCredential] = []

    init(values: SettingValues) {
        self.values = values
    }

    /// Certificates of the servers.
    mutating func checkServers(_ settings: FleetSettings) {
        self.checkCertificates(settings.amqp.caFile, ["amqp", "ca_file"])
        self.checkCertificates(settings.redis.caFile, ["redis", "ca_file"])
    }

    /// Keys and certificates of one credential.
    /// - Parameter needsKeys: whether the verb needs a signing key's file. Certificates are always read, since they say
    ///   what their budget is called.
    mutating func checkCredential(_ credential: CredentialSettings, needsKeys: Bool) {
        if case .token = credential.kind, !needsKeys { return }
        self.checkCertificates(credential.caFile, ["credentials", credential.name, "ca_file"])
        guard !self.problems.contains(where: { $0.key == "credentials.\(credential.name).ca_file" }) else { return }
        do throws(CredentialFault) {
            self.credentials.append(try LoadedCredential.load(credential, at: WallClock.now()))
        } catch {
            return self.report(["credentials", credential.name, error.field], error.problem)
        }
        for (file, field) in credential.secretFiles {
            self.checkMode(of: file, ["credentials", credential.name], field)
        }
    }

    /// Whether the certificates are for the apps that use them, and each is there once.
    mutating func checkApps(_ settings: FleetSettings) {
        for app in settings.apps {
            let credential = self.credentials.first { $0.settings.name == app.credential }
            guard let refusal = credential?.refusal(for: app) else { continue }
            self.report(["apps", app.id, "credential"], refusal)
        }
        var pools: [String: String] = [:]
        for credential in self.credentials.map(\.settings) {
            guard case .certificate(let certificate) = credential.kind else { continue }
            guard let other = pools.updateValue(credential.name, forKey: credential.pool) else { continue }
            self.report(
                ["credentials", credential.name, certificate.field],
                "is for \(certificate.subject ?? "") as credentials.\(other) is; a certificate's subject has one "
                    + "budget, so let the apps share one"
            )
        }
        for credential in self.credentials.map(\.settings) {
            guard let own = credential.forBroadcasts, let other = pools[own.pool] else { continue }
            self.report(
                ["credentials", credential.name, "broadcast_host"],
                "makes a budget called \(own.pool), and that is the one of credentials.\(other); leave it out"
            )
        }
    }

    private mutating func checkMode(of file: String, _ path: [String], _ field: String) {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        )
        guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue, mode & 0o004 != 0 else { return }
        self.report(
            path + [field],
            "\(file) can be read by everyone on this machine; run chmod o-rwx on it",
            .warning
        )
    }

    private mutating func checkCertificates(_ file: String?, _ path: [String]) {
        guard let file, let text = self.read(file, path) else { return }
        guard !text.contains("-----BEGIN CERTIFICATE-----") else { return }
        self.report(path, "\(file) holds no certificate in PEM; it must have -----BEGIN CERTIFICATE----- in it")
    }

    private mutating func read(_ file: String, _ path: [String]) -> String? {
        do {
            return try ConfigurationLoader.read(file)
        } catch {
            self.report(path, "\(file) \(error.phrase)")
            return nil
        }
    }

    private mutating func report(
        _ path: [String],
        _ text: String,
        _ severity: ConfigurationProblem.Severity = .error
    ) {
        self.problems.append(self.values.problem(at: path, text, severity))
    }
}

internal import APNs
internal import Foundation
internal import Worker

/// Rules about the files that the configuration names.
struct FileChecks {
    let values: SettingValues
    private(set) var problems: [ConfigurationProblem] = []

    init(values: SettingValues) {
        self.values = values
    }

    /// Certificates of the servers.
    mutating func checkServers(_ settings: FleetSettings) {
        self.checkCertificates(settings.amqp.caFile, ["amqp", "ca_file"])
        self.checkCertificates(settings.redis.caFile, ["redis", "ca_file"])
    }

    /// Keys and certificates of one credential.
    mutating func checkCredential(_ credential: CredentialSettings) {
        self.checkCertificates(credential.caFile, ["credentials", credential.name, "ca_file"])
        let path = ["credentials", credential.name, "key_file"]
        guard let pem = self.read(credential.keyFile, path) else { return }
        do throws(InvalidSigningKey) {
            _ = try ProviderTokenSigner(keyID: credential.keyID, teamID: credential.teamID, pem: pem)
        } catch {
            self.report(
                path,
                "\(credential.keyFile) is not a P-256 private key in PEM; use the AuthKey_\(credential.keyID).p8 file "
                    + "as it came from Apple"
            )
            return
        }
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: credential.keyFile).resolvingSymlinksInPath().path
        )
        if let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue, mode & 0o004 != 0 {
            self.report(
                path,
                "\(credential.keyFile) can be read by everyone on this machine; run chmod o-rwx on it",
                .warning
            )
        }
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

internal import APNs
internal import Desk
internal import Loop
internal import Push
internal import Worker

/// What reading the configuration has to say, as findings.
enum ConfigurationCheckup {
    static func findings(_ loaded: LoadedConfiguration) -> [Finding] {
        var findings = loaded.problems.map { problem in
            let key = problem.key.map { "\($0): " } ?? ""
            let line = problem.line.map { " (line \($0))" } ?? ""
            return Finding(
                "config",
                problem.severity == .error ? .fail : .warn,
                "\(problem.place): \(key)\(problem.text)\(line)"
            )
        }
        if loaded.errors.isEmpty {
            let settings = loaded.settings
            findings.append(
                Finding(
                    "config",
                    .ok,
                    "\(loaded.file ?? ""): \(Self.count(settings.apps.count, "app")), "
                        + Self.count(settings.credentials.count { $0.broadcastsOf == nil }, "credential")
                )
            )
        }
        findings += loaded.credentials.filter { $0.settings.broadcastsOf == nil }.map {
            Self.finding($0, at: WallClock.now())
        }
        return findings
    }

    /// The apps in Redis; nothing if there is none.
    static func findings(stored fleet: FleetConfiguration) -> [Finding] {
        let subject = "redis apps"
        if let failure = fleet.failure {
            return [Finding(subject, .warn, "not known, so that only those of the file are checked: \(failure)")]
        }
        let problems = fleet.problems.map { problem in
            let key = problem.key.map { "\($0): " } ?? ""
            return Finding(subject, problem.severity == .error ? .fail : .warn, key + problem.text)
        }
        let sound = fleet.stored.count { $0.errors.isEmpty }
        return problems + (sound == 0 ? [] : [Finding(subject, .ok, "\(Self.count(sound, "app")) can be used")])
    }

    static func finding(_ credential: LoadedCredential, at now: UnixTime) -> Finding {
        let subject = "key \(credential.settings.name)"
        let file = credential.settings.files.first ?? ""
        guard case .certificate(let certificate) = credential.kind else {
            return Finding(subject, .ok, "\(file) holds a P-256 key")
        }
        let text =
            "\(file) holds a certificate for \(certificate.topics.map(\.name).joined(separator: ", ")) until "
            + certificate.notAfter.date
        guard CertificateExpiry.isNear(certificate.notAfter, at: now) else { return Finding(subject, .ok, text) }
        let days = CertificateExpiry.days(to: certificate.notAfter, at: now)
        return Finding(
            subject,
            .warn,
            "\(text): \(Self.count(days, "day")) from now",
            fix: "renew it at https://developer.apple.com/account and put the new one in its place"
        )
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

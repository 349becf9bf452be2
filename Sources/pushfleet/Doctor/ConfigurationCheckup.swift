internal import Desk
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
                        + Self.count(settings.credentials.count, "credential")
                )
            )
        }
        let faulty = Set(loaded.errors.compactMap(\.key))
        for credential in loaded.settings.credentials
        where !faulty.contains("credentials.\(credential.name).key_file") {
            findings.append(Finding("key \(credential.name)", .ok, "\(credential.keyFile) holds a P-256 key"))
        }
        return findings
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

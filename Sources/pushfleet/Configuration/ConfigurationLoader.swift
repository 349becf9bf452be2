internal import Dashboard
internal import Foundation
internal import Gateway
internal import Registry
internal import Worker

/// The configuration as read: settings to work with, values to show, and everything that is wrong with it.
struct LoadedConfiguration {
    /// The file that was read; nil if there is none.
    let file: String?
    /// Usable if `errors` is empty. Otherwise what could be made of it, for those who look further.
    var settings: FleetSettings
    /// What the gateway goes by; its secrets only if the verb needs them.
    var gateway = GatewaySettings()
    /// What the dashboard goes by; its users only if the verb needs them.
    var dashboard = DashboardSettings()
    /// The file that these users stand in.
    var tokensFile: String?
    /// What could be read of the credentials' files, if the verb needs them.
    var credentials: [LoadedCredential] = []
    /// What opens credentials in Redis; nil if there is none.
    var masterKeys: SealingKeys?
    /// One of the words that `log.level` allows.
    let logLevel: String
    let effective: [EffectiveValue]
    var problems: [ConfigurationProblem]

    var errors: [ConfigurationProblem] { self.problems.filter { $0.severity == .error } }
    var warnings: [ConfigurationProblem] { self.problems.filter { $0.severity == .warning } }
}

/// Reads the configuration: environment over file over default.
struct ConfigurationLoader {
    /// What a verb needs beyond the file itself, and so what is checked.
    struct Needs: OptionSet {
        let rawValue: Int
        /// RabbitMQ's and Redis' URL and certificates.
        static let servers = Needs(rawValue: 1)
        /// Apple's keys.
        static let keys = Needs(rawValue: 2)
        /// Access keys and the gateway's certificate.
        static let gateway = Needs(rawValue: 4)
        /// The dashboard's users and its certificate.
        static let dashboard = Needs(rawValue: 8)
    }

    static let standardPath = "/etc/pushfleet/pushfleet.yaml"

    var environment = ProcessInfo.processInfo.environment
    var standardPath = Self.standardPath

    /// The file to read: the option's, else `PUSHFLEET_CONFIG`, else the standard one if it exists.
    func path(option: String?) -> String? {
        if let option { return option }
        if let variable = self.environment["PUSHFLEET_CONFIG"], !variable.isEmpty { return variable }
        return FileManager.default.fileExists(atPath: self.standardPath) ? self.standardPath : nil
    }

    /// Reads and checks everything, and tells all problems at once.
    func load(option: String?, needs: Needs) -> LoadedConfiguration {
        let path = self.path(option: option)
        guard let path else {
            let problem = ConfigurationProblem(
                place: self.standardPath,
                text: "is not there; name a file with --config or PUSHFLEET_CONFIG, "
                    + "deploy/pushfleet.example.yaml is one to start from"
            )
            return self.load(ConfigurationFile(empty: self.standardPath), path: nil, needs: [], problems: [problem])
        }
        do throws(ValueFault) {
            let text = try Self.read(path)
            return self.load(ConfigurationFile(text: text, name: path), path: path, needs: needs, problems: [])
        } catch {
            let problem = ConfigurationProblem(place: path, text: error.phrase)
            return self.load(ConfigurationFile(empty: path), path: path, needs: [], problems: [problem])
        }
    }

    /// Like `load`, but throws when there are errors.
    func require(option: String?, needs: Needs) throws(ConfigurationFailure) -> LoadedConfiguration {
        let loaded = self.load(option: option, needs: needs)
        guard loaded.errors.isEmpty else { throw ConfigurationFailure(problems: loaded.problems) }
        return loaded
    }

    private func load(
        _ file: ConfigurationFile,
        path: String?,
        needs: Needs,
        problems earlier: [ConfigurationProblem]
    ) -> LoadedConfiguration {
        let values = SettingValues(file: file, environment: self.environment)
        var problems = earlier
        var credentials: [LoadedCredential] = []
        let amqpURL = Self.url(values, "amqp", needs: needs, problems: &problems)
        let redisURL = Self.url(values, "redis", needs: needs, problems: &problems)
        let masterKeys = Self.masterKeys(values, needs: needs, problems: &problems)
        var settings = values.fleetSettings(
            credentials: (file.names["credentials"] ?? []).map(\.name),
            apps: (file.names["apps"] ?? []).map(\.name),
            amqpURL: amqpURL,
            redisURL: redisURL,
            problems: &problems
        )
        for index in settings.credentials.indices {
            settings.credentials[index].proxy = Self.proxy(
                values,
                settings.credentials[index].name,
                readsFiles: needs.contains(.keys),
                problems: &problems
            )
        }
        let gateway = GatewayConfiguration(values, file, needs: needs)
        let dashboard = DashboardConfiguration(values, file, needs: needs)
        if earlier.isEmpty && file.problems.allSatisfy({ $0.key != nil }) {
            problems = file.problems + values.problems + problems
            var checks = SettingChecks(values: values, file: file)
            checks.run(settings)
            var kinds = CredentialChecks(values: values)
            for name in file.names["credentials"] ?? [] { kinds.check(name.name) }
            var files = FileChecks(values: values)
            if needs.contains(.servers) { files.checkServers(settings) }
            if needs.contains(.keys) || needs.contains(.servers) {
                for credential in settings.credentials where kinds.isSound(credential.name) {
                    files.checkCredential(credential, needsKeys: needs.contains(.keys))
                }
                files.checkApps(settings)
                credentials = files.credentials
                settings.credentials = settings.credentials.map { given in
                    credentials.first { $0.settings.name == given.name }?.settings ?? given
                }
            }
            problems += checks.problems + kinds.problems + files.problems + gateway.problems
            problems += dashboard.problems
        } else {
            // A file that cannot be read makes everything else look missing.
            problems = earlier + file.problems
        }
        settings.deriveBroadcastCredentials()
        return LoadedConfiguration(
            file: path,
            settings: settings,
            gateway: gateway.settings,
            dashboard: dashboard.settings,
            tokensFile: dashboard.tokensFile,
            credentials: credentials.flatMap { [$0] + ($0.forBroadcasts.map { [$0] } ?? []) },
            masterKeys: masterKeys,
            logLevel: values.text("log", "level") ?? "info",
            effective: values.effective,
            problems: problems
        )
    }

    /// The URL of a server: given, or in a file. Empty if there is none.
    private static func url(
        _ values: SettingValues,
        _ server: String,
        needs: Needs,
        problems: inout [ConfigurationProblem]
    ) -> String {
        let path = [server, "url"]
        let filePath = [server, "url_file"]
        func report(_ path: [String], _ text: String) {
            problems.append(
                ConfigurationProblem(
                    place: values.place(of: path),
                    key: path.joined(separator: "."),
                    text: text,
                    line: values.line(of: path)
                )
            )
        }
        let hasURL = values.origin(of: path) != .unset
        guard values.origin(of: filePath) != .unset, let file = values.text(server, "url_file") else {
            if !hasURL, needs.contains(.servers) {
                report(path, "is missing; write \(server)://user:password@host, or name a file that holds it")
            }
            return values.text(server, "url") ?? ""
        }
        if hasURL {
            // Whoever sets one in the environment means it instead of the other one in the file.
            let isFileFirst = values.origin(of: filePath) != .file && values.origin(of: path) == .file
            let isURLFirst = values.origin(of: filePath) == .file && values.origin(of: path) != .file
            if isURLFirst { return values.text(server, "url") ?? "" }
            guard isFileFirst else {
                report(filePath, "stands beside \(server).url; keep one of them")
                return ""
            }
        }
        guard needs.contains(.servers) else { return "" }
        do throws(ValueFault) {
            let text = try Self.read(file).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let key = SettingsTable.key(at: path), case .text(let url) = try key.parse(text) else { return "" }
            return url
        } catch {
            report(
                filePath,
                error.phrase.hasPrefix("cannot") ? "\(file) \(error.phrase)" : "the URL in \(file) \(error.phrase)"
            )
            return ""
        }
    }

    /// The text of a file.
    static func read(_ file: String) throws(ValueFault) -> String {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            throw ValueFault(phrase: "cannot be read: there is no such file")
        }
        guard !isDirectory.boolValue else { throw ValueFault(phrase: "cannot be read: it is a directory") }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ValueFault(phrase: "cannot be read by this user; check its owner and mode")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ValueFault(phrase: "cannot be read: it is not UTF-8 text")
        }
        return text
    }
}

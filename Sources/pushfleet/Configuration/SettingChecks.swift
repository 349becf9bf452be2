internal import Broker
internal import Push
internal import Store
internal import Wire
internal import Worker

/// Rules between values, and rules about names. Reads no files.
struct SettingChecks {
    let values: SettingValues
    let file: ConfigurationFile
    private(set) var problems: [ConfigurationProblem] = []

    init(values: SettingValues, file: ConfigurationFile) {
        self.values = values
        self.file = file
    }

    mutating func run(_ settings: FleetSettings) {
        self.checkBudget(settings.budget)
        self.checkTrail(settings.trail)
        self.checkLoops(settings)
        self.checkNames()
        self.checkApps(settings)
        if let amqp = try? AMQPAddress(parsing: settings.amqp.url), !amqp.usesTLS {
            self.warnOfPlaintext(amqp.endpoint, ["amqp", "url"], secure: "amqps")
        }
        if let redis = try? RedisAddress(settings.redis.url), !redis.usesTLS {
            self.warnOfPlaintext(redis.endpoint, ["redis", "url"], secure: "rediss")
        }
        var pools: [String: String] = [:]
        for credential in settings.credentials {
            self.checkPort(credential)
            self.checkBroadcasts(credential, among: settings.credentials)
            // Whose certificate it is, only the file says.
            guard case .token = credential.kind else { continue }
            if let other = pools.updateValue(credential.name, forKey: credential.pool) {
                self.report(
                    ["credentials", credential.name, "key_id"],
                    "is the key of credentials.\(other) as well; a key has one budget, so let the apps share one"
                )
            }
        }
        if settings.amqpHeartbeat.milliseconds % 1000 != 0 {
            self.report(["amqp", "heartbeat"], "must be whole seconds: the protocol knows no smaller ones")
        }
    }

    /// One app that is not in the file.
    /// - Parameter credentials: the names of those that there are.
    mutating func runAlone(_ id: String, _ settings: FleetSettings, credentials: [String]) {
        self.checkName(id, in: "apps", nil)
        for app in settings.apps { self.check(app, credentials: credentials) }
    }

    /// What to say of more loops than connections; nil if there are enough.
    static func crowding(_ loops: Int, _ credential: CredentialSettings) -> String? {
        guard loops > credential.maxConnections else { return nil }
        return "is \(loops), but credentials.\(credential.name).max_connections is \(credential.maxConnections): a "
            + "loop without a connection waits for its turn, so make it \(credential.maxConnections) or less"
    }

    private mutating func checkLoops(_ settings: FleetSettings) {
        for credential in settings.credentials {
            guard let crowding = Self.crowding(settings.worker.loops, credential) else { continue }
            self.report(["worker", "loops"], crowding, .warning)
        }
    }

    private mutating func checkBudget(_ budget: BudgetSettings) {
        let least = budget.heartbeat * 6
        guard budget.lease < least, !self.values.hasBroken(below: ["budget"]) else { return }
        self.report(
            ["budget", "lease"],
            "is \(DurationText.format(budget.lease)), but must be at least six heartbeats of "
                + "\(DurationText.format(budget.heartbeat)), so that one lost answer costs nothing; make it "
                + "\(DurationText.format(least)) or more, or shorten budget.heartbeat"
        )
    }

    private mutating func checkTrail(_ trail: TrailSettings) {
        guard trail.isOn, trail.maxMemory < TrailSettings.leastMemory else { return }
        self.report(
            ["trail", "max_memory"],
            "is \(SizeText.format(trail.maxMemory)), which holds next to nothing; make it "
                + "\(SizeText.format(TrailSettings.leastMemory)) or more, or 0 to write no trail"
        )
    }

    private mutating func checkNames() {
        if self.file.names["apps"]?.isEmpty ?? true {
            self.problems.append(
                ConfigurationProblem(
                    severity: .warning,
                    place: self.file.name,
                    key: "apps",
                    text: "names no app; the fleet has those in Redis alone, see pushfleet app"
                )
            )
        }
        for section in ["apps", "credentials", "access_keys"] {
            for (name, line) in self.file.names[section] ?? [] { self.checkName(name, in: section, line) }
        }
    }

    private mutating func checkName(_ name: String, in section: String, _ line: Int?) {
        guard AppID(name) == nil else { return }
        self.problems.append(
            ConfigurationProblem(
                place: self.file.name,
                key: "\(section).\(name)",
                text: "is not a name; use 1 to 128 letters, digits, dots, dashes and underscores, and begin "
                    + "with a letter or digit",
                line: line
            )
        )
    }

    private mutating func checkApps(_ settings: FleetSettings) {
        let known = (self.file.names["credentials"] ?? []).map(\.name).sorted()
        for app in settings.apps { self.check(app, credentials: known) }
        let used = Set(settings.apps.map(\.credential))
        for (name, line) in self.file.names["credentials"] ?? [] where !used.contains(name) {
            self.problems.append(
                ConfigurationProblem(
                    severity: .warning,
                    place: self.file.name,
                    key: "credentials.\(name)",
                    text: "is used by no app of this file",
                    line: line
                )
            )
        }
    }

    private mutating func check(_ app: AppSettings, credentials known: [String]) {
        self.checkRate(app)
        guard !known.contains(app.credential) else { return }
        let near = EditDistance.nearest(to: app.credential.utf8, among: known).map { "; did you mean \($0)?" }
        let list = known.isEmpty ? "none is set" : "those are \(known.joined(separator: ", "))"
        self.report(
            ["apps", app.id, "credential"],
            "\(Quoted.text(app.credential.utf8)) is not in credentials; \(list)\(near ?? "")"
        )
    }

    private mutating func checkRate(_ app: AppSettings) {
        let path = ["apps", app.id, "bucket_size"]
        guard let limit = app.rate else {
            guard self.values.number("apps", app.id, "bucket_size") != nil,
                !self.values.hasBroken(below: Array(path.dropLast()))
            else { return }
            return self.report(path, "does nothing without rate", .warning)
        }
        guard limit.usablePercentage < 95 else { return }
        self.report(
            path,
            "is \(limit.bucketSize), so that only \(limit.usablePercentage) % of the rate can be used: pushes of several "
                + "workers must not meet at Apple; make it \(limit.leastUsefulBucket) or more",
            .warning
        )
    }

    private mutating func checkPort(_ credential: CredentialSettings) {
        guard credential.host == nil, let port = credential.port, port != 443, port != 2197 else { return }
        self.report(
            ["credentials", credential.name, "port"],
            "is \(port), but Apple listens on 443 and 2197 only; set host too if this is not Apple's"
        )
    }

    private mutating func checkBroadcasts(_ credential: CredentialSettings, among all: [CredentialSettings]) {
        let path = ["credentials", credential.name]
        guard let own = credential.forBroadcasts else {
            let count = path + ["broadcast_connections"]
            if self.values.origin(of: count) != .standard, !self.values.hasBroken(below: path) {
                let text = "does nothing without broadcast_host: broadcasts share the connections of other pushes"
                self.report(count, text, .warning)
            }
            return
        }
        let key = credential.broadcast?.host == nil ? "broadcast_port" : "broadcast_host"
        if all.contains(where: { $0.name == own.name }) {
            self.report(path + [key], "makes a credential called \(own.name), and there is one; rename that")
        }
        if let port = credential.broadcast?.port, own.host == nil, port != 443, port != 2197 {
            self.report(
                path + ["broadcast_port"],
                "is \(port), but Apple listens on 443 and 2197 only; set broadcast_host too if this is not Apple's"
            )
        }
    }

    private mutating func warnOfPlaintext(_ endpoint: Endpoint, _ path: [String], secure: String) {
        let host = endpoint.host
        guard !Self.isLoopback(host) else { return }
        self.report(
            path,
            "sends passwords and tokens unencrypted to \(host); use \(secure):// unless the network is private",
            .warning
        )
    }

    static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host.hasPrefix("127.")
    }

    private mutating func report(
        _ path: [String],
        _ text: String,
        _ severity: ConfigurationProblem.Severity = .error
    ) {
        self.problems.append(self.values.problem(at: path, text, severity))
    }
}

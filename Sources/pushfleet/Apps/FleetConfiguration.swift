internal import Loop
internal import Push
internal import Store
internal import Worker

/// What a verb knows of the fleet's apps: those of its configuration and those in Redis.
struct FleetConfiguration {
    var loaded: LoadedConfiguration
    /// The apps in Redis, sorted by id; those that the file overrules too.
    private(set) var stored: [JudgedApp] = []
    /// Why Redis did not tell; nil if it did, or nobody asked.
    private(set) var failure: String?

    init(_ loaded: LoadedConfiguration) {
        self.loaded = loaded
    }

    /// The fleet's apps: one that is wrong in Redis is left out.
    var settings: FleetSettings { self.loaded.settings }

    /// Whether the app in Redis is not the one that runs.
    func isOverruled(_ app: JudgedApp) -> Bool {
        self.loaded.effective.contains { $0.key == "apps.\(app.id).credential" }
    }

    /// What is wrong with apps in Redis, or doubtful.
    var problems: [ConfigurationProblem] {
        self.stored.flatMap { app in
            self.isOverruled(app)
                ? [FleetApps.overruled(app.id, by: self.loaded.file ?? "the file")] : app.problems
        }
    }

    /// Asks Redis and adds what it has.
    mutating func ask(for verb: String, timeout: Duration) async {
        do {
            let redis = try await self.settings.openRedis(for: verb, timeout: timeout)
            defer { redis.close() }
            self.add(try await StoredApps.read(from: redis))
        } catch let failure as VerbFailure {
            self.failure = failure.message
        } catch {
            self.failure = "\(error)"
        }
    }

    mutating func add(_ apps: StoredApps) {
        var own = AppCredentials()
        own.take(apps, keys: self.loaded.masterKeys, file: self.settings.credentials, at: WallClock.now())
        let check = AppCheck(credentials: self.settings.credentials, loaded: self.loaded.credentials, own: own)
        self.stored = apps.values.sorted { $0.key < $1.key }.map { check.judge(stored: $0.key, $0.value) }
        self.loaded.settings.credentials += own.loaded.map(\.settings)
        self.loaded.credentials += own.loaded
        let added = self.stored.filter { !self.isOverruled($0) }.compactMap(\.settings)
        self.loaded.settings.apps = (self.settings.apps + added).sorted { $0.id < $1.id }
        // What the file alone made look doubtful.
        let settled = added.isEmpty ? [] : Set(["apps"] + added.map { "credentials.\($0.credential)" })
        self.loaded.problems.removeAll { problem in
            problem.severity == .warning && problem.key.map(settled.contains) ?? false
        }
    }
}

extension ConfigurationOption {
    /// Like `require`, with the apps in Redis among the others. Without Redis it goes on with those of the file, and
    /// says so.
    /// - Parameter app: the only one that matters: nobody is asked if the file names it.
    func requireFleet(
        _ needs: ConfigurationLoader.Needs,
        for verb: String,
        lookingFor app: String? = nil,
        timeout: Duration = .seconds(5)
    ) async throws -> FleetConfiguration {
        var fleet = FleetConfiguration(try ConfigurationLoader().require(option: self.file, needs: needs))
        let isKnown = app.map { app in fleet.settings.apps.contains { $0.id == app } } ?? false
        if !isKnown, !fleet.settings.redis.url.isEmpty { await fleet.ask(for: verb, timeout: timeout) }
        for warning in fleet.loaded.warnings { Terminal.say(warning.description) }
        if let failure = fleet.failure { Terminal.say("the apps in Redis are not known: \(failure)") }
        for problem in fleet.problems { Terminal.say("\(problem)") }
        return fleet
    }
}

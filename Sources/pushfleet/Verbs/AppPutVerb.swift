internal import ArgumentParser
internal import Broker
internal import Push
internal import Store
internal import Worker

extension AppVerb {
    /// `pushfleet app put`: writes an app to Redis.
    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put an app into Redis, new or in place of what it was.",
            discussion: """
                Its settings are those that an app has in the configuration file: credential is
                needed, the rest has defaults (pushfleet doctor --keys). They are key=value, or
                YAML or JSON from a file. All of them are given each time: what is left out has
                its default again. Nothing is written unless everything is right.

                With --seal the app brings its credential along: the one of that name in the
                file is sealed into Redis with the master key (redis.master_key_file), and no
                other worker's file needs it. Afterwards credential=<the app> means that one,
                as it does for applications of pushfleet gateway. Sealing it again changes the
                key, or the master key.

                An app needs its queues. It is told if they are missing; --declare makes them,
                for which the user of amqp.url needs the permission to configure.

                Example:
                  pushfleet app put com.example.news credential=main rate=200
                  pushfleet app put com.example.news credential=main \\
                      retry.age_limit=1h bundle_id=com.example.news.ios --declare
                  pushfleet app put com.example.news --file news.yaml --dry-run
                  render news | pushfleet app put com.example.news --file -
                  pushfleet app put com.example.news --seal news rate=200
                  pushfleet app put com.example.news credential=com.example.news rate=50
                """
        )

        @Argument(help: "The app, as messages will name it.")
        var app: String
        @Argument(help: ArgumentHelp("Its settings.", valueName: "key=value"))
        var settings: [String] = []
        @Option(help: ArgumentHelp("YAML or JSON with the settings; - is standard input.", valueName: "file"))
        var file: String?
        @Option(
            help: ArgumentHelp("Seal this credential of the file into Redis, as the app's own.", valueName: "name")
        )
        var seal: String?
        @Flag(help: "Check and show what would be written, and write nothing.")
        var dryRun = false
        @Flag(help: "Declare the app's queues first.")
        var declare = false
        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func validate() throws {
            let isGiven = self.settings.isEmpty != (self.file == nil)
            guard isGiven || self.seal != nil && self.settings.isEmpty else {
                let usage = "such as credential=main, or name a file with them: --file"
                throw ValidationError(
                    self.settings.isEmpty
                        ? "the settings are missing; give them as key=value, \(usage)"
                        : "give the settings as key=value or with --file, not both"
                )
            }
            if self.declare && self.dryRun { throw ValidationError("--dry-run declares nothing; leave out --declare") }
        }

        func run() async throws {
            var source =
                try self.file.map { try AppDraft.file(self.app, reading: $0) }
                ?? AppDraft.file(self.app, pairs: self.settings)
            if self.seal != nil { source.name(credential: self.app, for: self.app) }
            let loaded = try self.config.require([.servers])
            let own = try await self.ownCredential(source.credential(of: self.app), loaded)
            let check = AppCheck(
                credentials: loaded.settings.credentials,
                loaded: loaded.credentials,
                own: own.checked
            )
            let draft = try AppDraft(source, self.app, check)
            guard let app = draft.judged.settings else { throw ConfigurationFailure(problems: draft.judged.problems) }
            for warning in draft.judged.problems { Terminal.say("\(warning)") }
            if !own.leftBehind.isEmpty {
                Terminal.say("not sealed, and without effect: \(own.leftBehind.joined(separator: ", "))")
            }
            if loaded.settings.apps.contains(where: { $0.id == self.app }) {
                Terminal.say("\(FleetApps.overruled(self.app, by: loaded.file ?? "the file"))")
            }
            var report = AppPutReport(app: self.app, value: draft.json)
            report.credential = own.shown
            if self.dryRun { return try report.tell(asJSON: self.json.isOn) }
            if self.declare { try await self.declareQueues(of: app, loaded.settings) }
            let outcome = try await self.write(draft.json, own.sealed, loaded.settings)
            let isSame = outcome.before == draft.json && own.sealed == nil
            report.state = outcome.before == nil ? "new" : isSame ? "same" : "changed"
            report.version = outcome.version
            if !self.declare { report.missingQueues = await self.missingQueues(of: app, loaded.settings) }
            try report.tell(asJSON: self.json.isOn)
        }

        /// - Parameter name: of the credential that the app shall have.
        private func ownCredential(_ name: String?, _ loaded: LoadedConfiguration) async throws -> OwnCredential {
            let those = loaded.settings.credentials.filter { $0.broadcastsOf == nil }
            guard let seal else {
                // A name means what the file says, if it says something.
                guard name == self.app, !those.contains(where: { $0.name == name }) else { return OwnCredential() }
                let resting = loaded.masterKeys == nil ? nil : try await self.resting(loaded.settings)
                return try OwnCredential(of: self.app, given: nil, resting: resting, loaded)
            }
            guard name == self.app else {
                throw VerbFailure(
                    "--seal makes the credential the app's own: leave out credential=\(name ?? "")",
                    code: VerbFailure.usage
                )
            }
            guard let settings = those.first(where: { $0.name == seal }) else {
                let names = those.map(\.name).sorted().joined(separator: ", ")
                throw VerbFailure(
                    "--seal: \(Quoted.text(seal.utf8, limit: 128)) is not in credentials; those are \(names)"
                )
            }
            let files: CredentialFiles
            do throws(CredentialFault) {
                files = try CredentialFiles.read(for: settings)
            } catch {
                throw VerbFailure("\(error)", code: VerbFailure.configuration)
            }
            let isAsked = !self.dryRun && loaded.masterKeys != nil
            let resting = isAsked ? try await self.resting(loaded.settings) : nil
            return try OwnCredential(of: self.app, given: (settings, files), resting: resting, loaded)
        }

        /// What Redis has for the app, sealed.
        private func resting(_ settings: FleetSettings) async throws -> String? {
            let redis = try await settings.openRedis(for: "app")
            defer { redis.close() }
            do throws(RedisFailure) {
                return try await StoredApps.read(from: redis).credentials[self.app]
            } catch {
                throw VerbFailure("cannot look for the credential of \(self.app): \(error)")
            }
        }

        private func write(
            _ value: String,
            _ credential: String?,
            _ settings: FleetSettings
        ) async throws -> StoredApps.Outcome {
            let redis = try await settings.openRedis(for: "app")
            defer { redis.close() }
            do throws(RedisFailure) {
                let reply = try await redis.run(StoredApps.put(self.app, value, credential: credential))
                guard let outcome = StoredApps.Outcome(reply) else {
                    throw .unknown("an answer that is none; is it Redis?")
                }
                return outcome
            } catch {
                throw VerbFailure("cannot put \(self.app): \(error)")
            }
        }

        /// The app's own queues, and those that all apps share.
        private static func topology(of app: AppSettings) -> Topology {
            FleetTopology.make(
                apps: [app.id].compactMap { AppID($0) },
                delays: DelayLadder(schedules: [app.retry]).levels
            )
        }

        private func declareQueues(of app: AppSettings, _ settings: FleetSettings) async throws {
            let topology = Self.topology(of: app)
            let differences = try await settings.askBroker(for: "app") { broker throws(BrokerError) in
                try await broker.declare(topology)
            }
            guard !differences.isEmpty else { return }
            for difference in differences {
                Terminal.say("\(difference)\n  -> \(TopologyReport.Difference(difference).fix)")
            }
            throw VerbFailure("the queues of \(self.app) could not be declared, so nothing was put")
        }

        /// Nil if RabbitMQ does not say.
        private func missingQueues(of app: AppSettings, _ settings: FleetSettings) async -> [String]? {
            let topology = Self.topology(of: app)
            do throws(VerbFailure) {
                let differences = try await settings.askBroker(for: "app") { broker throws(BrokerError) in
                    try await broker.verify(topology, comparingArguments: false)
                }
                return differences.filter { $0.problem == .missing }.map { TopologyReport.Difference($0).item }
            } catch {
                Terminal.say("whether its queues are there is not known: \(error.message)")
                return nil
            }
        }
    }
}

/// What `pushfleet app put` tells; its keys are a contract with scripts.
struct AppPutReport: Encodable {
    let app: String
    /// As it stands in Redis.
    let value: String
    /// `new`, `changed` or `same`; missing if nothing was written.
    var state: String?
    var version: Int64?
    /// What was sealed for it, without the secret; missing if nothing was to be.
    var credential: String?
    /// Missing if nobody asked or RabbitMQ did not say.
    var missingQueues: [String]?

    init(app: String, value: String) {
        self.app = app
        self.value = value
    }

    func tell(asJSON: Bool) throws {
        if asJSON { return try Terminal.print(json: self) }
        guard let state else {
            Terminal.print("\(self.app) would be \(self.value)")
            if let credential { Terminal.print("with the \(credential), sealed") }
            return
        }
        switch state {
        case "new": Terminal.print("\(self.app) is in Redis; workers take it up within seconds")
        case "changed": Terminal.print("\(self.app) is changed; workers follow within seconds")
        default: Terminal.print("\(self.app) is as it was")
        }
        if let credential { Terminal.print("its credential rests in Redis, sealed: \(credential)") }
        guard let missing = self.missingQueues, !missing.isEmpty else { return }
        Terminal.say("missing in RabbitMQ: \(missing.joined(separator: ", "))")
        Terminal.say(
            "-> run pushfleet topology declare, or put it again with --declare; until then nothing is sent for it"
        )
    }
}

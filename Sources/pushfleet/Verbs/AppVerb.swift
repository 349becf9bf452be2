internal import ArgumentParser
internal import Foundation
internal import Push
internal import Store
internal import Worker

/// `pushfleet app`: the apps that live in Redis beside those of the file.
struct AppVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "List, put, show or remove the fleet's apps that live in Redis instead of the file.",
        discussion: """
            Apps may stand in the configuration file, or in Redis, where they can come,
            change and go without anyone's file. Workers follow within seconds, and the
            other apps do not notice. The file goes before Redis where both name an app.
            Credentials are in the file, or rest in Redis sealed (app put --seal).

            Redis may lose data. Running workers go on with the apps they know, but new
            ones do not know them: keep what you put.

            Example:
              pushfleet app list
              pushfleet app put com.example.news credential=main rate=200
              pushfleet app show com.example.news
              pushfleet app remove com.example.news
            """,
        subcommands: [List.self, Put.self, Show.self, Remove.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all apps of the fleet, with where each stands.",
            discussion: """
                The state is ok; refused, for an app in Redis that is wrong; or overruled, for
                one in Redis that the file names too.

                Example:
                  pushfleet app list
                  pushfleet app list --json | jq -r '.apps[] | select(.source == "redis").app'
                """
        )

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func run() async throws {
            let fleet = try await self.config.requireFleet([.servers], for: "app")
            let reports = AppReport.all(fleet)
            if self.json.isOn {
                try Terminal.print(json: ["apps": reports])
            } else {
                Terminal.print(AppReport.lines(reports))
            }
            if fleet.failure != nil { throw ExitCode(1) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one app with all its values and where each comes from.",
            discussion: """
                Example:
                  pushfleet app show com.example.news
                """
        )

        @Argument(help: "The app.")
        var app: String
        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func run() async throws {
            let fleet = try await self.config.requireFleet([.servers], for: "app")
            let all = AppReport.all(fleet)
            // The one that runs, if both name it.
            guard let report = all.first(where: { $0.app == self.app }) else {
                throw VerbFailure.unknownApp(self.app, among: Set(all.map(\.app)).sorted())
            }
            if self.json.isOn { try Terminal.print(json: report) } else { Terminal.print(report.lines) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an app from Redis; what waits for it stays in RabbitMQ.",
            discussion: """
                Workers take nothing more for it within seconds. What is at Apple has its
                answer; what is not sent goes back to its queue and stays there until the app
                is put again. Queues are not deleted.

                An app that Redis has lost, and that workers still run, ends as well.

                Example:
                  pushfleet app remove com.example.news --yes
                """
        )

        @Argument(help: "The app.")
        var app: String
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var config: ConfigurationOption
        @OptionGroup var json: JSONFlag

        func validate() throws {
            guard AppID(self.app) != nil else {
                throw ValidationError("\(Quoted.text(self.app.utf8, limit: 128)) is not the name of an app")
            }
        }

        func run() async throws {
            let settings = try self.config.require([.servers]).settings
            if !self.yes { try self.askFirst() }
            let redis = try await settings.openRedis(for: "app")
            defer { redis.close() }
            do throws(RedisFailure) {
                let stored = try await StoredApps.read(from: redis)
                let outcome = StoredApps.Outcome(try await redis.run(StoredApps.remove(self.app)))
                guard let outcome else { throw .unknown("an answer that is none; is it Redis?") }
                let isOwn = settings.apps.contains { $0.id == self.app }
                self.tell(wasThere: outcome.before != nil, isOwn: isOwn, others: stored.values.keys.sorted())
            } catch {
                throw VerbFailure("cannot remove \(self.app): \(error)")
            }
        }

        private func askFirst() throws {
            guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                throw ValidationError("'--yes' is missing: without a terminal nobody can be asked")
            }
            FileHandle.standardError.write(Data("Remove \(self.app) from Redis? Its messages will wait. [y/N] ".utf8))
            let answer = readLine() ?? ""
            guard ["y", "yes"].contains(answer.lowercased()) else { throw VerbFailure("nothing was removed") }
        }

        private func tell(wasThere: Bool, isOwn: Bool, others: [String]) {
            if self.json.isOn {
                try? Terminal.print(json: RemovalReport(app: self.app, wasThere: wasThere))
            } else if wasThere {
                Terminal.print("\(self.app) is removed; workers let it go within seconds")
            } else {
                let near = EditDistance.nearest(to: self.app.utf8, among: others).map { "; did you mean \($0)?" } ?? ""
                Terminal.print("\(self.app) was not in Redis; workers that still run it let it go\(near)")
            }
            if isOwn { Terminal.say("\(self.app) stands in the configuration file too and goes on") }
        }
    }

    private struct RemovalReport: Encodable {
        let app: String
        let wasThere: Bool
    }
}

internal import ArgumentParser
internal import Broker
internal import Desk
internal import Store
internal import Worker

/// `pushfleet status`: what waits, what went through, what failed.
struct StatusVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what waits in RabbitMQ, what the fleet has done, its workers and its connections.",
        discussion: """
            If one of RabbitMQ and Redis does not answer, it shows what the other knows,
            and the exit code is 1.

            Example:
              pushfleet status --config pushfleet.yaml
              watch -n 2 pushfleet status
              pushfleet status --json \\
                  | jq '.queues[] | select(.name == "pushfleet.dead").messages'
            """
    )

    @OptionGroup var config: ConfigurationOption
    @Option(help: "How long to wait for each answer.", transform: Duration.argument)
    var timeout: Duration = .seconds(10)
    @OptionGroup var json: JSONFlag

    func run() async throws {
        let timeout = self.timeout
        let settings = try await self.config.requireFleet([.servers], for: "status", timeout: timeout).settings
        async let queues = Self.attempt { () throws(VerbFailure) in
            try await Self.queues(settings, timeout: timeout)
        }
        async let fleet = Self.attempt { () throws(VerbFailure) in try await Self.fleet(settings, timeout: timeout) }
        let counted = await fleet
        let snapshot = FleetSnapshot(queues: await queues, fleet: counted?.status, minute: counted?.minute)
        let report = StatusReport(snapshot, budgets: settings.budgets)
        if self.json.isOn {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.lines())
        }
        if snapshot.queues == nil || snapshot.fleet == nil { throw ExitCode(1) }
    }

    /// What `body` answers, or nil after telling why not.
    private static func attempt<Answer: Sendable>(
        _ body: @Sendable () async throws(VerbFailure) -> Answer
    ) async -> Answer? {
        do throws(VerbFailure) {
            return try await body()
        } catch {
            Terminal.say(error.message)
            return nil
        }
    }

    static func queues(_ settings: FleetSettings, timeout: Duration) async throws(VerbFailure) -> [QueueStatus] {
        try await settings.askBroker(for: "status", timeout: timeout) { broker throws(BrokerError) in
            try await QueueStatus.read(apps: settings.appIDs, delays: settings.delays, from: broker)
        }
    }

    /// What the fleet counted since its first day, and in the last whole minute.
    struct Counted: Sendable {
        let status: FleetStatus
        let minute: FleetStatus.Lane
    }

    static func fleet(_ settings: FleetSettings, timeout: Duration) async throws(VerbFailure) -> Counted {
        let redis = try await settings.openRedis(for: "status", timeout: timeout)
        defer { redis.close() }
        do throws(RedisFailure) {
            let status = try await CounterReader(redis).read(pools: settings.budgets.map(\.pool))
            let series = try await SeriesReader(redis).fleet(from: status.time.minute - 1, length: 1)
            return Counted(status: status, minute: series.total())
        } catch {
            throw VerbFailure("\(error)")
        }
    }
}

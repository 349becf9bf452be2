internal import Broker
internal import Desk
internal import Store
internal import Worker

/// One look at RabbitMQ and Redis: what was found, and why the rest was not.
struct FleetLook: Sendable {
    let snapshot: FleetSnapshot
    /// For people; empty if both answered.
    let problems: [String]

    /// Whether both answered.
    var isWhole: Bool { self.snapshot.queues != nil && self.snapshot.fleet != nil }

    /// Asks both at once.
    /// - Parameter verb: who asks, as it shows among the connections of both.
    static func take(_ settings: FleetSettings, for verb: String, timeout: Duration) async -> FleetLook {
        async let queues = Self.attempt { () throws(VerbFailure) in
            try await settings.askBroker(for: verb, timeout: timeout) { broker throws(BrokerError) in
                try await QueueStatus.read(apps: settings.appIDs, delays: settings.delays, from: broker)
            }
        }
        async let fleet = Self.attempt { () throws(VerbFailure) in
            try await Self.fleet(settings, for: verb, timeout: timeout)
        }
        var problems: [String] = []
        func found<Answer>(_ result: Result<Answer, VerbFailure>) -> Answer? {
            if case .failure(let failure) = result { problems.append(failure.message) }
            return try? result.get()
        }
        let counted = found(await fleet)
        let snapshot = FleetSnapshot(queues: found(await queues), fleet: counted?.status, minute: counted?.minute)
        return FleetLook(snapshot: snapshot, problems: problems)
    }

    private static func attempt<Answer: Sendable>(
        _ body: @Sendable () async throws(VerbFailure) -> Answer
    ) async -> Result<Answer, VerbFailure> {
        do throws(VerbFailure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    /// What the fleet counted since its first day, and in the last whole minute.
    private struct Counted: Sendable {
        let status: FleetStatus
        let minute: FleetStatus.Lane
    }

    private static func fleet(
        _ settings: FleetSettings,
        for verb: String,
        timeout: Duration
    ) async throws(VerbFailure) -> Counted {
        let redis = try await settings.openRedis(for: verb, timeout: timeout)
        defer { redis.close() }
        let status = try await settings.readFleet(from: redis)
        do throws(RedisFailure) {
            let series = try await SeriesReader(redis).fleet(from: status.time.minute - 1, length: 1)
            return Counted(status: status, minute: series.total())
        } catch {
            throw VerbFailure("\(error)")
        }
    }
}

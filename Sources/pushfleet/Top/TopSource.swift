internal import Broker
internal import Desk
internal import Store
internal import Worker

/// Reads what `pushfleet top` shows.
struct TopSource: Sendable {
    /// What was found at one moment, and why the rest was not.
    struct Reading: Sendable {
        let snapshot: FleetSnapshot
        let problems: [String]
    }

    let settings: FleetSettings

    /// Shorter than for other verbs: the next look comes soon.
    private static let timeout = Duration.seconds(5)

    func read() async -> Reading {
        let settings = self.settings
        async let queues = Self.attempt { () throws(VerbFailure) in
            try await StatusVerb.queues(settings, timeout: Self.timeout)
        }
        async let fleet = Self.attempt { () throws(VerbFailure) in
            try await StatusVerb.fleet(settings, timeout: Self.timeout)
        }
        let (foundQueues, foundFleet) = (await queues, await fleet)
        var problems: [String] = []
        if case .failure(let failure) = foundQueues { problems.append(failure.message) }
        if case .failure(let failure) = foundFleet { problems.append(failure.message) }
        let counted = try? foundFleet.get()
        return Reading(
            snapshot: FleetSnapshot(queues: try? foundQueues.get(), fleet: counted?.status, minute: counted?.minute),
            problems: problems
        )
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

    func view(_ now: Reading, after before: Reading?) -> TopView {
        TopView(
            before: before?.snapshot.fleet,
            now: now.snapshot,
            budgets: self.settings.budgets,
            problems: now.problems
        )
    }
}

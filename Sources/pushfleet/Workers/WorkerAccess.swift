internal import Desk
internal import Foundation
internal import Push
internal import Store
internal import Worker

/// How verbs about workers reach Redis.
extension FleetSettings {
    /// All workers as they told last, and what else Redis knows.
    func readFleet(from redis: RedisSession) async throws(VerbFailure) -> FleetStatus {
        do throws(RedisFailure) {
            return try await CounterReader(redis).read(pools: self.budgets.map(\.pool))
        } catch {
            throw VerbFailure("\(error)")
        }
    }
}

extension WorkerChoice.Fault {
    /// What to tell who asked for `text`.
    func failure(_ text: String) -> VerbFailure {
        let shown = Quoted.text(text.utf8, limit: 80)
        switch self {
        case .unknown: return VerbFailure("no worker is \(shown); pushfleet workers shows those that there are")
        case .tooShort:
            return VerbFailure(
                "\(shown) is too short; write at least \(WorkerChoice.shortestPrefix) characters of the worker's id, "
                    + "or host:pid"
            )
        case .ambiguous(let ids):
            return VerbFailure("\(shown) may be \(ids.joined(separator: " or ")); write more of the id")
        }
    }
}

/// What `pushfleet drain` tells; its keys are a contract with scripts.
struct DrainReport: Encodable, Equatable {
    struct Worker: Encodable, Equatable {
        let id: String
        let host: String
        let pid: Int
    }

    let ordered: [Worker]

    init(_ workers: [WorkerBeat]) {
        self.ordered = workers.map { Worker(id: $0.id, host: $0.host, pid: $0.pid) }
    }

    var lines: [String] {
        guard !self.ordered.isEmpty else { return ["No worker is running."] }
        return self.ordered.map { "\(Shown.text($0.host.utf8)):\($0.pid) (\(Shown.text($0.id.utf8))) is to drain" }
            + ["They begin within 2 seconds; each has worker.drain_timeout to finish."]
    }
}

internal import Desk
internal import Push
internal import Store

/// What `pushfleet workers` shows; its keys are a contract with scripts.
struct WorkersReport: Encodable, Equatable {
    struct Worker: Encodable, Equatable {
        let id: String
        let host: String
        let pid: Int
        let version: String
        /// Workers in the same process.
        let loops: Int
        /// `works`, `waits` (for a lease), `drains` or `silent`.
        let state: String
        let startedAtMs: Int64
        let upMs: Int64
        let lastBeatMs: Int64?
        let beatAgeMs: Int64?
        /// By budget.
        let connectionsHeld: [String: Int]
        let inFlight: Int
        let prefetch: Int
        /// Apps that it does not send for at present, and why.
        let paused: [String: String]
    }

    /// When Redis was read, by its clock.
    let timeMs: Int64
    /// The oldest first.
    let workers: [Worker]

    init(_ status: FleetStatus) {
        let time = status.time.milliseconds
        self.timeMs = time
        self.workers = status.workers.map { beat in
            Worker(
                id: beat.id,
                host: beat.host,
                pid: beat.pid,
                version: beat.version,
                loops: status.workers.count { $0.host == beat.host && $0.pid == beat.pid },
                state: WorkerState(beat, atMilliseconds: time).rawValue,
                startedAtMs: beat.startedAt.milliseconds,
                upMs: max(0, time - beat.startedAt.milliseconds),
                lastBeatMs: beat.lastBeat?.milliseconds,
                beatAgeMs: beat.lastBeat.map { max(0, time - $0.milliseconds) },
                connectionsHeld: beat.connectionsHeld,
                inFlight: beat.inFlight.values.reduce(0, +),
                prefetch: beat.prefetch,
                paused: beat.paused
            )
        }
    }

    func lines() -> [String] {
        guard !self.workers.isEmpty else { return ["No worker is running."] }
        var table = Table(
            "worker",
            "host",
            ">pid",
            "version",
            ">up",
            ">loops",
            ">connections",
            ">in flight",
            "state",
            ">beat",
            "paused"
        )
        for worker in self.workers {
            let paused = worker.paused.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            table.add(
                Shown.text(worker.id.utf8),
                Shown.text(worker.host.utf8),
                "\(worker.pid)",
                Shown.text(worker.version.utf8),
                Self.spoken(worker.upMs),
                "\(worker.loops)",
                "\(worker.connectionsHeld.values.reduce(0, +))",
                "\(worker.inFlight)",
                worker.state,
                worker.beatAgeMs.map { "\(Self.spoken($0)) ago" } ?? "",
                Shown.text(paused.joined(separator: ", ").utf8)
            )
        }
        return table.lines()
    }

    /// Whole seconds.
    private static func spoken(_ milliseconds: Int64) -> String {
        DurationText.spoken(.seconds(milliseconds / 1000))
    }
}

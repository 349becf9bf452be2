internal import Push
package import Store

// What programs are told of the fleet, alike by `pushfleet status --json` and by the dashboard; the keys are a contract.

/// One worker, by its last heartbeat.
package struct WorkerReport: Encodable, Equatable, Sendable {
    package let id: String
    package let host: String
    package let pid: Int
    package let version: String
    package let startedAtMs: Int64
    package let lastBeatMs: Int64?
    package let connectionsHeld: [String: Int]
    package let inFlight: Int
    package let prefetch: Int
    /// Apps that it does not send for at present, and why: `credential`, `suspects`, `outage` or `hand`.
    package let paused: [String: String]
    /// Connections that it could use, in all budgets.
    package let wanted: Int
    /// Its number among the workers of its process, from 1.
    package let loop: Int
    package let draining: Bool

    package init(_ beat: WorkerBeat, _ status: FleetStatus) {
        self.id = beat.id
        self.host = beat.host
        self.pid = beat.pid
        self.version = beat.version
        self.startedAtMs = beat.startedAt.milliseconds
        self.lastBeatMs = beat.lastBeat?.milliseconds
        self.connectionsHeld = beat.connectionsHeld
        self.inFlight = beat.inFlight.values.reduce(0, +)
        self.prefetch = beat.prefetch
        self.paused = beat.paused
        self.loop = beat.loop
        self.draining = beat.isDraining
        self.wanted = status.pools.reduce(0) { sum, pool in
            sum + pool.leases.filter { $0.worker == beat.id }.reduce(0) { $0 + $1.want }
        }
    }
}

/// One connection budget.
package struct BudgetReport: Encodable, Equatable, Sendable {
    package let pool: String
    /// The credential whose budget it is, where that is asked for; missing for a pool that only workers know.
    package let credential: String?
    /// What the configuration here says; missing for such a pool.
    package let configured: Int?
    /// What workers go by: the smallest that one of them carries.
    package let inForce: Int?
    package let held: Int
    package let wanted: Int
    /// These grow only, see ``FleetStatus/Pool/Counts``: connections, times, milliseconds, connections, connections.
    package let granted: Int
    package let waited: Int
    package let waitTimeMs: Int64
    package let reclaimed: Int
    package let overage: Int
    package let quarantineMs: Int64
    /// When the certificate in use ends; missing with a signing key, which does not.
    package let certificateExpiresAtMs: Int64?
    /// How many workers have a part of it.
    package let leases: Int

    package init(_ pool: FleetStatus.Pool, credential: String?, configured: Int?, workers: [WorkerBeat]) {
        self.pool = pool.name
        self.credential = credential
        self.configured = configured
        self.inForce = pool.budget
        self.held = pool.held
        self.wanted = pool.wanted
        self.granted = pool.counts.granted
        self.waited = pool.counts.waited
        self.waitTimeMs = pool.counts.waitTime.milliseconds
        self.reclaimed = pool.counts.reclaimed
        self.overage = pool.counts.overage
        self.quarantineMs = pool.quarantine.milliseconds
        // Workers may hold an old one and its successor for a while: the end that comes first counts.
        self.certificateExpiresAtMs = workers.compactMap { $0.certificatesExpireAt[pool.name]?.milliseconds }.min()
        self.leases = pool.leases.count
    }
}

/// That an app is paused for the whole fleet.
package struct PausedAppReport: Encodable, Equatable, Sendable {
    package let app: String
    /// `credential`, `suspects` or `hand`.
    package let cause: String
    package let sinceMs: Int64
    /// When the next probe may go, or a pause by hand ends; missing for one without end.
    package let untilMs: Int64?
    /// The worker whose probe is to find out; missing while there is none.
    package let probedBy: String?
    /// The worker, as host and process id, or the operator.
    package let by: String
    package let reason: String?

    package init(_ pause: AppPause) {
        self.app = pause.app
        self.cause = pause.cause
        self.sinceMs = pause.since.milliseconds
        self.untilMs = pause.until?.milliseconds
        self.probedBy = pause.probeLeft > .zero ? pause.prober : nil
        self.by = pause.by
        self.reason = pause.reason.isEmpty ? nil : pause.reason
    }
}

/// A histogram in a few numbers, milliseconds; those that no value says anything of are missing.
package struct LatencyReport: Encodable, Equatable, Sendable {
    package let count: Int64
    package let meanMs: Double?
    package let p50Ms: Double?
    package let p95Ms: Double?
    package let p99Ms: Double?

    package init(_ histogram: Histogram) {
        self.count = histogram.count
        self.meanMs = histogram.mean
        self.p50Ms = histogram.percentile(0.5)
        self.p95Ms = histogram.percentile(0.95)
        self.p99Ms = histogram.percentile(0.99)
    }
}

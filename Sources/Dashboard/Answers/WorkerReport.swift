internal import Push
internal import Store

/// One worker, as in `pushfleet status --json`, and what it would like to have.
struct WorkerReport: Encodable, Equatable {
    let id: String
    let host: String
    let pid: Int
    let version: String
    let startedAtMs: Int64
    let lastBeatMs: Int64?
    let connectionsHeld: [String: Int]
    let inFlight: Int
    let prefetch: Int
    /// Apps that it does not send for at present, and why.
    let paused: [String: String]
    /// Connections that it could use, in all budgets.
    let wanted: Int
    /// Its number among the workers of its process.
    let loop: Int
    let draining: Bool

    init(_ beat: WorkerBeat, _ status: FleetStatus) {
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

    /// - Parameter part: of the id or the host, in lower case.
    static func all(_ status: FleetStatus, part: String?) -> [WorkerReport] {
        status.workers.filter { worker in
            guard let part else { return true }
            return worker.id.lowercased().contains(part) || worker.host.lowercased().contains(part)
        }.map { WorkerReport($0, status) }
    }
}

/// One connection budget, as in `pushfleet status --json`, with its credential and how many share it.
struct BudgetReport: Encodable, Equatable {
    let pool: String
    let credential: String?
    let configured: Int?
    let inForce: Int?
    let held: Int
    let wanted: Int
    let granted: Int
    let waited: Int
    let waitTimeMs: Int64
    let reclaimed: Int
    let overage: Int
    let quarantineMs: Int64
    let certificateExpiresAtMs: Int64?
    let leases: Int

    init(_ pool: FleetStatus.Pool, _ picture: FleetPicture) {
        let credential = picture.configured.credentials.first { $0.pool == pool.name }
        self.pool = pool.name
        self.credential = credential?.name
        self.configured = credential?.maxConnections
        self.inForce = pool.budget
        self.held = pool.held
        self.wanted = pool.wanted
        self.granted = pool.counts.granted
        self.waited = pool.counts.waited
        self.waitTimeMs = pool.counts.waitTime.milliseconds
        self.reclaimed = pool.counts.reclaimed
        self.overage = pool.counts.overage
        self.quarantineMs = pool.quarantine.milliseconds
        self.certificateExpiresAtMs = picture.status?.workers.compactMap { worker in
            worker.certificatesExpireAt[pool.name]?.milliseconds
        }.min()
        self.leases = pool.leases.count
    }

    /// Those that are short of connections first.
    static func all(_ picture: FleetPicture, _ status: FleetStatus) -> [BudgetReport] {
        status.pools.map { BudgetReport($0, picture) }
            .sorted { ($0.wanted - $0.held, $1.pool) > ($1.wanted - $1.held, $0.pool) }
    }
}

/// What one worker may hold of one budget.
struct LeaseReport: Encodable, Equatable {
    let pool: String
    let worker: String
    let grant: Int
    let open: Int
    let want: Int
    let expiresAtMs: Int64

    static func all(_ status: FleetStatus, pool: String?, worker: String?) -> [LeaseReport] {
        status.pools.filter { pool == nil || $0.name == pool }.flatMap { found in
            found.leases.filter { worker == nil || $0.worker == worker }.map { lease in
                LeaseReport(
                    pool: found.name,
                    worker: lease.worker,
                    grant: lease.grant,
                    open: lease.open,
                    want: lease.want,
                    expiresAtMs: lease.expires.milliseconds
                )
            }
        }
    }
}

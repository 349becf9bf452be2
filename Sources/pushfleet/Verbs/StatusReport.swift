internal import Broker
internal import Desk
internal import Push
internal import Store

/// What `pushfleet status` shows; its keys are a contract with scripts.
struct StatusReport: Encodable {
    struct Queue: Encodable {
        let name: String
        /// `work`, `delay`, `dead`, `feedback`, `suspect`, `receipts` or `unrouted`.
        let kind: String
        let app: String?
        let lane: String?
        /// Messages that no worker holds; missing if the queue does not exist.
        let messages: Int?
        let consumers: Int?
        /// How long the oldest has waited at most, as far as that is known.
        let oldestMs: Int64?
    }

    struct Lane: Encodable {
        let app: String
        let lane: String
        /// Every counter by its name in Redis.
        let counters: [String: Int64]
        let inFlight: Int
        let retriedByReason: [String: Int64]
        let deadLetteredByReason: [String: Int64]
        let apnsLatency: Latency
        let endToEnd: Latency
        /// From publishing to a worker's first receipt.
        let dwell: Latency
    }

    struct Latency: Encodable {
        let count: Int64
        let meanMs: Double?
        let p50Ms: Double?
        let p95Ms: Double?
        let p99Ms: Double?
    }

    struct Worker: Encodable {
        let id: String
        let host: String
        let pid: Int
        let version: String
        let startedAtMs: Int64
        let lastBeatMs: Int64?
        let connectionsHeld: [String: Int]
        let inFlight: Int
        let prefetch: Int
        /// Apps that it does not send for at present, and why: `credential`, `suspects` or `outage`.
        let paused: [String: String]
        /// Its number among the workers of its process, from 1.
        let loop: Int
        let draining: Bool
    }

    /// The scaling signal, as in `pushfleet_desired_replicas` and `pushfleet_useful_replicas`.
    struct Replicas: Encodable {
        let desired: Int
        /// How many the budgets have connections for.
        let useful: Int
    }

    struct Budget: Encodable {
        let pool: String
        /// What the configuration here says; missing for a pool that only workers know.
        let configured: Int?
        /// What workers go by: the smallest that one of them carries.
        let inForce: Int?
        let held: Int
        let wanted: Int
        /// These grow only, see ``FleetStatus/Pool/Counts``: connections, times, milliseconds, connections, connections.
        let granted: Int
        let waited: Int
        let waitTimeMs: Int64
        let reclaimed: Int
        let overage: Int
        let quarantineMs: Int64
        /// When the certificate in use ends; missing with a signing key, which does not.
        let certificateExpiresAtMs: Int64?
    }

    /// An app that is paused for the whole fleet.
    struct PausedApp: Encodable, Equatable {
        let app: String
        /// `credential`, `suspects` or `hand`.
        let cause: String
        let sinceMs: Int64
        /// When the next probe may go, or a pause by hand ends; missing for one without end.
        let untilMs: Int64?
        /// The worker whose probe is to find out; missing while there is none.
        let probedBy: String?
        /// The worker, as host and process id, or the operator.
        let by: String
        let reason: String?
    }

    /// When Redis was read, by its clock.
    let timeMs: Int64?
    let queues: [Queue]?
    let lanes: [Lane]?
    let workers: [Worker]?
    let budgets: [Budget]?
    let pausedApps: [PausedApp]?
    /// Missing while RabbitMQ or Redis does not answer.
    let replicas: Replicas?

    init(_ snapshot: FleetSnapshot, budgets: [Store.Budget]) {
        self.replicas = ReplicaPlan(
            snapshot,
            minute: snapshot.minute,
            ages: snapshot.ages,
            budgets: Dictionary(budgets.map { ($0.pool, $0.connections) }, uniquingKeysWith: { first, _ in first })
        ).map { Replicas(desired: $0.desired, useful: $0.useful) }
        self.queues = snapshot.queues?.map { Queue($0, oldestMs: snapshot.ages[$0.name]) }
        self.timeMs = snapshot.fleet?.time.milliseconds
        self.lanes = snapshot.fleet?.lanes.map { lane in
            Lane(lane, inFlight: snapshot.inFlight(app: lane.app, lane: lane.lane))
        }
        self.workers = snapshot.fleet?.workers.map(Worker.init)
        self.pausedApps = snapshot.fleet?.pauses.map(PausedApp.init)
        self.budgets = snapshot.fleet?.pools.map { pool in
            Budget(
                pool: pool.name,
                configured: budgets.first { $0.pool == pool.name }?.connections,
                inForce: pool.budget,
                held: pool.held,
                wanted: pool.wanted,
                granted: pool.counts.granted,
                waited: pool.counts.waited,
                waitTimeMs: pool.counts.waitTime.milliseconds,
                reclaimed: pool.counts.reclaimed,
                overage: pool.counts.overage,
                quarantineMs: pool.quarantine.milliseconds,
                // Workers may hold an old one and its successor for a while: the end that comes first counts.
                certificateExpiresAtMs: snapshot.fleet?.workers.compactMap { worker in
                    worker.certificatesExpireAt[pool.name]?.milliseconds
                }.min()
            )
        }
    }
}

// MARK: From what was read

extension StatusReport.Queue {
    init(_ status: QueueStatus, oldestMs: Int64?) {
        self.name = status.name
        self.oldestMs = oldestMs
        self.messages = status.depth?.messages
        self.consumers = status.depth?.consumers
        switch status.role {
        case .work(let app, let lane):
            (self.kind, self.app, self.lane) = ("work", app.name, lane.rawValue)
        case .delay: (self.kind, self.app, self.lane) = ("delay", nil, nil)
        case .dead: (self.kind, self.app, self.lane) = ("dead", nil, nil)
        case .feedback: (self.kind, self.app, self.lane) = ("feedback", nil, nil)
        case .suspect: (self.kind, self.app, self.lane) = ("suspect", nil, nil)
        case .receipts: (self.kind, self.app, self.lane) = ("receipts", nil, nil)
        case .unrouted: (self.kind, self.app, self.lane) = ("unrouted", nil, nil)
        }
    }
}

extension StatusReport.PausedApp {
    init(_ pause: AppPause) {
        self.app = pause.app
        self.cause = pause.cause
        self.sinceMs = pause.since.milliseconds
        self.untilMs = pause.until?.milliseconds
        self.probedBy = pause.probeLeft > .zero ? pause.prober : nil
        self.by = pause.by
        self.reason = pause.reason.isEmpty ? nil : pause.reason
    }
}

extension StatusReport.Lane {
    init(_ lane: FleetStatus.Lane, inFlight: Int) {
        self.app = lane.app
        self.lane = lane.lane
        self.counters = Dictionary(uniqueKeysWithValues: CounterField.allCases.map { ($0.rawValue, lane[$0]) })
        self.inFlight = inFlight
        self.retriedByReason = lane[ReasonField.retried]
        self.deadLetteredByReason = lane[ReasonField.deadLettered]
        self.apnsLatency = StatusReport.Latency(lane[.apnsLatency])
        self.endToEnd = StatusReport.Latency(lane[.endToEnd])
        self.dwell = StatusReport.Latency(lane[.dwell])
    }
}

extension StatusReport.Latency {
    init(_ histogram: Histogram) {
        self.count = histogram.count
        self.meanMs = histogram.mean
        self.p50Ms = histogram.percentile(0.5)
        self.p95Ms = histogram.percentile(0.95)
        self.p99Ms = histogram.percentile(0.99)
    }
}

extension StatusReport.Worker {
    init(_ beat: WorkerBeat) {
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
    }
}

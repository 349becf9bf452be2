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
        let apnsLatency: LatencyReport
        let endToEnd: LatencyReport
        /// From publishing to a worker's first receipt.
        let dwell: LatencyReport
    }

    /// The scaling signal, as in `pushfleet_desired_replicas` and `pushfleet_useful_replicas`.
    struct Replicas: Encodable {
        let desired: Int
        /// How many the budgets have connections for.
        let useful: Int
    }

    /// When Redis was read, by its clock.
    let timeMs: Int64?
    let queues: [Queue]?
    let lanes: [Lane]?
    let workers: [WorkerReport]?
    let budgets: [BudgetReport]?
    let pausedApps: [PausedAppReport]?
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
        self.workers = snapshot.fleet.map { fleet in fleet.workers.map { WorkerReport($0, fleet) } }
        self.pausedApps = snapshot.fleet?.pauses.map(PausedAppReport.init)
        self.budgets = snapshot.fleet.map { fleet in
            fleet.pools.map { pool in
                BudgetReport(
                    pool,
                    credential: nil,
                    configured: budgets.first { $0.pool == pool.name }?.connections,
                    workers: fleet.workers
                )
            }
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

extension StatusReport.Lane {
    init(_ lane: FleetStatus.Lane, inFlight: Int) {
        self.app = lane.app
        self.lane = lane.lane
        self.counters = Dictionary(uniqueKeysWithValues: CounterField.allCases.map { ($0.rawValue, lane[$0]) })
        self.inFlight = inFlight
        self.retriedByReason = lane[ReasonField.retried]
        self.deadLetteredByReason = lane[ReasonField.deadLettered]
        self.apnsLatency = LatencyReport(lane[.apnsLatency])
        self.endToEnd = LatencyReport(lane[.endToEnd])
        self.dwell = LatencyReport(lane[.dwell])
    }
}

internal import Broker
internal import Desk
internal import Push
internal import Store

/// The fleet at a glance: `GET /api/overview`, and the event of that name.
struct Overview: Encodable {
    struct Sources: Encodable {
        let redis: Source
        let rabbitmq: Source
    }

    struct Source: Encodable {
        let ok: Bool
        let error: String?

        init(failure: String?) {
            self.ok = failure == nil
            self.error = failure
        }
    }

    struct Counts: Encodable {
        var apps: Int?
        var pausedApps: Int?
        var workers: Int?
        var connectionsHeld: Int?
        var connectionsAllowed: Int?
        var inFlight: Int?
        var waiting: Int?
        var delayed: Int?
        var dead: Int?
    }

    struct Outcome: Encodable {
        /// Since Redis first knew it.
        let total: Int64
    }

    struct BusyApp: Encodable {
        let app: String
        let waiting: Int?
    }

    let timeMs: Int64
    let sources: Sources
    let findings: [FleetFinding]
    var counts = Counts()
    /// By the counter's name.
    var outcomes: [String: Outcome]?
    var apnsLatency: LatencyReport?
    var endToEnd: LatencyReport?
    var reasons: [ReasonCount]?
    var busiest: [BusyApp]?

    private static let shown: [CounterField] = [
        .received, .delivered, .retried, .deadLettered, .expired, .tokensGone, .suspectTokens, .possibleDuplicates,
    ]

    init(_ picture: FleetPicture) {
        self.timeMs = picture.time.milliseconds
        self.sources = Sources(
            redis: Source(failure: picture.redisFailure.map { "Redis \($0)" }),
            rabbitmq: Source(failure: picture.brokerFailure.map { "RabbitMQ \($0)" })
        )
        self.findings = FleetFinding.all(picture)
        if let status = picture.status { self.add(status, picture) }
        for queue in picture.queues ?? [] {
            let messages = queue.depth?.messages ?? 0
            switch queue.role {
            case .work: self.counts.waiting = (self.counts.waiting ?? 0) + messages
            case .delay: self.counts.delayed = (self.counts.delayed ?? 0) + messages
            case .dead: self.counts.dead = queue.depth?.messages
            case .feedback, .suspect, .receipts, .unrouted: break
            }
        }
    }

    private mutating func add(_ status: FleetStatus, _ picture: FleetPicture) {
        let totals = status.totals
        self.counts.apps = picture.apps.count
        self.counts.pausedApps = picture.apps.count { $0.paused != nil }
        self.counts.workers = status.workers.count
        self.counts.connectionsHeld = status.pools.reduce(0) { $0 + $1.held }
        self.counts.connectionsAllowed = picture.configured.credentials.reduce(0) { $0 + $1.maxConnections }
        self.counts.inFlight = picture.apps.reduce(0) { $0 + $1.inFlight }
        self.outcomes = Dictionary(
            uniqueKeysWithValues: Self.shown.map { ($0.rawValue, Outcome(total: totals[$0.rawValue] ?? 0)) }
        )
        let all = FleetStatus.Lane(app: "", lane: "", fields: totals)
        self.apnsLatency = LatencyReport(all[.apnsLatency])
        self.endToEnd = LatencyReport(all[.endToEnd])
        self.reasons = Array(ReasonCount.all([all]).prefix(10))
        self.busiest = picture.apps.filter { $0.delivered > 0 }
            .sorted { ($0.delivered, $1.app) > ($1.delivered, $0.app) }.prefix(6)
            .map { BusyApp(app: $0.app, waiting: $0.waiting) }
    }
}

/// A histogram in a few numbers, as in `pushfleet status --json`.
struct LatencyReport: Encodable {
    let count: Int64
    let meanMs: Double?
    let p50Ms: Double?
    let p95Ms: Double?
    let p99Ms: Double?

    init(_ histogram: Histogram) {
        self.count = histogram.count
        self.meanMs = histogram.mean
        self.p50Ms = histogram.percentile(0.5)
        self.p95Ms = histogram.percentile(0.95)
        self.p99Ms = histogram.percentile(0.99)
    }
}

/// How often a reason came.
struct ReasonCount: Encodable, Equatable {
    let reason: String
    /// `answered`, `unanswered`, `retried` or `dead_lettered`.
    let kind: String
    let total: Int64

    /// Of some lanes together, the most frequent first.
    static func all(_ lanes: [FleetStatus.Lane]) -> [ReasonCount] {
        var counts: [ReasonCount] = []
        for field in ReasonField.allCases {
            var sums: [String: Int64] = [:]
            for lane in lanes { sums.merge(lane[field], uniquingKeysWith: +) }
            counts += sums.filter { $0.value > 0 }.map {
                ReasonCount(reason: $0.key, kind: field.rawValue, total: $0.value)
            }
        }
        return counts.sorted { ($0.total, $1.reason, $1.kind) > ($1.total, $0.reason, $0.kind) }
    }
}

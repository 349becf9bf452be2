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
        /// In the last whole minute.
        let minute: Int64?
        /// In the last 60 whole minutes.
        let hour: Int64?
        /// Since Redis first knew it.
        let total: Int64
    }

    /// How long the oldest has waited, as far as that is known.
    struct Oldest: Encodable {
        var nowMs: Int64?
        var bulkMs: Int64?
        var delayedMs: Int64?
        var deadMs: Int64?
    }

    struct BusyApp: Encodable {
        let app: String
        let deliveredMinute: Int64?
        let waiting: Int?
        let series: [Int64?]?
    }

    /// What an hour's minutes come to; they change once a minute.
    struct Recent: Sendable {
        fileprivate let minute: FleetStatus.Lane
        fileprivate let hour: FleetStatus.Lane
        fileprivate let report: SeriesReport

        init(_ series: FleetSeries) {
            self.minute = series.last(1).total()
            self.hour = series.total()
            self.report = SeriesReport(series, hasLatency: true)
        }
    }

    /// Sums over all apps and an hour, which do not change while a picture lasts.
    struct Figures: Sendable {
        fileprivate let outcomes: [String: Outcome]
        fileprivate let series: SeriesReport?
        fileprivate let apnsLatency: LatencyReport
        fileprivate let endToEnd: LatencyReport
        /// All of them, the most frequent first.
        fileprivate let reasons: [ReasonCount]
        /// What the fleet counted in the last 60 whole minutes.
        let hour: FleetStatus.Lane?

        init(_ status: FleetStatus, _ recent: Recent?) {
            let totals = FleetStatus.Lane(app: "", lane: "", fields: status.totals)
            let (minute, hour) = (recent?.minute, recent?.hour)
            self.hour = hour
            self.outcomes = Dictionary(
                uniqueKeysWithValues: Overview.shown.map { field in
                    (field.rawValue, Outcome(minute: minute?[field], hour: hour?[field], total: totals[field]))
                }
            )
            self.series = recent?.report
            // How fast it was last week helps nobody.
            let latest = hour ?? totals
            self.apnsLatency = LatencyReport(latest[.apnsLatency])
            self.endToEnd = LatencyReport(latest[.endToEnd])
            self.reasons = ReasonCount.all([totals], hour: hour)
        }
    }

    let timeMs: Int64
    let sources: Sources
    let findings: [FleetFinding]
    var counts = Counts()
    var oldest = Oldest()
    /// By the counter's name.
    var outcomes: [String: Outcome]?
    var series: SeriesReport?
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
            let age = picture.ages[queue.name]
            switch queue.role {
            case .work(_, let lane):
                self.counts.waiting = (self.counts.waiting ?? 0) + messages
                switch lane {
                case .now: self.oldest.nowMs = Self.larger(self.oldest.nowMs, age)
                case .bulk: self.oldest.bulkMs = Self.larger(self.oldest.bulkMs, age)
                }
            case .delay:
                self.counts.delayed = (self.counts.delayed ?? 0) + messages
                self.oldest.delayedMs = Self.larger(self.oldest.delayedMs, age)
            case .dead:
                self.counts.dead = queue.depth?.messages
                self.oldest.deadMs = age
            case .feedback, .suspect, .receipts, .unrouted: break
            }
        }
    }

    private static func larger(_ one: Int64?, _ other: Int64?) -> Int64? {
        [one, other].compactMap { $0 }.max()
    }

    private mutating func add(_ status: FleetStatus, _ picture: FleetPicture) {
        self.counts.apps = picture.apps.count
        self.counts.pausedApps = picture.apps.count { $0.paused != nil }
        self.counts.workers = status.workers.count
        self.counts.connectionsHeld = status.pools.reduce(0) { $0 + $1.held }
        self.counts.connectionsAllowed = picture.configured.credentials.reduce(0) { $0 + $1.maxConnections }
        self.counts.inFlight = picture.apps.reduce(0) { $0 + $1.inFlight }
        if let figures = picture.figures {
            self.outcomes = figures.outcomes
            self.series = figures.series
            self.apnsLatency = figures.apnsLatency
            self.endToEnd = figures.endToEnd
            self.reasons = Array(figures.reasons.prefix(10))
        }
        // They come sorted by name, and Swift's sort keeps what is equal in its order.
        self.busiest = picture.apps.filter { $0.delivered > 0 }.sorted { $0.deliveredRank > $1.deliveredRank }.prefix(6)
            .map { app in
                BusyApp(
                    app: app.app,
                    deliveredMinute: app.deliveredMinute,
                    waiting: app.waiting,
                    series: app.series
                )
            }
    }
}

/// How often a reason came.
struct ReasonCount: Encodable, Equatable {
    let reason: String
    /// `answered`, `unanswered`, `retried` or `dead_lettered`.
    let kind: String
    /// In the last 60 whole minutes; nil if that is not known.
    let hour: Int64?
    let total: Int64

    /// Of some lanes together, the most frequent first.
    /// - Parameter hour: what was counted in the last 60 whole minutes.
    static func all(_ lanes: [FleetStatus.Lane], hour: FleetStatus.Lane? = nil) -> [ReasonCount] {
        var counts: [ReasonCount] = []
        for field in ReasonField.allCases {
            var sums: [String: Int64] = [:]
            for lane in lanes { sums.merge(lane[field], uniquingKeysWith: +) }
            let last = hour.map { $0[field] }
            counts += sums.filter { $0.value > 0 }.map { reason, total in
                ReasonCount(
                    reason: reason,
                    kind: field.rawValue,
                    hour: last.map { $0[reason] ?? 0 },
                    total: total
                )
            }
        }
        return counts.sorted {
            ($0.hour ?? 0, $0.total, $1.reason, $1.kind) > ($1.hour ?? 0, $1.total, $0.reason, $0.kind)
        }
    }
}

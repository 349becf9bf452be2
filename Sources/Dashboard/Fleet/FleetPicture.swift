internal import Broker
internal import Desk
internal import Loop
internal import Push
internal import Store

/// The fleet at one moment, as far as RabbitMQ and Redis answered; the same for all viewers.
struct FleetPicture: Sendable {
    /// When its reading began.
    let begun: MonotonicTime
    /// By the clock of Redis, or by ours while that is away.
    let time: UnixTime
    let configured: ConfiguredFleet
    let status: FleetStatus?
    let queues: [QueueStatus]?
    /// Why Redis, or RabbitMQ, did not answer: what stands behind its name.
    let redisFailure: String?
    let brokerFailure: String?
    /// All that the configuration or the counters know, by name.
    let apps: [AppRow]
    /// What the fleet counted in each of the last whole minutes; nil if Redis did not say.
    let series: FleetSeries?
    /// How long the oldest message of each queue has waited, as far as that is known; milliseconds by the queue's name.
    let ages: [String: Int64]
    /// What all looks at the overview share: sums over all apps and an hour.
    let figures: Overview.Figures?

    init(
        configured: ConfiguredFleet,
        begun: MonotonicTime,
        status: Result<FleetStatus, SourceFailure>,
        queues: Result<[QueueStatus], SourceFailure>,
        wallTime: UnixTime,
        series: FleetSeries? = nil,
        recent: Overview.Recent? = nil,
        minutes: AppMinutes = AppMinutes(),
        emptyAt: [String: UnixTime] = [:],
        oldestDead: UnixTime? = nil
    ) {
        self.begun = begun
        self.configured = configured
        self.status = try? status.get()
        self.queues = try? queues.get()
        self.redisFailure = status.failure?.phrase
        self.brokerFailure = queues.failure?.phrase
        self.time = self.status?.time ?? wallTime
        self.series = series
        let time = self.time
        var ages = QueueAge.all(self.queues ?? [], fleet: self.status, emptyAt: emptyAt, now: time)
        // What was read there is better than when it was last seen empty.
        if let oldestDead, let dead = self.queues?.first(where: { $0.role == .dead }), dead.depth?.messages ?? 0 > 0 {
            ages[dead.name] = max(0, time.milliseconds - oldestDead.milliseconds)
        }
        self.ages = ages
        self.apps = AppRow.rows(configured, self.status, self.queues, ages: ages, minutes: minutes)
        self.figures = self.status.map { status in
            Overview.Figures(status, series.map { recent ?? Overview.Recent($0) })
        }
    }

    /// Or what to answer without Redis.
    func fleet() throws(Problem) -> FleetStatus {
        guard let status = self.status else { throw .redisAway(self.redisFailure ?? "does not answer") }
        return status
    }

    /// Or what to answer without RabbitMQ.
    func allQueues() throws(Problem) -> [QueueStatus] {
        guard let queues = self.queues else { throw .brokerAway(self.brokerFailure ?? "does not answer") }
        return queues
    }

    /// In the dead-letter queue; nil if that is not known.
    var deadLetters: Int? { self.queues?.first { $0.role == .dead }?.depth?.messages }

    /// What the fleet counted in the last whole minute.
    var lastMinute: FleetStatus.Lane? { self.series?.last(1).total() }

    /// The scaling signal; nil while one of both servers does not answer.
    var replicas: ReplicaPlan? {
        ReplicaPlan(
            FleetSnapshot(queues: self.queues, fleet: self.status),
            minute: self.lastMinute,
            ages: self.ages,
            budgets: Dictionary(
                self.configured.credentials.map { ($0.pool, $0.maxConnections) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    func app(_ name: String) -> AppRow? { self.apps.first { $0.app == name } }
}

/// Why a server could not be asked.
struct SourceFailure: Error, Equatable {
    let text: String
    /// It is there, and does not let the dashboard do this.
    var isRefusal = false

    /// What stands behind the server's name.
    var phrase: String { self.isRefusal ? "refuses: \(self.text)" : "does not answer: \(self.text)" }
}

extension Result {
    fileprivate var failure: Failure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }
}

extension Problem {
    /// - Parameter phrase: of a ``SourceFailure``.
    static func redisAway(_ phrase: String) -> Problem {
        .unavailable("Redis \(phrase)", "Look at Redis and the rights in deploy/redis, then try again.")
    }

    static func brokerAway(_ phrase: String) -> Problem {
        .unavailable("RabbitMQ \(phrase)", "Look at RabbitMQ, then try again.")
    }
}

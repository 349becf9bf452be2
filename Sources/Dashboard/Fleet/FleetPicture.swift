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

    init(
        configured: ConfiguredFleet,
        begun: MonotonicTime,
        status: Result<FleetStatus, SourceFailure>,
        queues: Result<[QueueStatus], SourceFailure>,
        wallTime: UnixTime
    ) {
        self.begun = begun
        self.configured = configured
        self.status = try? status.get()
        self.queues = try? queues.get()
        self.redisFailure = status.failure?.phrase
        self.brokerFailure = queues.failure?.phrase
        self.time = self.status?.time ?? wallTime
        self.apps = AppRow.rows(configured, self.status, self.queues)
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

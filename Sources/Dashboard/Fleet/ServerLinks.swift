internal import Broker
internal import Logging
internal import Loop
internal import Push
internal import Store
internal import Wire

/// The dashboard's connections to Redis and RabbitMQ: made when they are needed, and made again after they broke.
///
/// Both are sessions with a loop thread of their own, as the room Desk asks them for; no answer is so urgent that one
/// thread for both would gain anything.
actor ServerLinks {
    private let parts: DashboardParts
    private let logger: Logger
    private var redis: RedisSession?
    private var broker: BrokerSession?
    private var openingRedis: Task<Result<RedisSession, SourceFailure>, Never>?
    private var openingBroker: Task<Result<BrokerSession, SourceFailure>, Never>?
    private var told: [String: String] = [:]
    private var hasStopped = false

    /// For connecting, and for each answer. The page itself gives up after 20 s.
    private static let timeout: Duration = .seconds(5)

    init(_ parts: DashboardParts, logger: Logger) {
        self.parts = parts
        self.logger = logger
    }

    // MARK: Redis

    nonisolated func askRedis<Answer: Sendable>(
        _ question: @Sendable (RedisSession) async throws(RedisFailure) -> Answer
    ) async -> Result<Answer, SourceFailure> {
        switch await self.openRedis() {
        case .failure(let failure): return .failure(failure)
        case .success(let session):
            do throws(RedisFailure) {
                let answer = try await question(session)
                await self.answered("Redis")
                return .success(answer)
            } catch {
                return .failure(await self.failed("Redis", error.failure))
            }
        }
    }

    private func openRedis() async -> Result<RedisSession, SourceFailure> {
        guard !self.hasStopped else { return .failure(SourceFailure(text: "the dashboard stops")) }
        if let redis = self.redis { return .success(redis) }
        if let opening = self.openingRedis { return await opening.value }
        let parts = self.parts
        let task = Task { () -> Result<RedisSession, SourceFailure> in
            var settings = RedisClient.Settings()
            settings.commandTimeout = Self.timeout
            settings.transport.connectTimeout = Self.timeout
            settings.clientName = "pushfleet-dashboard"
            do throws(RedisSession.CannotOpen) {
                return .success(
                    try await RedisSession.open(parts.redis, trusting: parts.redisAuthorities, settings: settings)
                )
            } catch {
                return .failure(SourceFailure(text: error.reason))
            }
        }
        self.openingRedis = task
        let result = await task.value
        self.openingRedis = nil
        switch result {
        case .success(let session): self.redis = session
        case .failure(let failure): self.tell("Redis", failure.text)
        }
        return result
    }

    // MARK: RabbitMQ

    nonisolated func askBroker<Answer: Sendable>(
        _ question: @Sendable (BrokerSession) async throws(BrokerError) -> Answer
    ) async -> Result<Answer, SourceFailure> {
        switch await self.openBroker() {
        case .failure(let failure): return .failure(failure)
        case .success(let session):
            do throws(BrokerError) {
                let answer = try await question(session)
                await self.answered("RabbitMQ")
                return .success(answer)
            } catch {
                // One that broke does not come back by itself.
                await self.drop(session)
                return .failure(await self.failed("RabbitMQ", error.failure))
            }
        }
    }

    private func openBroker() async -> Result<BrokerSession, SourceFailure> {
        guard !self.hasStopped else { return .failure(SourceFailure(text: "the dashboard stops")) }
        if let broker = self.broker { return .success(broker) }
        if let opening = self.openingBroker { return await opening.value }
        var settings = self.parts.broker
        settings.transport.connectTimeout = Self.timeout
        let task = Task { [settings] () -> Result<BrokerSession, SourceFailure> in
            do {
                return .success(try await BrokerSession.connect(settings, timeout: Self.timeout))
            } catch {
                return .failure(SourceFailure(text: "\(error)"))
            }
        }
        self.openingBroker = task
        let result = await task.value
        self.openingBroker = nil
        switch result {
        case .success(let session): self.broker = session
        case .failure(let failure): self.tell("RabbitMQ", failure.text)
        }
        return result
    }

    private func drop(_ session: BrokerSession) {
        guard self.broker === session else { return }
        self.broker = nil
    }

    // MARK: Telling

    private func failed(_ server: String, _ failure: SourceFailure) -> SourceFailure {
        self.tell(server, failure.text)
        return failure
    }

    private func answered(_ server: String) {
        guard self.told.removeValue(forKey: server) != nil else { return }
        self.logger.notice("answers again", metadata: ["server": "\(server)"])
    }

    /// Each reason once, not each second.
    private func tell(_ server: String, _ reason: String) {
        guard self.told.updateValue(reason, forKey: server) != reason else { return }
        self.logger.warning("does not answer", metadata: ["server": "\(server)", "reason": "\(reason)"])
    }

    func stop() async {
        self.hasStopped = true
        self.redis?.close()
        self.redis = nil
        await self.broker?.close()
        self.broker = nil
    }
}

extension RedisFailure {
    fileprivate var failure: SourceFailure {
        switch self {
        case .unavailable(let reason), .unknown(let reason): SourceFailure(text: reason)
        case .refused(let error): SourceFailure(text: "\(error)", isRefusal: true)
        }
    }
}

extension BrokerError {
    fileprivate var failure: SourceFailure {
        if case .channelClosed = self {
            SourceFailure(text: "\(self)", isRefusal: true)
        } else {
            SourceFailure(text: "\(self)")
        }
    }
}

internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS
internal import Store

/// The one thread of a gateway that talks to Redis and RabbitMQ.
///
/// What the server's handlers ask for comes here by one hop; all that was asked for in one turn leaves in one write to
/// each of them.
final class GatewayLoop {
    let loop: EventLoop
    let parts: GatewayParts
    let metrics: Metrics
    let redis: RedisClient
    let outbox: Outbox
    let registry: Registry
    /// Whether the queues that gateways need are there.
    var isDeclared = false
    private(set) var applications: ApplicationCache!
    private(set) var publishing: Publishing!
    private(set) var events: EventDesk!
    private(set) var credentials: CredentialDesk!
    private var fanOut: FanOutDesk!
    private var feedback: FeedbackDesk!
    private(set) var receipts: ReceiptDesk!
    private var sweeper: Sweeper!
    private(set) var signing: SigningDesk!
    private var webhooks: WebhookDesk!
    let signer: EnvelopeSigner
    /// Publishes; deliveries come and are settled on a connection of their own, which no alarm can stall.
    private let client: BrokerClient
    private let intake: BrokerClient
    private let intakeState: BrokerState

    init(_ parts: GatewayParts, outside: GatewayOutside, metrics: Metrics, on loop: EventLoop) throws {
        self.loop = loop
        self.parts = parts
        self.metrics = metrics
        var redis = RedisClient.Settings()
        redis.clientName = "pushfleet-gateway"
        self.redis = RedisClient(address: parts.redis, tls: parts.redisTLS, settings: redis, on: loop)
        let state = BrokerState()
        self.client = try BrokerClient(parts.broker("publish"), on: loop, delegate: state)
        self.outbox = Outbox(self.client, state: state, metrics: metrics, on: loop)
        self.intakeState = BrokerState()
        self.intake = try BrokerClient(parts.broker("consume"), on: loop, delegate: self.intakeState)
        self.registry = Registry(self.redis)
        self.signer = outside.signer
        self.applications = ApplicationCache(core: self)
        self.publishing = Publishing(core: self)
        self.events = EventDesk(core: self)
        self.credentials = CredentialDesk(core: self)
        self.fanOut = FanOutDesk(core: self)
        self.feedback = FeedbackDesk(core: self)
        self.receipts = ReceiptDesk(core: self)
        self.sweeper = Sweeper(core: self)
        self.signing = SigningDesk(core: self, signer: outside.signer)
        self.webhooks = WebhookDesk(core: self, sender: outside.sender)
    }

    func start() {
        self.redis.start()
        self.fanOut.start(self.intake)
        self.feedback.start(self.intake)
        self.receipts.start(self.intake)
        self.webhooks.start(self.intake)
        self.sweeper.start()
        self.signing.start()
        self.credentials.start()
    }

    // MARK: Answers of the registry

    /// The outcome, or what a client is told without one.
    func found<Outcome>(_ result: Result<Outcome, RedisFailure>) throws(SNSError) -> Outcome {
        do throws(RedisFailure) {
            return try result.get()
        } catch {
            throw self.report(error)
        }
    }

    func report(_ failure: RedisFailure) -> SNSError {
        self.metrics.add(.redisFailures)
        return .unavailable
    }

    /// Why it cannot serve now: a sentence for each server that is away; empty if all is well.
    var obstacles: [String] {
        var obstacles: [String] = []
        switch self.redis.state {
        case .ready: break
        case .connecting, .stopped: obstacles.append("Redis: connecting")
        case .waiting(let reason), .authenticationFailed(let reason): obstacles.append("Redis: \(reason)")
        }
        if !self.isDeclared { obstacles.append("RabbitMQ: its queues are not declared yet") }
        if self.signing.state == .looking { obstacles.append("the key that signs notifications is not there yet") }
        if let obstacle = self.outbox.obstacle { obstacles.append("RabbitMQ: \(obstacle)") }
        return obstacles
    }

    /// Closes both connections in good order.
    func stop(_ completion: @escaping () -> Void) {
        self.intakeState.whenClosed = { [outbox, redis] in
            outbox.close {
                redis.stop()
                completion()
            }
        }
        self.intake.close()
    }
}

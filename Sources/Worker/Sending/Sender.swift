internal import APNs
internal import HTTP2
internal import Loop
internal import Push
internal import Store
internal import Wire

/// Sends with one credential: holds its connections under the fleet's lease, its provider token, and what waits for a
/// stream.
final class Sender {
    let credential: CredentialSettings
    private let settings: WorkerSettings
    private let loop: EventLoop
    private unowned let worker: WorkerLoop
    private let signer: ProviderTokenSigner
    private let sharedToken: SharedProviderToken
    private var keeper: LeaseKeeper!
    private var pool: ConnectionPool!
    private let headers = RequestHeaders()
    private var policy = ProviderTokenPolicy()
    private var queue = SendQueue()
    private var isDraining = false
    private var dialTimer: Deadline?
    private var tokenRetry: Deadline?

    init(
        _ credential: CredentialSettings,
        signer: ProviderTokenSigner,
        tls: TLSContext,
        fleet: FleetSettings,
        lease: LeaseSettings,
        id: InstanceID,
        redis: RedisClient,
        loop: EventLoop,
        worker: WorkerLoop
    ) {
        self.credential = credential
        self.settings = fleet.worker
        self.loop = loop
        self.worker = worker
        self.signer = signer
        self.sharedToken = SharedProviderToken(teamID: credential.teamID, keyID: credential.keyID, client: redis)
        let host = credential.host ?? credential.environment.host
        var settings = ConnectionPool.Settings(
            endpoint: Endpoint(host: host, port: credential.port ?? 443),
            tls: tls
        )
        settings.http2.requestTimeout = fleet.worker.requestTimeout
        self.pool = ConnectionPool(settings, on: loop, delegate: self)
        self.keeper = LeaseKeeper(
            budget: Budget(pool: credential.budgetPool, connections: credential.maxConnections),
            settings: lease,
            id: id,
            client: redis,
            on: loop,
            delegate: self
        )
    }

    func start() {
        self.keeper.start()
        self.updateDemand()
        self.askForToken()
    }

    // MARK: What it carries

    /// Connections that the lease allows; what prefetches follow.
    var connectionsAllowed: Int { self.isDraining ? 0 : self.pool.limit }
    var connectionsHeld: Int { self.pool.held }
    var inFlight: Int { self.pool.inFlight }
    var isIdle: Bool { self.pool.inFlight == 0 && self.queue.count == 0 }

    /// Queues tokens of a message; they are sent when the turn ends, as far as streams are free.
    func enqueue(_ flight: FlightID, tokens: Range<Int>, isUrgent: Bool) {
        self.queue.append(flight, tokens: tokens, isUrgent: isUrgent)
        self.worker.needsPump(self)
    }

    /// What waits and was never sent, to be given back.
    func takeWaiting() -> [SendQueue.Push] { self.queue.takeAll() }

    /// Sends what waits, as long as streams are free.
    func pump() {
        guard self.queue.count > 0, self.keeper.isValid, self.policy.usable(at: self.loop.wallTime) != nil else {
            return
        }
        var free = self.pool.availableStreams
        while free > 0, let push = self.queue.takeFirst() {
            let wasSent = self.worker.send(push) { job, id, topic in
                self.headers.fill(job, token: push.token, id: id, topic: topic)
                self.pool.submit(
                    self.headers,
                    body: job.body,
                    payload: job.payload,
                    context: push.flight.context(token: push.token)
                )
            }
            if wasSent { free -= 1 }
        }
        self.updateDemand()
    }

    /// The budget is asked for what the work would use, and always for one: without a connection there is no work.
    func updateDemand() {
        let work = self.pool.inFlight + self.queue.count
        let useful = (work + self.settings.streamsPerConnection - 1) / self.settings.streamsPerConnection
        self.pool.wanted = self.isDraining ? 0 : min(max(1, useful), self.credential.maxConnections)
        self.keeper.update(open: self.pool.held, want: self.pool.wanted)
    }

    // MARK: Ending

    /// Opens nothing more; what is in flight may finish.
    func drain() {
        self.isDraining = true
        self.updateDemand()
    }

    /// Closes what is left and gives the lease back.
    func release(_ completion: @escaping () -> Void) {
        self.isDraining = true
        self.pool.closeAll()
        self.keeper.update(open: self.pool.held, want: 0)
        self.keeper.release(completion)
    }

    // MARK: Provider token

    /// Apple refused the provider token; another is fetched as soon as its age allows.
    func tokenWasRefused() {
        self.policy.refused(at: self.loop.wallTime)
        self.askForToken()
    }

    /// One token for the whole fleet: taken from Redis, minted by whoever Redis picks. Without Redis an existing token
    /// is used until Apple's hour is over, and a worker that has none mints its own.
    func askForToken() {
        guard self.policy.shouldAsk(at: self.loop.wallTime) else { return }
        self.sharedToken.fetch { [weak self] in
            guard let self else { return nil }
            return self.signer.mint(at: self.loop.wallTime)
        } completion: { [weak self] token in
            self?.received(token)
        }
    }

    private func received(_ token: ProviderToken?) {
        if let token {
            self.policy.received(token)
        } else if self.policy.usable(at: self.loop.wallTime) == nil {
            self.policy.received(self.signer.mint(at: self.loop.wallTime))
        } else {
            self.policy.failed()
        }
        if let usable = self.policy.usable(at: self.loop.wallTime) { self.headers.use(usable) }
        self.worker.needsPump(self)
        self.tokenRetry?.cancel()
        self.tokenRetry = self.loop.after(.seconds(15)) { [weak self] in self?.askForToken() }
    }
}

extension Sender: ConnectionPoolDelegate {
    func pool(_: ConnectionPool, didReceive reply: Push.Reply, classification: Classification, context: UInt64) {
        if classification.refreshProviderToken { self.tokenWasRefused() }
        self.worker.received(reply, classification, context: context)
    }

    func pool(_: ConnectionPool, didFail failure: SendFailure, context: UInt64) {
        self.worker.failed(failure, context: context)
    }

    func pool(_: ConnectionPool, didReceiveGoAway reason: ApnsReason?) {
        self.worker.receivedGoAway(reason, from: self)
    }

    func pool(_: ConnectionPool, didCloseConnection detail: String, wasReady: Bool) {
        self.worker.connectionClosed(self, detail: detail, wasReady: wasReady)
    }

    func poolMayOpen(_: ConnectionPool) -> Bool {
        self.keeper.mayOpen
    }

    func poolDidChangeHeld(_ pool: ConnectionPool) {
        self.keeper.update(open: pool.held, want: pool.wanted)
    }

    func poolHasFreeStreams(_: ConnectionPool) {
        self.worker.needsPump(self)
    }
}

extension Sender: LeaseKeeperDelegate {
    func leaseDidChange(_ keeper: LeaseKeeper) {
        guard !self.isDraining else { return }
        self.pool.limit = keeper.answer?.limit ?? 0
        self.pool.update()
        self.worker.connectionsChanged(self)
    }

    /// Redis may have given these connections to another worker by now, or will at any moment.
    func leaseDidEnd(_: LeaseKeeper) {
        self.pool.closeAll()
        self.worker.leaseEnded(self)
    }
}

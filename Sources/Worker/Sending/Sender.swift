internal import APNs
internal import HTTP2
internal import Loop
internal import Push
internal import Store
internal import Wire

/// Sends with one credential: holds its connections under the fleet's lease, its provider token, and what waits for a
/// stream.
final class Sender {
    private(set) var credential: CredentialSettings
    private let id: InstanceID
    private let redis: RedisClient
    private let settings: WorkerSettings
    private let loop: EventLoop
    private unowned let worker: WorkerLoop
    /// Nil with a certificate: the connection itself says who we are.
    private var tokens: ProviderTokenSource?
    /// The source of a credential that takes over as soon as it has a token.
    private var nextTokens: ProviderTokenSource?
    /// Nil with a signing key, which covers all apps of a team and does not end.
    private var certificate: ClientCertificate?
    var certificateExpiry: CertificateExpiry?
    private var keeper: LeaseKeeper!
    private var pace: PaceKeeper!
    private var pool: ConnectionPool!
    private let headers = RequestHeaders()
    private var queue = SendQueue()
    private var shares = StreamShares()
    private var demand = Demand()
    private var isDraining = false
    /// Who sends for its apps now, with a credential that has another budget.
    private(set) var successor: Sender?

    init(
        _ loaded: LoadedCredential,
        fleet: FleetSettings,
        lease: LeaseSettings,
        id: InstanceID,
        redis: RedisClient,
        loop: EventLoop,
        worker: WorkerLoop
    ) {
        let credential = loaded.settings
        self.credential = credential
        self.id = id
        self.redis = redis
        self.settings = fleet.worker
        self.loop = loop
        self.worker = worker
        let host = credential.host ?? credential.environment.host
        var settings = ConnectionPool.Settings(
            endpoint: Endpoint(host: host, port: credential.port ?? 443),
            tls: loaded.tls
        )
        settings.http2.transport.proxy = credential.proxy
        settings.http2.requestTimeout = fleet.worker.requestTimeout
        settings.http2.pingInterval = fleet.worker.pingInterval
        settings.http2.pingTimeout = fleet.worker.pingTimeout
        settings.plan.maxAge = fleet.worker.maxConnectionAge
        self.show(loaded)
        let authorization = Authorization()
        if case .token(let signer) = loaded.kind {
            self.tokens = self.source(signer, for: authorization)
        }
        self.pool = ConnectionPool(settings, authorization: authorization, on: loop, delegate: self)
        let budget = Budget(pool: credential.pool, connections: credential.maxConnections)
        self.pace = PaceKeeper(
            budget,
            pace: ConnectPace(rate: fleet.budget.connectRate),
            client: redis,
            on: loop
        ) { [unowned self] in
            self.pool.update()
        }
        self.keeper = LeaseKeeper(
            budget: budget,
            settings: lease,
            id: id,
            client: redis,
            on: loop,
            delegate: self
        )
    }

    private func source(
        _ signer: ProviderTokenSigner,
        for authorization: Authorization,
        onToken: @escaping () -> Void = {}
    ) -> ProviderTokenSource {
        ProviderTokenSource(signer: signer, id: self.id, redis: self.redis, loop: self.loop) { [unowned self] token in
            authorization.use(token)
            onToken()
            self.worker.needsPump(self)
        }
    }

    func start() {
        self.keeper.start()
        self.updateDemand()
        self.tokens?.refresh()
    }

    /// Now and then: what has become due.
    func tick() {
        self.refreshTokens()
        self.updateDemand()
        // The ramp or a renewal under way may have held back a connection.
        self.pool.update()
    }

    /// Fetches provider tokens that are due; at once when Redis is there.
    func refreshTokens() {
        self.tokens?.refresh()
        self.nextTokens?.refresh()
    }

    // MARK: Another credential

    /// Goes over to a credential with the same budget: a renewed certificate, or a corrected key file. New connections
    /// prove themselves with it, those there are keep what they were made with and are replaced one by one.
    /// - Parameter completion: called when new connections use it; a key needs a token first.
    func use(_ loaded: LoadedCredential, _ completion: @escaping () -> Void) {
        let authorization = Authorization()
        guard case .token(let signer) = loaded.kind else {
            self.begin(loaded, authorization, tokens: nil)
            return completion()
        }
        var isFirst = true
        self.nextTokens = self.source(signer, for: authorization) { [unowned self] in
            guard isFirst else { return }
            isFirst = false
            self.begin(loaded, authorization, tokens: self.nextTokens)
            completion()
        }
        self.nextTokens?.refresh()
    }

    private func begin(_ loaded: LoadedCredential, _ authorization: Authorization, tokens: ProviderTokenSource?) {
        self.credential = loaded.settings
        self.show(loaded)
        self.tokens = tokens
        self.nextTokens = nil
        self.pool.use(loaded.tls, authorization: authorization)
    }

    private func show(_ loaded: LoadedCredential) {
        self.certificate = if case .certificate(let certificate) = loaded.kind { certificate } else { nil }
        self.certificateExpiry = self.certificate.map { CertificateExpiry(notAfter: $0.notAfter) }
    }

    /// Why Apple would refuse every push to this topic, for the dead letter; nil with a key, which may send anything.
    func refusal(topic: @autoclosure () -> String, of job: Job) -> Refusal? {
        guard let certificate = self.certificate else { return nil }
        let topic = topic()
        guard !certificate.covers(topic) else { return nil }
        let covered = certificate.topics.map(\.name).joined(separator: ", ")
        return Refusal(
            .invalidField,
            field: job.topicOverride == nil ? "push_type" : "topic",
            "the topic \(topic) is not covered by the certificate of \(self.credential.configuredName), which is for "
                + "\(covered); use another push_type, or a signing key for this app"
        )
    }

    /// Whether a push could be sent now.
    var canSend: Bool {
        self.keeper.isValid && self.tokens?.isUsable ?? true && self.pool.streams.free > 0
    }

    /// Whether nothing is under way and nothing can go, as with a host that cannot be reached.
    var isStuck: Bool { self.pool.inFlight == 0 && !self.canSend }

    /// Pushes that wait for a stream.
    var waiting: Int { self.queue.count }

    /// Leaves its apps to a sender with another credential and another budget. What waits goes there, what is in flight
    /// may finish, then the lease is given back.
    func leave(to successor: Sender) {
        self.successor = successor
        while let (flight, tokens, isUrgent, turn) = self.queue.takeFirstEntry() {
            successor.enqueue(flight, tokens: tokens, isUrgent: isUrgent, of: turn)
        }
        self.leave()
    }

    /// Has no apps any more. What is in flight may finish, then the lease is given back.
    func leave() {
        self.drain()
        self.pool.supersede()
    }

    /// Whether it has no connection left.
    var isIdle: Bool { self.pool.held == 0 }

    // MARK: What it carries

    /// Connections that the lease allows; what prefetches follow.
    var connectionsAllowed: Int { self.isDraining ? 0 : self.pool.limit }
    var connectionsHeld: Int { self.pool.held }
    var connectionTally: ConnectionTally { self.pool.tally }
    var inFlight: Int { self.pool.inFlight }
    /// Requests that the open connections take together.
    var streamLimit: Int { self.pool.streams.total }
    /// The end of the lease in force; nil without one.
    var leaseEnds: MonotonicTime? { self.keeper.isValid ? self.keeper.deadline : nil }
    /// Renewals of the lease that Redis answered, and the others.
    var leaseRenewals: (Int, Int) { (self.keeper.renewals, self.keeper.failedRenewals) }
    /// Why the last renewal had no answer; nil if it had one.
    var leaseProblem: String? { self.keeper.lastFailure.map { "\($0)" } }

    /// Queues tokens of a message; they are sent when the turn ends, as far as streams are free.
    func enqueue(_ flight: FlightID, tokens: Range<Int>, isUrgent: Bool, of turn: AppTurn) {
        if let successor = self.successor {
            return successor.enqueue(flight, tokens: tokens, isUrgent: isUrgent, of: turn)
        }
        self.queue.append(flight, tokens: tokens, isUrgent: isUrgent, of: turn)
        self.worker.needsPump(self)
    }

    /// What waits and was never sent, to be given back.
    func takeWaiting() -> [SendQueue.Push] { self.queue.takeAll() }

    /// Sends what waits, as long as streams are free.
    func pump() {
        guard self.queue.count > 0, self.keeper.isValid, self.tokens?.isUsable ?? true else {
            return
        }
        var (free, streams) = self.pool.streams
        while free > 0,
            let (push, app) = self.queue.take(where: { self.shares.mayGo($0, isUrgent: $1, free: free, of: streams) })
        {
            let wasSent = self.worker.send(push) { job, id, topic in
                self.headers.fill(job, token: push.token, id: id, topic: topic)
                self.pool.submit(
                    self.headers,
                    body: job.outgoing,
                    payload: job.payload,
                    context: push.flight.context(token: push.token)
                )
            }
            guard wasSent else { continue }
            self.shares.sent(app)
            free -= 1
        }
        self.updateDemand()
    }

    /// A push of this app has its answer, or will never have one.
    func ended(_ app: Int) { self.shares.ended(app) }

    /// Who sends here: apps that share its streams.
    func share(among turns: [AppTurn]) { self.shares.share(among: turns) }

    /// The budget is asked for what the work would use, and always for one: without a connection there is no work.
    func updateDemand() {
        let work = self.pool.inFlight + self.queue.count
        let useful = (work + self.settings.streamsPerConnection - 1) / self.settings.streamsPerConnection
        let wanted = self.demand.noted(min(max(1, useful), self.credential.maxConnections), at: self.loop.now)
        self.pool.wanted = self.isDraining ? 0 : wanted
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
}

extension Sender: ConnectionPoolDelegate {
    func pool(
        _: ConnectionPool,
        didReceive reply: Reply,
        classification: Classification,
        latency: Duration,
        context: UInt64,
        connection: Int
    ) {
        if classification.refreshProviderToken { self.tokens?.refused() }
        self.worker.received(
            reply,
            classification,
            latency: latency,
            context: context,
            connection: connection,
            from: self
        )
    }

    func pool(_: ConnectionPool, didFail failure: SendFailure, context: UInt64, connection: Int) {
        self.worker.failed(failure, context: context, connection: connection, from: self)
    }

    func pool(_: ConnectionPool, didReceiveGoAway reason: ApnsReason?) {
        self.worker.receivedGoAway(reason, from: self)
    }

    func pool(_: ConnectionPool, didCloseConnection detail: String, wasReady: Bool) {
        self.worker.connectionClosed(self, detail: detail, wasReady: wasReady)
    }

    func poolMayOpen(_: ConnectionPool) -> Bool {
        self.keeper.mayOpen && self.pace.mayDial()
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

    /// Who of the two may use them nobody knows.
    func leaseHasTwin(_: LeaseKeeper) {
        self.pool.closeAll()
        self.worker.leaseHasTwin(self)
    }

    /// Redis may have given these connections to another worker by now, or will at any moment.
    func leaseDidEnd(_: LeaseKeeper) {
        self.pool.closeAll()
        self.worker.leaseEnded(self)
    }
}

internal import APNs
internal import Broker
internal import HTTP2
internal import Loop
internal import Push
internal import Store
internal import Wire

/// One worker: everything that lives on one loop thread, and how it begins and ends.
///
/// Two AMQP connections, since a broker that blocks publishers (an alarm) must not keep acknowledgements waiting: one
/// consumes and acknowledges, one publishes. A message goes through `Intake`, `Sending`, `Answering` and
/// `Settling`.
///
/// It lives as long as its loop, and nobody holds it weakly: an object that ever was pays for every reference to it.
final class WorkerLoop {
    let loop: EventLoop
    var settings: FleetSettings
    let tell: Teller
    var ladder: DelayLadder
    let copies: CopyWriter
    var consuming: BrokerClient!
    var publishing: BrokerClient!
    let redis: RedisClient
    let counters: Counting
    let flush: CounterFlush
    let trail: TrailFlush
    var words: TrailWords
    let identity: WorkerBeat
    /// What Redis was told last, and whether the next beat is skipped if there is nothing new.
    var lastBeat: (beat: WorkerBeat, isFresh: Bool)?
    /// Why apps are paused here, and since when, by the last beat.
    var toldPauses: [String: (cause: String, since: UnixTime)] = [:]
    let id: InstanceID
    /// Host and process id, for people.
    let name: String
    private let lease: LeaseSettings
    private(set) var settler: Settler!
    /// One for each credential, in the order of the settings.
    var senders: [Sender] = []
    /// Senders that are to take the place of one of `senders` as soon as they can send.
    var incoming: [Sender] = []
    /// Senders that have left their apps to another one and still have connections.
    var leaving: [Sender] = []
    var lines: [Line] = []
    /// What of changes to apps and credentials is still to be done.
    var unfinished = UnfinishedChanges()
    /// The budgets that it ever had a lease of.
    private var pools: Set<String> = []
    var flights = FlightTable()
    var dirty: [FlightID] = []
    /// Pushes that wait for the answer to a probe.
    var held: [SendQueue.Push] = []
    var throttle: TokenThrottle
    /// Whether Redis was asked for the pauses of all apps; nothing is taken before.
    var arePausesKnown = false
    var shutdown = Shutdown()
    let tokenBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Contract.addressBuffer, alignment: 8)
    private var pumpsDue: [Sender] = []
    var arePrefetchesDue = false
    /// Each app's number, which it keeps when it changes or goes and comes again.
    private var appNumbers: [String: Int] = [:]
    var drained: () -> Void = {}
    var brokerClosed: () -> Void = {}
    private var isReadyTold = false
    private var redisTrouble = RedisTrouble.none
    /// What other threads may know of it.
    let vitals: VitalsBoard
    var vitalsPostedAt: MonotonicTime?
    /// Requests that Apple answered or that failed, to see whether work goes on.
    var answers = 0
    var answersPosted = 0
    var progressAt: MonotonicTime?
    /// Called once, with who asked, when somebody orders this worker to drain.
    let onDrainOrder: @Sendable (DrainOrder) -> Void
    var isDrainOrdered = false
    /// Notifications given back unsent since it drains.
    var handedBack = 0

    init(_ parts: WorkerParts, on loop: EventLoop) throws {
        self.loop = loop
        self.settings = parts.settings
        self.tell = parts.teller
        self.ladder = DelayLadder(schedules: parts.settings.apps.map(\.retry))
        self.throttle = TokenThrottle(limit: parts.settings.worker.streamsPerToken)
        self.copies = CopyWriter(workerName: parts.name, version: parts.version)
        self.redis = RedisClient(address: parts.redisAddress, tls: parts.redisTLS, on: loop)
        self.flush = CounterFlush(
            id: parts.id,
            client: self.redis,
            interval: parts.settings.worker.counterInterval,
            on: loop
        )
        self.counters = Counting(self.flush)
        self.trail = TrailFlush(worker: parts.name, settings: parts.settings.trail, client: self.redis, on: loop)
        self.words = TrailWords(self.trail)
        self.id = parts.id
        self.name = parts.name
        self.vitals = parts.vitals
        self.onDrainOrder = parts.onDrainOrder
        self.lease = parts.lease
        var identity = WorkerBeat(
            id: parts.id,
            version: parts.version,
            host: parts.host,
            pid: Int(parts.processID),
            startedAt: loop.wallTime
        )
        identity.loop = parts.loop ?? 1
        self.identity = identity
        self.consuming = try BrokerClient(parts.amqp("consume"), on: loop, delegate: self)
        self.publishing = try BrokerClient(parts.amqp("publish"), on: loop, delegate: self)
        self.settler = Settler(client: self.publishing, loop: loop, worker: self)
        self.senders = parts.credentials.map { self.makeSender($0) }
        self.makeLines()
    }

    deinit {
        self.tokenBuffer.deallocate()
    }

    func makeSender(_ credential: LoadedCredential) -> Sender {
        // Redis ignores what looks older than the last word of a lease: one that begins again is another one.
        let isFirst = self.pools.insert(credential.settings.pool).inserted
        return Sender(
            credential,
            fleet: self.settings,
            lease: self.lease,
            id: isFirst ? self.id : InstanceID(),
            redis: self.redis,
            loop: self.loop,
            worker: self
        )
    }

    private func makeLines() {
        for app in self.settings.apps {
            guard let sender = self.senders.first(where: { $0.credential.name == app.credential }) else {
                preconditionFailure("an app without its credential passed the configuration check")
            }
            self.addLines(of: app, sender, gate: self.makeGate(app))
        }
        self.addLine(
            .unrouted,
            queue: FleetTopology.unrouted,
            number: self.number(ofApp: ""),
            slot: self.counters.slot(app: "unrouted", lane: "unrouted"),
            trailName: 0,
            gate: AppGate(BreakerSettings()),
            credentialGate: CredentialGate()
        )
    }

    func makeGate(_ app: AppSettings) -> AppGate {
        let gate = AppGate(app.breaker)
        gate.rate = self.makeRate(app)
        return gate
    }

    func makeRate(_ app: AppSettings) -> AppRate? {
        app.rate.map { AppRate(Rate(app: app.id, limit: $0), redis: self.redis, loop: self.loop, worker: self) }
    }

    /// Both lanes of an app.
    func addLines(of app: AppSettings, _ sender: Sender, gate: AppGate) {
        guard let id = AppID(app.id) else {
            preconditionFailure("an app's id passed the configuration check without its form")
        }
        let siblings = (self.lines + self.unfinished.retired).first { $0.sender === sender }
        let credentialGate = siblings?.credentialGate ?? CredentialGate()
        for lane in Lane.allCases {
            self.addLine(
                .lane(app, lane, sender),
                broadcasts: self.senders.first { $0.credential.broadcastsOf == app.credential },
                queue: FleetTopology.workQueue(app: id, lane: lane),
                number: self.number(ofApp: app.id),
                slot: self.counters.slot(app: app.id, lane: lane.rawValue),
                trailName: self.trail.name("line \(lane.rawValue):\(app.id)"),
                gate: gate,
                credentialGate: credentialGate
            )
        }
    }

    private func number(ofApp id: String) -> Int {
        let number = self.appNumbers[id] ?? self.appNumbers.count
        self.appNumbers[id] = number
        return number
    }

    private func addLine(
        _ kind: Line.Kind,
        broadcasts: Sender? = nil,
        queue: String,
        number: Int,
        slot: CounterSlot,
        trailName: UInt16,
        gate: AppGate,
        credentialGate: CredentialGate
    ) {
        let line = Line(
            kind,
            broadcasts: broadcasts,
            queue: queue,
            number: number,
            counters: slot,
            trailName: trailName,
            gate: gate,
            credentialGate: credentialGate,
            worker: self
        )
        line.attach(to: self.consuming)
        self.lines.append(line)
    }

    // MARK: Running

    func start() {
        self.redis.observe { [unowned self] state in self.redisChanged(to: state) }
        self.redis.start()
        for sender in self.senders { sender.start() }
        self.updatePrefetches()
        self.every(.seconds(1)) { [unowned self] in self.tick() }
        self.postVitals()
        self.every(Self.vitalsInterval) { [unowned self] in self.postVitals() }
        self.flush.start()
        self.trail.beforeFlush = { [unowned self] in self.traceWhatStays() }
        self.trail.onRefusal = { [unowned self] problem in self.tell.trailRefused(problem) }
        self.trail.start()
        self.every(.seconds(2)) { [unowned self] in self.beat() }
    }

    func every(_ interval: Duration, _ body: @escaping () -> Void) {
        self.loop.after(interval) { [unowned self] in
            guard self.shutdown.phase != .closing else { return }
            body()
            self.every(interval, body)
        }
    }

    private func tick() {
        for sender in self.allSenders { sender.tick() }
        self.finishSwaps()
        self.finishChanges()
        self.probeWhatIsDue()
        self.updatePrefetches()
    }

    /// Asks that a sender sends what waits when this turn ends, once for all that the turn brought.
    func needsPump(_ sender: Sender) {
        guard !self.pumpsDue.contains(where: { $0 === sender }) else { return }
        if self.pumpsDue.isEmpty { self.loop.atTurnEnd(self) }
        self.pumpsDue.append(sender)
    }

    func isInFlight(_ id: FlightID) -> Bool { self.flights.contains(id) }

    // MARK: What senders report

    func connectionsChanged(_ sender: Sender) {
        self.updatePrefetches()
        if sender.credential.broadcastsOf != nil, sender.connectionsAllowed == 0 { self.giveBackWaiting(of: sender) }
        guard !self.isReadyTold, sender.connectionsAllowed > 0 else { return }
        self.isReadyTold = true
        self.tell.ready()
    }

    /// What waits is left to a worker with a lease; what was sent has its outcome already.
    func leaseEnded(_ sender: Sender) {
        self.tell.leaseEnded(sender.credential.name)
        self.giveBackWaiting(of: sender)
        self.updatePrefetches()
    }

    /// As when the lease has ended.
    func leaseHasTwin(_ sender: Sender) {
        self.tell.leaseHasTwin(sender.credential.name)
        self.flush.rename()
        self.giveBackWaiting(of: sender)
        self.updatePrefetches()
    }

    func connectionClosed(_ sender: Sender, detail: String, wasReady: Bool) {
        self.tell.connectionClosed(sender.credential.name, detail: detail, wasReady: wasReady)
    }

    func receivedGoAway(_ reason: ApnsReason?, from sender: Sender) {
        self.tell.goAway(sender.credential.name, reason: reason)
        guard let reason, Classification.classify(goAway: reason) != nil else { return }
        for app in self.settings.apps {
            let isTold = { (line: Line) in line.app?.id == app.id && line.senders.contains { $0 === sender } }
            guard let line = self.lines.first(where: isTold) else { continue }
            self.pause(line, .credential, reason: reason)
        }
    }

    // MARK: What Redis reports

    private enum RedisTrouble {
        case none, away, refused
    }

    /// Told once when it begins and once when it is over, however many attempts there are in between.
    private func redisChanged(to state: RedisClient.State) {
        switch state {
        case .ready:
            if self.redisTrouble != .none { self.tell.redisIsBack() }
            self.redisTrouble = .none
            // Whoever looks sees it at once, also in a Redis that came back empty.
            self.lastBeat = nil
            self.beat()
            for sender in self.allSenders { sender.refreshTokens() }
        case .waiting(let reason):
            if self.redisTrouble == .none { self.tell.redisProblem(reason) }
            if self.redisTrouble == .none { self.redisTrouble = .away }
        case .authenticationFailed(let reason):
            if self.redisTrouble != .refused { self.tell.redisRefuses(reason) }
            self.redisTrouble = .refused
        case .connecting, .stopped: break
        }
    }

    // MARK: What the broker reports

    func consumerChanged(_ line: Line, to state: Consumer.State) {
        switch state {
        case .consuming: self.tell.consuming(line.queue)
        case .waiting(let error): self.tell.consumerProblem(line.queue, error.description)
        case .disconnected, .starting, .paused, .stopped: break
        }
    }

    /// The broker hands these out again. What was not sent yet is forgotten; what was sent may arrive twice, and what
    /// is known to be done is remembered for the redelivery.
    func deliveriesLost(on line: Line, count: Int, _ reason: BrokerError) {
        self.tell.deliveriesLost(line.queue, count: count, detail: reason.description)
        for id in self.flights.ids where self.flights[id].line === line { self.deliveryLost(id) }
        self.writeDone()
    }

    func publishFailed(_ message: Message, of copy: Copy, for id: FlightID, _ outcome: PublishOutcome) {
        let line = self.flights[id].line
        if case .unknown = outcome, message.exchange != FleetTopology.receipts {
            // It may be in a queue already, and is published again.
            self.counters.add(.possibleDuplicates, line.counters, Int64(copy.tokens.count))
        }
        self.counters.add(.publishFailures, line.counters)
        self.tell.publishFailed(message.exchange, "\(outcome)")
    }
}

extension WorkerLoop: TurnEndHandler {
    func turnEnds() {
        let due = self.pumpsDue
        self.pumpsDue.removeAll(keepingCapacity: true)
        for sender in due { sender.pump() }
    }
}

extension WorkerLoop: BrokerClientDelegate {
    func brokerClient(_ client: BrokerClient, didChange state: BrokerClient.State) {
        switch state {
        case .waiting(let error):
            self.tell.brokerProblem(client === self.consuming ? "consume" : "publish", error.description)
        case .closed: self.brokerClosed()
        case .connecting, .connected, .closing: break
        }
    }

    func brokerClient(_: BrokerClient, didChangeBlocked reason: String?) {
        self.tell.brokerBlocked(reason)
    }
}

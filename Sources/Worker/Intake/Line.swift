internal import Broker
internal import Loop
internal import Push

/// One queue that the worker consumes: one app's lane, or what no app's queue would take.
final class Line {
    enum Kind {
        case lane(AppSettings, Lane, Sender)
        /// Messages with a routing key that no queue is bound for; they are dead-lettered with a reason.
        case unrouted
    }

    /// Nil, as lane and sender, for messages that no queue took.
    let app: AppSettings?
    let lane: Lane?
    private(set) var sender: Sender?
    /// Sends its broadcasts, if they go to a host of their own.
    private(set) var broadcasts: Sender?
    let queue: String
    /// Where its counters are kept; see the counter batch.
    let counters: CounterSlot
    /// What the trail calls app and lane.
    let trailName: UInt16
    let admission: Admission
    /// What becomes of a payload over its limit.
    let fit: PayloadFit
    /// Whether payloads are checked.
    let lint: PayloadLint.Mode
    /// Whose turn it is when its pushes are sent.
    let turn: AppTurn
    private let appID: AppID?
    /// What copies of its messages are published with, so that they come back here: a publisher may have reached the
    /// queue by another key. Nil for messages that no queue took.
    let routingKey: String?
    /// The app's bundle id, as broadcasts name it.
    let bundleID: [UInt8]
    /// The derived topic of each push type, by its index, as header bytes.
    private let topics: [[UInt8]]
    private(set) var consumer: Consumer!
    private unowned let worker: WorkerLoop
    private var prefetch: PrefetchPlan
    /// What may stop it, shared with the app's other lane.
    let gate: AppGate
    /// What may stop it together with all apps of its credential.
    let credentialGate: CredentialGate
    /// Messages received and not yet settled.
    var inFlight = 0
    /// Whether it has left its app, or its app has left: it takes nothing more, and what is not sent yet goes back.
    private(set) var isRetired = false

    init(
        _ kind: Kind,
        broadcasts: Sender? = nil,
        queue: String,
        number: Int,
        counters: CounterSlot,
        trailName: UInt16,
        gate: AppGate,
        credentialGate: CredentialGate,
        worker: WorkerLoop
    ) {
        self.broadcasts = broadcasts
        self.gate = gate
        self.credentialGate = credentialGate
        self.worker = worker
        self.queue = queue
        self.counters = counters
        self.trailName = trailName
        if case .lane(let app, let lane, let sender) = kind {
            (self.app, self.lane, self.sender) = (app, lane, sender)
            self.prefetch = PrefetchPlan(rate: app.rate?.rate)
            self.turn = AppTurn(app: number, weight: app.weight)
            let id = AppID(app.id)
            self.appID = id
            self.routingKey = id.map { FleetTopology.routingKey(app: $0, lane: lane) }
            self.admission = Admission(ageLimit: app.retry.ageLimit)
            self.fit = app.fit
            self.lint = app.lint
            self.bundleID = Array(app.bundleID.utf8)
            self.topics = PushType.allCases.map { Array(Topic.derive(bundleID: app.bundleID, pushType: $0).utf8) }
        } else {
            (self.app, self.lane, self.sender) = (nil, nil, nil)
            self.prefetch = PrefetchPlan()
            self.turn = AppTurn(app: number)
            self.appID = nil
            self.routingKey = nil
            self.admission = Admission(ageLimit: .zero)
            self.fit = .reject
            self.lint = .off
            self.bundleID = []
            self.topics = PushType.allCases.map { _ in [] }
        }
    }

    /// Begins to consume as soon as there is something to send with.
    func attach(to client: BrokerClient) {
        self.consumer = client.consume(queue: self.queue, prefetch: 0, consumerTag: "worker", delegate: self)
    }

    /// All that send for it.
    var senders: [Sender] { [self.sender, self.broadcasts].compactMap { $0 } }

    /// What the job is sent with.
    func sender(for job: Job) -> Sender? {
        guard let broadcasts = self.broadcasts, job.isBroadcast else { return self.sender }
        return broadcasts
    }

    /// Whether the job is for this line's app.
    func isAddressee(of job: Job) -> Bool { self.appID.map { job.isAddressed(to: $0) } ?? false }

    func topic(_ type: PushType) -> [UInt8] { self.topics[type.index] }

    /// What a certificate must cover for the job to be sent.
    func topicName(of job: Job) -> String {
        let derived = job.isBroadcast ? self.bundleID : self.topic(job.pushType)
        return job.topicOverride ?? String(decoding: derived, as: UTF8.self)
    }

    // MARK: How much it may hold

    /// A message was received.
    /// - Returns: whether it would take more than it may.
    func received(tokens: Int) -> Bool {
        self.prefetch.received(tokens: tokens, held: self.inFlight)
    }

    /// Pushes that it would hold if it could; nothing while it is stopped.
    func prefetchWish(at now: MonotonicTime) -> Int {
        let wish = self.prefetch.wish(at: now)
        return self.isOpen ? wish : 0
    }

    /// Follows what the lease allows.
    /// - Parameter share: pushes that it may hold; nil without a connection.
    func updatePrefetch(share: Int?) {
        switch self.flow {
        case .open:
            guard let prefetch = self.prefetch.update(share: share) else { return }
            self.consumer.setPrefetch(prefetch)
        case .probing where share != nil:
            self.prefetch.forget()
            self.consumer.setPrefetch(1)
        case .probing, .stopped:
            self.prefetch.forget()
            self.consumer.setPrefetch(0)
        }
    }

    /// The prefetch last asked for.
    var currentPrefetch: Int { self.prefetch.current }

    // MARK: What stops it

    /// For good. What is at Apple has its answer to come.
    func retire() {
        self.isRetired = true
        self.prefetch.forget()
        self.consumer.setPrefetch(0)
    }

    /// Whether nothing of it is under way any more.
    var isDone: Bool {
        guard self.inFlight == 0, self.consumer.openCount == 0 else { return false }
        return switch self.consumer.state {
        case .paused, .disconnected, .waiting, .stopped: true
        case .starting, .consuming: false
        }
    }

    /// Sends with another credential from now on, if it sent with `old`.
    func use(_ sender: Sender, insteadOf old: Sender) {
        if self.broadcasts === old { self.broadcasts = sender }
        if self.sender === old { self.sender = sender }
    }

    private enum Flow {
        case open, probing, stopped
    }

    private var flow: Flow {
        if self.isOpen { return .open }
        if self.gate.hand.isPaused { return .stopped }
        for pause in [self.gate.pause.own, self.credentialGate.circuit.pause] {
            if case .paused = pause.state { return .stopped }
        }
        return .probing
    }

    /// Whether nothing stops it.
    var isOpen: Bool {
        self.gate.pause.isFlowing && self.credentialGate.circuit.pause.isFlowing && !self.gate.hand.isPaused
    }

    /// Whether a push of it may go now.
    var passage: Pause.Admission {
        if self.isRetired { return .giveBack }
        if self.isOpen { return .go }
        if self.gate.hand.isPaused { return .giveBack }
        let both = [self.gate.pause.admission, self.credentialGate.circuit.pause.admission]
        return both.contains(.giveBack) ? .giveBack : both.contains(.hold) ? .hold : .go
    }

    /// Why it does not flow, as the heartbeat says it; nil if it does.
    var cause: String? {
        if self.gate.hand.isPaused { return HandPause.cause }
        return (self.gate.cause ?? self.credentialGate.circuit.pause.cause)?.rawValue
    }
}

extension Line: ConsumerDelegate {
    func consumer(_: Consumer, didReceive delivery: consuming Delivery) {
        self.worker.received(delivery, on: self)
    }

    func consumer(_: Consumer, didLose openDeliveries: Int, _ reason: BrokerError) {
        if openDeliveries > 0 { self.worker.deliveriesLost(on: self, count: openDeliveries, reason) }
    }

    func consumer(_: Consumer, didChange state: Consumer.State) {
        self.worker.consumerChanged(self, to: state)
    }
}

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

    private(set) var kind: Kind
    let queue: String
    /// Where its counters are kept; see the counter batch.
    let counters: CounterSlot
    let admission: Admission
    /// What becomes of a payload over its limit.
    let fit: PayloadFit
    /// Whether payloads are checked.
    let lint: PayloadLint.Mode
    private let appID: AppID?
    /// What copies of its messages are published with, so that they come back here: a publisher may have reached the
    /// queue by another key. Nil for messages that no queue took.
    let routingKey: String?
    /// The app's bundle id, as broadcasts name it.
    let bundleID: [UInt8]
    /// The derived topic of each push type, as header bytes.
    private let topics: [PushType: [UInt8]]
    private(set) var consumer: Consumer!
    private unowned let worker: WorkerLoop
    private var prefetch: PrefetchPlan
    private var pause = CredentialPause()
    /// Messages received and not yet settled.
    var inFlight = 0

    init(_ kind: Kind, queue: String, counters: CounterSlot, settings: WorkerSettings, worker: WorkerLoop) {
        self.kind = kind
        self.worker = worker
        self.queue = queue
        self.counters = counters
        self.prefetch = PrefetchPlan(perConnection: settings.prefetchPerConnection)
        if case .lane(let app, let lane, _) = kind {
            let id = AppID(app.id)
            self.appID = id
            self.routingKey = id.map { FleetTopology.routingKey(app: $0, lane: lane) }
            self.admission = Admission(ageLimit: app.retry.ageLimit)
            self.fit = app.fit
            self.lint = app.lint
            self.bundleID = Array(app.bundleID.utf8)
            self.topics = Dictionary(
                uniqueKeysWithValues: PushType.allCases.map { type in
                    (type, Array(Topic.derive(bundleID: app.bundleID, pushType: type).utf8))
                }
            )
        } else {
            self.appID = nil
            self.routingKey = nil
            self.admission = Admission(ageLimit: .zero)
            self.fit = .reject
            self.lint = .off
            self.bundleID = []
            self.topics = [:]
        }
    }

    /// Begins to consume as soon as there is something to send with.
    func attach(to client: BrokerClient) {
        self.consumer = client.consume(queue: self.queue, prefetch: 0, consumerTag: "worker", delegate: self)
    }

    var app: AppSettings? { if case .lane(let app, _, _) = self.kind { app } else { nil } }
    var lane: Lane? { if case .lane(_, let lane, _) = self.kind { lane } else { nil } }
    var sender: Sender? { if case .lane(_, _, let sender) = self.kind { sender } else { nil } }

    /// Whether the job is for this line's app.
    func isAddressee(of job: Job) -> Bool { self.appID.map { job.isAddressed(to: $0) } ?? false }

    func topic(_ type: PushType) -> [UInt8] { self.topics[type] ?? [] }

    // MARK: How much it may hold

    func received(tokens: Int) {
        self.prefetch.received(tokens: tokens)
    }

    /// Follows what the lease allows.
    /// - Parameter consumers: how many lines share the sender's connections.
    func updatePrefetch(consumers: Int, isDraining: Bool) {
        var connections = 0
        if !isDraining, self.pause.state == .sending { connections = self.sender?.connectionsAllowed ?? 1 }
        if self.pause.state == .probing, !isDraining, self.sender?.connectionsAllowed ?? 0 > 0 {
            return self.consumer.setPrefetch(1)
        }
        guard let prefetch = self.prefetch.update(connections: connections, consumers: consumers) else { return }
        self.consumer.setPrefetch(prefetch)
    }

    /// The prefetch last asked for.
    var currentPrefetch: Int { self.prefetch.current }

    // MARK: Credential faults

    /// Sends with another credential from now on.
    func use(_ sender: Sender) {
        guard case .lane(let app, let lane, _) = self.kind else { return }
        self.kind = .lane(app, lane, sender)
    }

    /// What Apple refused is not in use any more: a pause ends with a probe at once.
    func credentialChanged(at now: MonotonicTime) { self.pause.credentialChanged(at: now) }

    /// - Returns: whether a pause began.
    func credentialRefused(at now: MonotonicTime) -> Bool {
        guard self.pause.refused(at: now) else { return false }
        self.prefetch.forget()
        self.consumer.setPrefetch(0)
        return true
    }

    /// - Returns: whether the app resumed.
    func accepted() -> Bool { self.pause.accepted() }

    /// - Returns: whether probing began.
    func probeIsDue(at now: MonotonicTime) -> Bool { self.pause.isDue(at: now) }

    var isPaused: Bool { if case .paused = self.pause.state { true } else { false } }
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

import Push

@testable import APNs
@testable import Broker
@testable import Store
@testable import Worker

/// One worker process: the rules are the real ones, what is around them is as little as possible.
///
/// Mirrors `WorkerLoop` (start, tick, updatePrefetches), `Sender` and `LeaseKeeper`; the way of a message is in the
/// extensions.
final class SimulatedWorker {
    let index: Int
    /// Changes when it turns out that another worker has the same.
    private(set) var id: InstanceID
    unowned let simulation: FleetSimulation
    let setup: Setup
    let ladder: DelayLadder

    // The process and what is around it.
    var isAlive = true
    private(set) var endedAt = 0
    /// Whether it is stopped, and until when.
    var isFrozen = false
    var frozenUntil = 0
    /// What came in while the process was stopped.
    var heldEvents: [() -> Void] = []
    /// Stops as soon as the next renewal is on its way, for so long; 0 for not.
    var freezesAfterRenewal = 0
    var redisCutUntil = 0
    var brokerCutUntil = 0
    var appleCutUntil = 0
    /// How fast its clock runs, and how far its wall clock is off.
    let rate: Double
    var wallOffset: Int

    // The lease and the connections.
    var lease: Lease
    var wasValid = false
    /// When the lease is to be looked at next.
    var leaseWake = 0
    var isRedisUp = false
    var plan: ConnectionPlan
    var connections: [SimulatedConnection] = []
    /// When the plan is to be asked next.
    var dialWake = 0
    var turnOfConnections = 0
    var demand = Demand()
    var requests = 0
    /// Since when it has wanted a connection and been granted none.
    var hungrySince: Int?

    // Messages.
    let lines: [SimulatedLine]
    /// Of the apps that have one.
    private(set) var rates: [SimulatedRate] = []
    var queue = SendQueue()
    var throttle = TokenThrottle(limit: 2)
    var held: [SendQueue.Push] = []
    var flights: [FlightID: SimulatedFlight] = [:]
    var flightCount: UInt32 = 0
    var dirty: [FlightID] = []
    var isWritingDone = false
    var needsPump = false
    var shutdown = Shutdown()

    // The broker.
    var consuming: BrokerModel.Link?
    var publishing: BrokerModel.Link?
    var confirms = ConfirmLedger()
    var outbox: [UInt64] = []
    var pending: [UInt64: SimulatedPending] = [:]
    var pendingCount: UInt64 = 0
    var putOff: [SimulatedPending] = []

    /// - Parameter original: the worker of which this is a clone: the same id, lease and clock, without what it holds.
    init(index: Int, simulation: FleetSimulation, original: SimulatedWorker? = nil) {
        self.index = index
        self.simulation = simulation
        self.setup = simulation.setup
        self.ladder = simulation.setup.ladder
        self.id = original?.id ?? InstanceID(using: &simulation.random)
        self.rate = original?.rate ?? 1 + Double.random(in: -5e-4...5e-4, using: &simulation.random)
        self.wallOffset = simulation.some(-300...300)
        self.lease =
            original?.lease ?? Lease(settings: simulation.setup.lease, id: self.id, now: MonotonicTime(nanoseconds: 0))
        self.plan = ConnectionPlan()
        self.plan.limit = original?.plan.limit ?? 0
        self.wasValid = original?.wasValid ?? false
        let credential = CredentialGate()
        var lines: [SimulatedLine] = []
        for app in 0..<simulation.setup.apps {
            var breaker = BreakerSettings()
            breaker.window = 30
            let gate = AppGate(breaker)
            for lane in Lane.allCases {
                lines.append(
                    SimulatedLine(
                        lines.count,
                        app: app,
                        lane: lane,
                        gate: gate,
                        credential: credential,
                        simulation.setup
                    )
                )
            }
        }
        self.lines = lines
        for (app, limit) in simulation.setup.rates.enumerated() {
            guard let limit else { continue }
            let rate = SimulatedRate(limit, app: app, worker: self)
            self.rates.append(rate)
            for line in lines where line.app == app { line.rate = rate }
        }
    }

    // MARK: Clocks

    /// Runs on while the process is stopped.
    var now: MonotonicTime {
        MonotonicTime(nanoseconds: Int64(Double(self.simulation.now) * self.rate * 1_000_000) + 1 << 50)
    }

    var wallTime: UnixTime { UnixTime(milliseconds: Int64(1_700_000_000_000 + self.simulation.now + self.wallOffset)) }

    /// How many milliseconds until a time of its own clock.
    func wait(until time: MonotonicTime) -> Int {
        guard time != .distantFuture else { return 3_600_000 }
        return max(1, Int((Double((time - self.now).nanoseconds) / 1_000_000 / self.rate).rounded(.up)))
    }

    // MARK: Life

    func start() {
        self.connectRedis()
        self.connectBroker()
        self.updateDemand()
        self.updatePrefetches()
        self.tick()
    }

    private func tick() {
        self.simulation.on(self, after: 1_000) { [self] in
            guard self.shutdown.phase != .closing else { return }
            self.updateDemand()
            self.updatePool()
            self.probeWhatIsDue()
            self.updatePrefetches()
            self.tick()
        }
    }

    /// The end of a turn of the loop.
    func turn() {
        guard self.isAlive else { return }
        self.stepLease()
        if self.needsPump {
            self.needsPump = false
            self.pump()
            self.stepLease()
        }
        self.flushSettlements()
        self.flushOutbox()
        self.watchHunger()
    }

    /// kill -9.
    func kill() {
        self.simulation.note("w\(self.index) killed with \(self.plan.held) connections, \(self.flights.count) messages")
        self.end()
        if self.simulation.bug == .leaseOutlivesWorker { self.renewThoughDead() }
    }

    private func renewThoughDead() {
        self.simulation.schedule(after: self.setup.heartbeat) { [self] in
            if let request = self.lease.renewDue(open: self.plan.held, want: self.plan.wanted, now: self.now) {
                _ = self.simulation.redis.renew(request, of: self, as: self.id)
                self.lease.failed(request.seq, mayHaveRun: true)
            }
            self.renewThoughDead()
        }
    }

    func end() {
        self.isAlive = false
        self.endedAt = self.simulation.now
        self.heldEvents = []
        for connection in self.connections {
            connection.isClosed = true
            connection.open = []
        }
        self.connections = []
        for link in [self.consuming, self.publishing] {
            guard let link else { continue }
            self.simulation.schedule(after: link.isCut ? self.simulation.some(5_000...15_000) : 5) {
                link.worker.simulation.broker.close(link)
            }
        }
    }

    /// SIGTERM; mirrors `WorkerLoop.drain`, `closeIfDrained` and `leave`.
    func drain() {
        guard self.shutdown.begin(at: self.now, within: self.setup.drainTimeout) else { return }
        self.simulation.note("w\(self.index) drains")
        self.updatePrefetches()
        self.giveBackWaiting()
        self.closeIfDrained()
    }

    private func closeIfDrained() {
        guard self.shutdown.shouldClose(at: self.now, pending: self.flights.count) else {
            return self.simulation.on(self, after: 50) { [self] in self.closeIfDrained() }
        }
        for id in self.flightIDs { self.letGo(id, requeue: true) }
        self.flushSettlements()
        self.closeAll()
        let seq = self.lease.release()
        let id = self.id.description
        self.simulation.note("w\(self.index) leaves")
        self.simulation.command(of: self) {
            $0.budget.release(seq: seq, as: id)
        } _: { _ in
        }
        // The broker takes note of the last settlements before the connections close.
        self.simulation.on(self, after: 300) { [self] in self.end() }
    }

    // MARK: Redis, and the lease; mirrors `LeaseKeeper` and what `Sender` does with it

    func redisLost() {
        guard self.isRedisUp else { return }
        self.isRedisUp = false
        self.connectRedis()
    }

    private func connectRedis() {
        self.simulation.on(self, after: self.simulation.some(20...500)) { [self] in
            guard !self.isRedisUp else { return }
            if self.redisCutUntil > self.simulation.now || self.simulation.redis.isAway { return self.connectRedis() }
            self.isRedisUp = true
            for rate in self.rates { rate.step() }
        }
    }

    private func stepLease() {
        let now = self.now
        if self.wasValid, !self.isLeaseValid {
            self.wasValid = false
            if self.shutdown.phase != .closing { self.simulation.tally.leasesEnded += 1 }
            self.simulation.note("w\(self.index) lease over, closes \(self.plan.held)")
            self.closeAll()
            self.giveBackWaiting()
            self.updatePrefetches()
        }
        if self.isRedisUp,
            let request = self.lease.renewDue(open: self.plan.held, want: self.plan.wanted, now: now)
        {
            self.renew(request)
        }
        var wake = self.lease.wakeTime(open: self.plan.held, want: self.plan.wanted, now: now)
        if !self.isRedisUp {
            guard let deadline = self.lease.deadline, deadline > now else { return }
            wake = deadline
        }
        let time = self.simulation.now + self.wait(until: wake)
        // One that is set already will do; others come to nothing.
        guard time != self.leaseWake else { return }
        self.leaseWake = time
        self.simulation.schedule(after: time - self.simulation.now) { [self] in
            guard time == self.leaseWake else { return }
            self.leaseWake = 0
            self.simulation.on(self, after: 0) {}
        }
    }

    private func renew(_ request: RenewRequest) {
        self.simulation.note(
            "w\(self.index) renew \(request.seq): open \(request.open) want \(request.want) claim \(request.claim)"
        )
        let id = self.id
        self.simulation.command(of: self) { redis in
            redis.renew(request, of: self, as: id).map(Renewal.answered) ?? .ignored
        } _: { [self] renewal in
            if self.id == id { self.renewed(request.seq, renewal) }
        }
        if self.freezesAfterRenewal > 0 {
            self.simulation.freeze(self, for: self.freezesAfterRenewal)
            self.freezesAfterRenewal = 0
        }
    }

    private enum Renewal {
        case answered(LeaseAnswer)
        case ignored
    }

    private func renewed(_ seq: Int64, _ renewal: Renewal?) {
        guard self.shutdown.phase != .closing else { return }
        switch renewal {
        case .answered(let answer):
            let counts = self.lease.answered(seq, answer, now: self.now)
            self.simulation.note(
                "w\(self.index) answer \(seq)\(counts ? "" : ", ignored"): grant \(answer.grant) target \(answer.target)"
            )
        case .ignored where self.simulation.bug != .twinsShareLease:
            if self.lease.ignored(seq) { return self.beginAnew() }
        default: self.lease.failed(seq, mayHaveRun: true)
        }
        let isValid = self.isLeaseValid
        if isValid { self.wasValid = true }
        self.stepLease()
        guard isValid else { return }
        let limit = self.lease.answer(now: self.now)?.limit ?? 0
        self.setLimit(self.simulation.bug == .neverGivesBack ? max(self.plan.limit, limit) : limit)
        self.updatePool()
        self.updatePrefetches()
    }

    /// Mirrors `LeaseKeeper.beginAnew` and `WorkerLoop.leaseHasTwin`.
    private func beginAnew() {
        self.simulation.note("w\(self.index) has a twin, closes \(self.plan.held)")
        self.simulation.tally.twinsNoticed += 1
        self.wasValid = false
        self.closeAll()
        self.giveBackWaiting()
        self.updatePrefetches()
        self.id = InstanceID(using: &self.simulation.random)
        self.lease = Lease(settings: self.setup.lease, id: self.id, now: self.now)
        self.stepLease()
    }

    var isLeaseValid: Bool {
        if self.simulation.bug == .leaseNeverEnds { return self.lease.deadline != nil || self.wasValid }
        return self.lease.isValid(now: self.now)
    }

    /// In the last phase: whether it gets its turn.
    private func watchHunger() {
        guard self.plan.wanted > 0, self.plan.limit == 0, !self.shutdown.isDraining else {
            if let since = self.hungrySince, self.simulation.healedAt != nil {
                self.simulation.tally.longestTurn = max(self.simulation.tally.longestTurn, self.simulation.now - since)
            }
            self.hungrySince = nil
            return
        }
        if self.hungrySince == nil { self.hungrySince = self.simulation.now }
    }
}

/// A worker and its clone, for as long as neither has noticed.
struct Twins {
    let first: SimulatedWorker
    let second: SimulatedWorker
    /// Since when nothing has kept them from noticing.
    var since: Int
    /// The most that either had open or its lease allowed.
    var grant: Int
}

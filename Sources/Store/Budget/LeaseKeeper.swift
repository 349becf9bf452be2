package import Loop
package import Push

/// Hears how a budget lease fares, always on its loop.
package protocol LeaseKeeperDelegate: AnyObject {
    /// Another answer is in force: more connections may be opened, or some must be closed (`excess`).
    func leaseDidChange(_ keeper: LeaseKeeper)
    /// The lease has ended without a renewal: every connection must be closed now.
    func leaseDidEnd(_ keeper: LeaseKeeper)
}

/// Keeps one worker's lease in one budget pool: sends the renewals and watches the deadline.
///
/// Whoever owns the connections tells it what is open and wanted, and asks it before opening and before using them.
package final class LeaseKeeper {
    package let budget: Budget
    package let id: InstanceID
    private let settings: LeaseSettings
    private let client: RedisClient
    private let loop: EventLoop
    private var lease: Lease
    private var ramp: DialRamp
    private var timer: Deadline?
    private var wasValid = false
    private var isStarted = false
    private weak var delegate: (any LeaseKeeperDelegate)?

    /// Connections open, being opened or being closed, as last told.
    package private(set) var open = 0
    /// Connections that could be used, as last told.
    package private(set) var want = 0
    /// Why the last renewal had no answer; nil after one that had.
    package private(set) var lastFailure: RedisFailure?

    package init(
        budget: Budget,
        settings: LeaseSettings,
        id: InstanceID,
        client: RedisClient,
        on loop: EventLoop,
        delegate: any LeaseKeeperDelegate
    ) {
        self.budget = budget
        self.settings = settings
        self.id = id
        self.client = client
        self.loop = loop
        self.delegate = delegate
        self.lease = Lease(settings: settings, id: id, now: loop.now)
        self.ramp = DialRamp(perSecond: settings.dialsPerSecond)
    }

    /// Begins to renew, as soon as Redis is there.
    package func start() {
        guard !self.isStarted else { return }
        self.isStarted = true
        self.client.observe { [weak self] _ in self?.step() }
        self.step()
    }

    /// Tells what is open (also being opened or closed) and how many could be used. To be called at every change.
    package func update(open: Int, want: Int) {
        guard open != self.open || want != self.want else { return }
        self.open = open
        self.want = want
        if self.isStarted { self.step() }
    }

    /// Whether the connections may be used; to be asked before every request.
    package var isValid: Bool { self.lease.isValid(now: self.loop.now) }

    /// Whether one more connection may be opened now. Who opens one calls `dialled` and `update`.
    package var mayOpen: Bool {
        self.lease.mayOpen(open: self.open, now: self.loop.now) && self.ramp.next(now: self.loop.now) <= self.loop.now
    }

    /// When the ramp lets the next connection be opened, if the lease does.
    package var nextDial: MonotonicTime { self.ramp.next(now: self.loop.now) }

    /// A connection is being opened.
    package func dialled() { self.ramp.dialled(now: self.loop.now) }

    /// How many connections must be closed: gently while `isValid`, at once when not.
    package var excess: Int { self.lease.excess(open: self.open, now: self.loop.now) }

    /// The answer in force, for status and metrics.
    package var answer: LeaseAnswer? { self.lease.answer(now: self.loop.now) }

    /// The end of the lease in force.
    package var deadline: MonotonicTime? { self.lease.deadline }

    /// Gives everything back at once; all connections must be closed. `completion` also comes when Redis is away: then the
    /// lease runs out by itself.
    package func release(_ completion: @escaping () -> Void) {
        precondition(self.open == 0, "a lease is released when its connections are closed")
        self.timer?.cancel()
        let seq = self.lease.release()
        self.isStarted = false
        self.client.run(self.budget.release(seq: seq, as: self.id)) { _ in completion() }
    }

    private func step() {
        guard self.isStarted else { return }
        let now = self.loop.now
        if self.wasValid, !self.lease.isValid(now: now) {
            self.wasValid = false
            self.delegate?.leaseDidEnd(self)
        }
        if let server = self.client.server,
            let request = self.lease.renewDue(open: self.open, want: self.want, now: now)
        {
            self.send(request, to: server)
        }
        self.setTimer()
    }

    private func send(_ request: RenewRequest, to server: RedisServer) {
        let call = self.budget.renew(request, as: self.id, runID: server.runID, settings: self.settings)
        self.client.run(call) { [weak self] result in self?.answered(request.seq, result) }
    }

    private func answered(_ seq: Int64, _ result: Result<RedisReply, RedisFailure>) {
        guard self.isStarted else { return }
        switch result {
        case .success(let reply):
            self.lastFailure = nil
            if let answer = LeaseAnswer(reply) {
                self.lease.answered(seq, answer, now: self.loop.now)
            } else {
                self.lease.failed(seq, mayHaveRun: true)
            }
        case .failure(let failure):
            self.lastFailure = failure
            // A script that stopped at an error may have written before.
            var mayHaveRun = true
            if case .unavailable = failure { mayHaveRun = false }
            self.lease.failed(seq, mayHaveRun: mayHaveRun)
        }
        let isValid = self.lease.isValid(now: self.loop.now)
        if isValid { self.wasValid = true }
        self.step()
        if isValid { self.delegate?.leaseDidChange(self) }
    }

    private func setTimer() {
        self.timer?.cancel()
        self.timer = nil
        let now = self.loop.now
        var wake = self.lease.wakeTime(open: self.open, want: self.want, now: now)
        // Without a connection there is nothing to send, whatever is due; only the deadline counts.
        if self.client.server == nil {
            guard let deadline = self.lease.deadline, deadline > now else { return }
            wake = deadline
        }
        self.timer = self.loop.at(wake) { [weak self] in self?.step() }
    }
}

package import Loop
package import Push

/// Hears how a budget lease fares, always on its loop.
package protocol LeaseKeeperDelegate: AnyObject {
    /// Another answer is in force: more connections may be opened, or some must be closed (`excess`).
    func leaseDidChange(_ keeper: LeaseKeeper)
    /// The lease has ended without a renewal: every connection must be closed now.
    func leaseDidEnd(_ keeper: LeaseKeeper)
    /// Another worker renews under the same id, since a process or machine was cloned: every connection must be closed
    /// now. The keeper goes on under another id, without any connection.
    func leaseHasTwin(_ keeper: LeaseKeeper)
}

/// Keeps one worker's lease in one budget pool: sends the renewals and watches the deadline.
///
/// Whoever owns the connections tells it what is open and wanted, and asks it before opening and before using them.
package final class LeaseKeeper {
    package let budget: Budget
    /// Changes when it turns out that another worker has the same.
    package private(set) var id: InstanceID
    private let settings: LeaseSettings
    private let client: RedisClient
    private let loop: EventLoop
    private var lease: Lease
    private var timer: Deadline?
    private var wasValid = false
    private var isStarted = false
    /// While the delegate closes connections one by one: what is open is told when all are closed.
    private var isEnding = false
    private unowned let delegate: any LeaseKeeperDelegate

    /// Connections open, being opened or being closed, as last told.
    package private(set) var open = 0
    /// Connections that could be used, as last told.
    package private(set) var want = 0
    /// Why the last renewal had no answer; nil after one that had.
    package private(set) var lastFailure: RedisFailure?
    /// Renewals that Redis answered, and those that had no answer or were refused.
    package private(set) var renewals = 0
    package private(set) var failedRenewals = 0

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
        if self.isStarted, !self.isEnding { self.step() }
    }

    /// Whether the connections may be used; to be asked before every request.
    package var isValid: Bool { self.lease.isValid(now: self.loop.now) }

    /// Whether one more connection may be opened now. Who opens one calls `update`.
    package var mayOpen: Bool {
        self.lease.mayOpen(open: self.open, now: self.loop.now)
    }

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
            self.end { self.delegate.leaseDidEnd(self) }
        }
        if let server = self.client.server,
            let request = self.lease.renewDue(open: self.open, want: self.want, now: now)
        {
            self.send(request, to: server)
        }
        self.setTimer()
    }

    private func end(_ tell: () -> Void) {
        self.wasValid = false
        self.isEnding = true
        tell()
        self.isEnding = false
    }

    /// What was granted under the id that has a twin stays the twin's.
    private func beginAnew() {
        self.end { self.delegate.leaseHasTwin(self) }
        guard self.isStarted else { return }
        self.id = InstanceID()
        self.lease = Lease(settings: self.settings, id: self.id, now: self.loop.now)
        self.step()
    }

    private func send(_ request: RenewRequest, to server: RedisServer) {
        let id = self.id
        let call = self.budget.renew(request, as: id, runID: server.runID, settings: self.settings)
        self.client.run(call) { [weak self] result in
            guard let self, self.id == id else { return }
            self.answered(request.seq, result)
        }
    }

    private func answered(_ seq: Int64, _ result: Result<RedisReply, RedisFailure>) {
        guard self.isStarted else { return }
        switch result {
        case .success(let reply):
            self.lastFailure = nil
            self.renewals += 1
            if let answer = LeaseAnswer(reply) {
                self.lease.answered(seq, answer, now: self.loop.now)
            } else if !LeaseAnswer.isIgnored(reply) {
                self.lease.failed(seq, mayHaveRun: true)
            } else if self.lease.ignored(seq) {
                return self.beginAnew()
            }
        case .failure(let failure):
            self.lastFailure = failure
            self.failedRenewals += 1
            // A script that stopped at an error may have written before.
            var mayHaveRun = true
            if case .unavailable = failure { mayHaveRun = false }
            self.lease.failed(seq, mayHaveRun: mayHaveRun)
        }
        let isValid = self.lease.isValid(now: self.loop.now)
        if isValid { self.wasValid = true }
        self.step()
        if isValid { self.delegate.leaseDidChange(self) }
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

package import Push

/// A worker's side of the connection budget: what it may have open, and when it must ask again.
///
/// Four rules keep the fleet within the budget when answers are late or lost:
///
/// * W1 once a renewal is sent, nothing is opened beyond what was open then, until exactly that renewal is answered:
///   Redis may have shrunk the grant to that number. Answers to older renewals are ignored.
/// * W2 a claim counts every renewal without an answer as one that shrank the grant.
/// * W3 a lease ends, on the worker's own clock and counted from the sending of the renewal, before Redis ends it. From
///   then on everything is closed, and answers that come later revive nothing.
/// * W4 when Redis ignores the newest renewal, another worker renews under this id. Renewals leave in order and are never
///   sent twice, so Redis can have seen no newer one of this worker; its process or machine was cloned. Which of the two
///   the grant belongs to nobody can say: who notices closes everything and begins anew under another id.
package struct Lease: Sendable {
    private let settings: LeaseSettings
    private let phase: Int64
    private var seq: Int64 = 0
    /// The newest renewal, while its answer may come.
    private var pending: Sent?
    /// The smallest `open` of renewals that may have run without our knowing the answer.
    private var unknown: Int?
    private var current: (answer: LeaseAnswer, sent: Sent)?
    /// The newest renewal whose answer was quick enough to tell the time by; outlives the lease.
    private var proven: Sent?
    private var last: Sent?
    private var next: MonotonicTime
    private var isReleased = false

    private struct Sent {
        let seq: Int64
        let time: MonotonicTime
        let open: Int
        let want: Int
    }

    /// - Parameter id: only spreads the heartbeats of a fleet over time.
    package init(settings: LeaseSettings, id: InstanceID, now: MonotonicTime) {
        self.settings = settings
        self.phase = id.description.utf8.reduce(0) { ($0 &* 31 &+ Int64($1)) & 0xffff }
        self.next = now
    }

    // MARK: What is allowed

    /// From when on everything must be closed; nil when nothing was granted.
    package var deadline: MonotonicTime? {
        self.current.map { $0.sent.time + $0.answer.ttl - self.settings.margin }
    }

    /// Whether connections under this lease may be used at all. To be asked before every request.
    package func isValid(now: MonotonicTime) -> Bool {
        guard let deadline = self.deadline else { return false }
        return now < deadline
    }

    /// How many connections this worker should have.
    package func limit(now: MonotonicTime) -> Int {
        self.isValid(now: now) ? self.current?.answer.limit ?? 0 : 0
    }

    /// W1 and W2: how many it may have until the next answer.
    private func cap(now: MonotonicTime) -> Int {
        var cap = self.limit(now: now)
        if let unknown = self.unknown { cap = min(cap, unknown) }
        if let pending = self.pending { cap = min(cap, pending.open) }
        return cap
    }

    /// Whether one more connection may be opened.
    /// - Parameter open: connections open, being opened or being closed.
    package func mayOpen(open: Int, now: MonotonicTime) -> Bool {
        open < self.cap(now: now)
    }

    /// How many of the `open` connections must be closed: gently while the lease runs, at once when it has ended.
    package func excess(open: Int, now: MonotonicTime) -> Int {
        max(0, open - self.limit(now: now))
    }

    /// The last answer, while it is in force.
    package func answer(now: MonotonicTime) -> LeaseAnswer? {
        self.isValid(now: now) ? self.current?.answer : nil
    }

    // MARK: Renewing

    /// The renewal that is due, if one is. Whoever takes it sends it, and reports with `answered` or `failed`.
    ///
    /// Beside the heartbeat, news travel at once: another `want`, a connection that others wait for and that is closed.
    package mutating func renewDue(open: Int, want: Int, now: MonotonicTime) -> RenewRequest? {
        guard !self.isReleased, self.dueTime(open: open, want: want) <= now else { return nil }
        self.endIfOver(now: now)
        let claim = self.cap(now: now)
        self.giveUpPending()
        self.seq += 1
        let sent = Sent(seq: self.seq, time: now, open: open, want: want)
        self.pending = sent
        self.last = sent
        self.next = now + self.interval(self.settings.heartbeat)
        return RenewRequest(seq: sent.seq, open: open, want: want, claim: claim, proof: self.proof(now: now))
    }

    /// When to call `renewDue`, or to look at the deadline, next.
    package func wakeTime(open: Int, want: Int, now: MonotonicTime) -> MonotonicTime {
        let due = self.isReleased ? .distantFuture : self.dueTime(open: open, want: want)
        guard let deadline = self.deadline, deadline > now else { return due }
        return min(due, deadline)
    }

    /// Redis has answered. Returns whether the answer counts: only the newest renewal's does.
    @discardableResult
    package mutating func answered(_ seq: Int64, _ answer: LeaseAnswer, now: MonotonicTime) -> Bool {
        self.endIfOver(now: now)
        guard let sent = self.pending, sent.seq == seq, !self.isReleased else { return false }
        self.pending = nil
        self.unknown = nil
        self.current = (answer, sent)
        self.proven = now - sent.time <= self.settings.slack ? sent : nil
        if answer.quarantine > .zero {
            self.next = min(self.next, now + answer.quarantine + self.interval(.milliseconds(50)))
        } else if answer.target > answer.grant {
            // Others are closing connections for us.
            self.next = min(self.next, now + self.interval(self.settings.heartbeat / 3))
        }
        self.endIfOver(now: now)
        return true
    }

    /// No answer will come.
    /// - Parameter mayHaveRun: false only if the request never left.
    package mutating func failed(_ seq: Int64, mayHaveRun: Bool) {
        guard let sent = self.pending, sent.seq == seq else { return }
        if mayHaveRun { self.giveUpPending() } else { self.pending = nil }
    }

    /// W4. Redis has ignored a renewal, because it has seen a newer one of this id.
    /// - Returns: whether that was the newest renewal. Then the lease is over, and a new one needs another id.
    package mutating func ignored(_ seq: Int64) -> Bool {
        guard let last = self.last, last.seq == seq, !self.isReleased else {
            self.failed(seq, mayHaveRun: true)
            return false
        }
        self.isReleased = true
        self.current = nil
        self.pending = nil
        return true
    }

    /// Ends the lease for good. All connections must be closed; the number goes into the request.
    package mutating func release() -> Int64 {
        self.isReleased = true
        self.current = nil
        self.pending = nil
        self.seq += 1
        return self.seq
    }

    private mutating func giveUpPending() {
        guard let sent = self.pending.take() else { return }
        self.unknown = min(self.unknown ?? sent.open, sent.open)
    }

    /// W3. An answer that is still on its way belongs to the lease that has ended.
    private mutating func endIfOver(now: MonotonicTime) {
        guard self.current != nil, !self.isValid(now: now) else { return }
        self.current = nil
        self.giveUpPending()
    }

    private func dueTime(open: Int, want: Int) -> MonotonicTime {
        guard let last = self.last, self.pending == nil else { return self.next }
        let hasNews = want != last.want || open < last.open && self.othersWait
        return hasNews ? min(self.next, last.time + .milliseconds(250)) : self.next
    }

    private var othersWait: Bool {
        guard let answer = self.current?.answer else { return false }
        return answer.target < answer.grant || answer.wanted > answer.held
    }

    private func proof(now: MonotonicTime) -> RenewRequest.Proof? {
        self.proven.map { RenewRequest.Proof(base: $0.seq, elapsed: now - $0.time) }
    }

    /// Between 90 and 110 % of `duration`, another one each time.
    private func interval(_ duration: Duration) -> Duration {
        duration * Int(900 + (self.phase &+ self.seq &* 79) % 200) / 1000
    }
}

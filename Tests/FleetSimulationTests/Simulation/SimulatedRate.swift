import Push

@testable import Store
@testable import Worker

/// One app's rate at one worker; mirrors `AppRate`.
final class SimulatedRate {
    let app: Int
    let limit: RateLimit
    unowned let worker: SimulatedWorker
    private var allowance: RateAllowance
    private var urgent: [SendQueue.Push] = []
    private var others: [SendQueue.Push] = []
    /// When it is to be looked at next.
    private var wake = 0
    private var isStepDue = false
    /// Under `tokensOutliveTheirTime` what is at hand, however old.
    private var kept = 0

    init(_ limit: RateLimit, app: Int, worker: SimulatedWorker) {
        self.app = app
        self.limit = limit
        self.worker = worker
        self.allowance = RateAllowance(limit)
    }

    private var bug: SeededBug? { self.worker.simulation.bug }
    var waitingCount: Int { self.urgent.count + self.others.count }

    func hasToken() -> Bool {
        let has = self.allowance.hasToken(at: self.worker.now)
        return has || self.bug == .tokensOutliveTheirTime && self.kept > 0
    }

    func take() {
        self.kept -= 1
        if self.allowance.hasToken(at: self.worker.now) { self.allowance.take(at: self.worker.now) }
    }

    func wait(_ push: SendQueue.Push, isUrgent: Bool) {
        if isUrgent { self.urgent.append(push) } else { self.others.append(push) }
        guard !self.isStepDue else { return }
        guard self.allowance.mayAsk(at: self.worker.now) else {
            if self.wake == 0, self.bug != .waitsForNothing {
                self.setWake(self.allowance.wakeTime(at: self.worker.now))
            }
            return
        }
        self.isStepDue = true
        self.worker.simulation.on(self.worker, after: 0) { [self] in
            self.isStepDue = false
            self.step()
        }
    }

    func takeWaiting() -> [SendQueue.Push] {
        defer { (self.urgent, self.others) = ([], []) }
        return self.urgent + self.others
    }

    func step() {
        var (count, isLate) = self.allowance.newlyDue(at: self.worker.now)
        self.kept += count
        while count > 0, self.waitingCount > 0 {
            let push = self.urgent.isEmpty ? self.others.removeFirst() : self.urgent.removeFirst()
            guard self.worker.flights[push.flight] != nil else { continue }
            if isLate { self.worker.simulation.tally.rateLimited += 1 }
            self.worker.enqueueAgain(push)
            count -= 1
        }
        guard self.waitingCount > 0, self.worker.isRedisUp else {
            self.wake = 0
            return
        }
        if let request = self.allowance.request(waiting: self.waitingCount, at: self.worker.now) { self.ask(request) }
        self.setWake(self.allowance.wakeTime(at: self.worker.now))
    }

    private func ask(_ request: RateRequest) {
        let (app, limit) = (self.app, self.limit)
        self.worker.simulation.command(of: self.worker) { redis in
            redis.take(request, app: app, limit: limit)
        } _: { [self] answer in
            if let answer {
                self.worker.simulation.note(
                    "w\(self.worker.index) app \(app) asks for \(request.need) tokens, gets \(answer.tokens) "
                        + "due in \(answer.due)"
                )
                let random = self.worker.simulation.bits()
                self.allowance.answered(answer, at: self.worker.now, random: random)
            } else if self.bug != .waitsForLostTokens {
                self.allowance.failed(at: self.worker.now)
            }
            self.step()
        }
    }

    private func setWake(_ time: MonotonicTime?) {
        guard let time else {
            self.wake = 0
            return
        }
        let simulation = self.worker.simulation
        let wake = simulation.now + self.worker.wait(until: time)
        guard wake != self.wake else { return }
        self.wake = wake
        simulation.schedule(after: wake - simulation.now) { [self] in
            guard wake == self.wake else { return }
            self.wake = 0
            simulation.on(self.worker, after: 0) { [self] in self.step() }
        }
    }
}

/// The law: no more than `rate · t + bucket_size` pushes in any time t.
///
/// Its one exception is documented: when the clock of Redis jumps ahead, the bucket in Redis fills at once, and what was
/// handed out for the time that was jumped over is still used.
struct RateLaw {
    let limit: RateLimit
    /// What a bucket that is exactly the law still holds.
    private(set) var left: Double
    /// What jumps of Redis' clock have added.
    private var extra = 0.0
    private var extraFrom = 0
    private var last = 0

    init(_ limit: RateLimit) {
        self.limit = limit
        self.left = Double(limit.bucketSize)
    }

    /// Redis' clock jumps ahead.
    mutating func clockJumps(at now: Int) {
        self.extra +=
            Double(self.limit.bucketSize) + Double(self.limit.rate) * Double(self.limit.horizon.milliseconds) / 1000
        self.extraFrom = now + Int((self.limit.horizon + self.limit.spread).milliseconds)
    }

    /// A push goes.
    /// - Returns: whether the law lets it.
    mutating func push(at now: Int) -> Bool {
        let size = Double(self.limit.bucketSize)
        self.left = min(size, self.left + Double((now - self.last) * self.limit.rate) / 1000)
        self.last = now
        if self.left >= size, now > self.extraFrom { self.extra = 0 }
        self.left -= 1
        guard self.left < -0.001 else { return true }
        guard self.extra >= -self.left else { return false }
        self.extra += self.left
        self.left = 0
        return true
    }
}

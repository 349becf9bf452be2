internal import Loop
internal import Push
internal import Store

/// One app's rate at this worker: holds the pushes that wait for tokens, and fetches tokens for them.
///
/// They wait here and not with the sender, so that they hold up no other app. While Redis is away there are no tokens,
/// and they wait until it is back or the lease has ended.
final class AppRate {
    private let rate: Rate
    private let redis: RedisClient
    private let loop: EventLoop
    private unowned let worker: WorkerLoop
    private var allowance: RateAllowance
    private var waiting = SendQueue()
    private var wake: Deadline?
    private var isStepDue = false

    init(_ rate: Rate, redis: RedisClient, loop: EventLoop, worker: WorkerLoop) {
        self.rate = rate
        self.redis = redis
        self.loop = loop
        self.worker = worker
        self.allowance = RateAllowance(rate.limit)
        redis.observe { [weak self] state in
            if case .ready = state { self?.step() }
        }
    }

    /// Whether a push may go now.
    func hasToken(at now: MonotonicTime) -> Bool { self.allowance.hasToken(at: now) }

    /// A push goes.
    func take(at now: MonotonicTime) { self.allowance.take(at: now) }

    /// Keeps a push until there are tokens; then it goes back to its sender.
    func wait(_ push: SendQueue.Push, isUrgent: Bool) {
        let tokens = push.token..<push.token + 1
        self.waiting.append(push.flight, tokens: tokens, isUrgent: isUrgent, of: AppTurn(app: 0))
        guard !self.isStepDue else { return }
        let now = self.loop.now
        guard self.allowance.mayAsk(at: now) else {
            // Nobody waited when it was last looked at, so that nothing would bring it back.
            if self.wake == nil { self.setWake(self.allowance.wakeTime(at: now)) }
            return
        }
        // Once for all that the turn brings.
        self.isStepDue = true
        self.loop.after(.zero) { [weak self] in
            self?.isStepDue = false
            self?.step()
        }
    }

    /// Takes out all that waits, for giving it back.
    func takeWaiting() -> [SendQueue.Push] { self.waiting.takeAll() }

    private func step() {
        let now = self.loop.now
        var (count, isLate) = self.allowance.newlyDue(at: now)
        while count > 0, let push = self.waiting.takeFirst() {
            // The broker may have taken it back.
            guard self.worker.isInFlight(push.flight) else { continue }
            if isLate { self.worker.counters.add(.rateLimited, self.worker.flights[push.flight].line.counters) }
            self.worker.enqueueAgain(push)
            count -= 1
        }
        // Its return is told.
        guard self.waiting.count > 0, let server = self.redis.server else { return self.setWake(nil) }
        if let request = self.allowance.request(waiting: self.waiting.count, at: now) {
            self.redis.run(self.rate.take(request, on: server)) { [weak self] in self?.answered($0) }
        }
        self.setWake(self.allowance.wakeTime(at: now))
    }

    private func answered(_ result: Result<RedisReply, RedisFailure>) {
        if case .success(let reply) = result, let answer = RateAnswer(reply) {
            self.allowance.answered(answer, at: self.loop.now, random: .random(in: 0...UInt64.max))
        } else {
            self.allowance.failed(at: self.loop.now)
        }
        self.step()
    }

    private func setWake(_ time: MonotonicTime?) {
        self.wake?.cancel()
        self.wake = time.map { time in
            self.loop.at(time) { [weak self] in self?.step() }
        }
    }
}

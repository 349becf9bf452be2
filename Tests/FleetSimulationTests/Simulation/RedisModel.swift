import Push
import TestRandom

@testable import Store

/// One Redis: the budget, what is remembered of unfinished messages, its process and its clock.
///
/// Each command has its own delay, so that commands and answers overtake each other as they do when a client connects
/// anew in between.
final class RedisModel {
    unowned var simulation: FleetSimulation!
    var budget = BudgetModel()
    /// Positions of done tokens by message and copy; the one after the last says that the rest is untried.
    private var done: [String: Set<Int>] = [:]
    /// The buckets of the apps that have a rate.
    private var buckets: [Int: TokenBucket] = [:]
    private(set) var process = 1
    /// Where its clock stands beside the simulation's.
    var clockOffset = 1_700_000_000_000
    var awayUntil = 0
    /// Added to every command and answer at most.
    var lateness = 0
    private var copies: [(BudgetModel, [String: Set<Int>], [Int: TokenBucket])] = []

    init(bug: SeededBug?) {
        self.budget.bug = bug
    }

    var runID: String { "run\(self.process)" }
    var time: Int { self.simulation.now + self.clockOffset }
    /// When it last lost data or its process ended.
    private var lostAt = -10_000
    /// Whether answers are late, or were lost a moment ago.
    var isTroubled: Bool { self.isAway || self.lateness > 0 || self.simulation.now - self.lostAt < 2_000 }
    var isAway: Bool { self.simulation.now < self.awayUntil }

    func renew(_ request: RenewRequest, of worker: SimulatedWorker, as id: InstanceID) -> LeaseAnswer? {
        self.budget.renew(
            request,
            as: id.description,
            runID: self.runID,
            budget: worker.setup.budget,
            settings: worker.setup.lease,
            now: self.time
        )
    }

    // MARK: Done tokens

    func mark(_ key: String, _ positions: [Int]) { self.done[key, default: []].formUnion(positions) }

    func take(_ key: String, tokenCount: Int) -> DoneTokens.Memory {
        let known = self.done[key] ?? []
        if self.done[key] != nil { self.done[key]?.remove(tokenCount) }
        var bitmap = [UInt8](repeating: 0, count: tokenCount / 8 + 1)
        for position in known { bitmap[position / 8] |= 0x80 >> UInt8(position % 8) }
        return DoneTokens.Memory(.success(.string(bitmap)), tokenCount: tokenCount)
    }

    // MARK: Rates

    func take(_ request: RateRequest, app: Int, limit: RateLimit) -> RateAnswer {
        let now = self.time * 1000
        guard self.simulation.bug == .restartFillsBuckets else {
            return self.buckets[app, default: TokenBucket()].take(request, of: limit, runID: self.runID, now: now)
        }
        if self.buckets[app] == nil {
            // What nobody knew an hour ago is full now.
            var bucket = TokenBucket()
            _ = bucket.take(RateRequest(need: 1, want: 1), of: limit, runID: "", now: now - 3_600_000_000)
            self.buckets[app] = bucket
        }
        return self.buckets[app]!.take(request, of: limit, runID: "", now: now)
    }

    /// Its clock is set.
    func setClock(by step: Int) {
        self.clockOffset += step
        if step > 0 { self.simulation.clockJumps() }
    }

    // MARK: Faults

    func copy() { self.copies.append((self.budget, self.done, self.buckets)) }

    func flush() {
        self.lostAt = self.simulation.now
        let bug = self.budget.bug
        self.budget = BudgetModel()
        self.budget.bug = bug
        self.done = [:]
        self.buckets = [:]
    }

    /// Another process: with its data, without, or with those of an earlier copy.
    func restart(_ data: Data) {
        self.process += 1
        self.lostAt = self.simulation.now
        switch data {
        case .kept: break
        case .empty: self.flush()
        case .old:
            guard let (budget, done, buckets) = self.copies.randomElement(using: &self.simulation.random) else {
                return self.flush()
            }
            (self.budget, self.done, self.buckets) = (budget, done, buckets)
        }
        for worker in self.simulation.workers where worker.isAlive {
            self.simulation.on(worker, after: self.simulation.some(1...50)) { worker.redisLost() }
        }
    }

    enum Data { case kept, empty, old }
}

extension FleetSimulation {
    /// A command of a worker: runs at Redis if it arrives, and is answered if the answer does; else it fails.
    func command<Answer>(
        of worker: SimulatedWorker,
        _ run: @escaping (RedisModel) -> Answer?,
        _ completion: @escaping (Answer?) -> Void
    ) {
        let process = self.redis.process
        var isOver = false
        func finish(_ answer: Answer?) {
            guard !isOver else { return }
            isOver = true
            completion(answer)
        }
        self.schedule(after: 2_000) { [self] in
            guard !isOver else { return }
            self.on(worker, after: 0) {
                guard !isOver else { return }
                worker.redisLost()
                finish(nil)
            }
        }
        guard worker.redisCutUntil <= self.now else { return }
        self.schedule(after: self.delay()) { [self] in
            guard !self.redis.isAway, self.redis.process == process else { return }
            let answer = run(self.redis)
            guard worker.redisCutUntil <= self.now else { return }
            self.on(worker, after: self.delay()) { finish(answer) }
        }
    }

    private func delay() -> Int {
        if self.isFaulty, self.random.chance(0.03) { return self.some(20...3_000) }
        return self.some(1...20 + self.redis.lateness)
    }
}

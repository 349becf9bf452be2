import Push
import TestRandom

@testable import APNs
@testable import Store
@testable import Worker

/// A history: a calm beginning, faults, and a time without in which everything must come right.
extension FleetSimulation {
    /// - Parameters:
    ///   - bug: a mistake to build in.
    ///   - isTracing: whether a violation comes with the events before it.
    ///   - onNote: is given every event as it happens, if traced.
    package static func live(
        seed: UInt64,
        bug: SeededBug? = nil,
        isTracing: Bool = false,
        onNote: ((String) -> Void)? = nil
    ) -> (tally: Tally, violation: Violation?) {
        let simulation = FleetSimulation(seed: seed, bug: bug, isTracing: isTracing)
        simulation.onNote = onNote
        simulation.live()
        return (simulation.tally, simulation.violation)
    }

    func live() {
        if self.setup.isDeclared { self.redis.budget.initialize(runID: self.redis.runID, now: self.redis.time) }
        self.note(
            "budget \(self.setup.budget), lease \(self.setup.lease.ttl), \(self.setup.workers) workers, "
                + "\(self.setup.messages) messages"
                + self.setup.rates.compactMap { $0 }.map { ", rate \($0.rate)/s, bucket \($0.bucketSize)" }.joined()
        )
        for _ in 0..<self.setup.workers { self.addWorker() }
        let calm = 2_000 + (self.setup.isDeclared ? 0 : self.setup.ttl)
        let end = calm + self.setup.faultTime
        for name in 0..<self.setup.messages {
            let time = self.setup.comesInBursts ? end / 3 * (name % 3) : self.some(0...end)
            self.schedule(after: time) { [self] in self.publish(name) }
        }
        self.run(until: calm)
        self.isFaulty = !self.isCalm
        self.scaleUpAndDown(until: end)
        self.injectFaults()
        self.run(until: end)
        self.heal()
        self.comeRight()
        self.leave()
        self.tally.virtualSeconds = self.now / 1_000
        self.tally.duplicates = self.journal.entries.reduce(0) { $0 + max(0, $1.accepted - 1) }
        self.tally.tokens = self.journal.entries.count
    }

    func publish(_ name: Int) {
        let wall = UnixTime(milliseconds: Int64(1_700_000_000_000 + self.now))
        let count = self.random.chance(0.4) ? self.some(2...10) : 1
        var message = SimulatedMessage(
            name: name,
            line: self.some(0...self.setup.lineCount - 1),
            tokens: (0..<count).map { _ in self.journal.makeToken(device: self.some(0...99)) },
            timestamp: wall
        )
        if self.random.chance(0.1) { message.notBefore = wall + .milliseconds(self.some(-1_000...12_000)) }
        if self.random.chance(0.1) { message.expiresAt = wall + .milliseconds(self.some(1_000...30_000)) }
        self.note("message \(name) with pushes \(message.tokens.map(\.number))")
        self.broker.store(message, .work)
    }

    private func heal() {
        guard self.violation == nil else { return }
        self.note("faults end")
        self.isFaulty = false
        self.apple = AppleWeather(self.setup)
        self.broker.nacks = 0
        self.broker.awayUntil = 0
        self.redis.awayUntil = 0
        self.redis.lateness = 0
        for worker in self.workers where worker.isAlive {
            (worker.redisCutUntil, worker.brokerCutUntil, worker.appleCutUntil) = (0, 0, 0)
            worker.freezesAfterRenewal = 0
            if worker.isFrozen {
                worker.frozenUntil = self.now
                self.thaw(worker)
            }
        }
        if self.workers.allSatisfy({ !$0.isAlive || $0.shutdown.isDraining }) { self.addWorker() }
        self.healedAt = self.now
        for worker in self.workers where worker.hungrySince != nil { worker.hungrySince = self.now }
    }

    /// Everything is settled, every lease is in use again, and everybody has had a turn.
    private func comeRight() {
        guard self.violation == nil, let healed = self.healedAt else { return }
        let latest = healed + 900_000
        while self.violation == nil, self.now < latest, self.journal.open > 0 || self.journal.carried > 0 {
            self.run(until: self.now + 500)
            self.checkTurns()
            self.checkLeases()
        }
        if self.violation == nil, self.journal.open > 0 || self.journal.carried > 0 {
            return self.fail("\(self.journal.open) pushes are not settled long after the last fault")
        }
        let alive = self.workers.filter { $0.isAlive && !$0.shutdown.isDraining }
        let back = healed + 2 * self.setup.ttl + 4 * self.setup.heartbeat
        let isCrowded = alive.count > self.setup.budget
        let end = isCrowded && self.setup.watchesTurns ? healed + self.setup.turnLimit(workers: alive.count) * 2 : back
        while self.violation == nil, self.now < end {
            self.run(until: self.now + 500)
            self.checkTurns()
            self.checkLeases()
        }
        // Each wants at least one. A connection on its way from one worker to another is closed for a moment, which
        // comes often where they take turns.
        let expected = min(alive.count, self.setup.budget)
        var most = 0
        let patience = self.now + 10 * self.setup.heartbeat
        while self.violation == nil, most < expected, self.now < patience {
            self.run(until: self.now + 100)
            most = max(most, self.workers.reduce(0) { $0 + $1.plan.held })
        }
        if self.violation == nil, most < expected {
            self.fail("\(most) of \(expected) connections are in use long after the last fault")
        }
    }

    private func leave() {
        guard self.violation == nil else { return }
        for worker in self.workers where worker.isAlive { worker.drain() }
        self.run(until: self.now + Int(self.setup.drainTimeout.milliseconds) + 4_000)
        guard self.violation == nil else { return }
        if let worker = self.workers.first(where: \.isAlive) { return self.fail("w\(worker.index) does not leave") }
        if self.redis.budget.granted > 0 {
            // The last entries end by themselves where nobody gives them back.
            let left = self.redis.budget.members.filter { $0.grant > 0 && $0.expires > self.redis.time }
            if !left.isEmpty { self.fail("\(left.count) leases are held though everybody has left") }
        }
        if !self.broker.isEmpty {
            self.fail("\(self.broker.openDeliveries) deliveries are open though nobody is there")
        }
    }

    // MARK: Invariants

    /// After every step: what is open, without processes that are stopped past their lease, is within the budget.
    func checkConnections() {
        var counted = 0
        var overdue = 0
        for worker in self.workers where worker.isAlive {
            let held = worker.plan.held
            guard held > 0 else { continue }
            if worker.isFrozen, !worker.lease.isValid(now: worker.now) { overdue += held } else { counted += held }
        }
        let doubled = self.twins.isEmpty ? 0 : self.allowedToTwins()
        self.tally.twinOverage = max(self.tally.twinOverage, counted - self.setup.budget)
        if counted > self.setup.budget + doubled {
            let detail = self.workers.filter { $0.plan.held > 0 }.map { "w\($0.index) \($0.plan.held)" }
            self.fail("\(counted) connections are open, the budget is \(self.setup.budget): \(detail)")
        }
        self.tally.overage = max(self.tally.overage, min(counted, self.setup.budget) + overdue - self.setup.budget)
    }

    /// A worker sends a push of this app.
    func sends(_ app: Int, by worker: SimulatedWorker) {
        if self.sendLaws[app]?.push(at: self.now) == false { self.failRate(app, "w\(worker.index) sends a push") }
    }

    /// A push of this app comes to Apple, which the rule allows for: what it keeps back covers the way.
    func arrives(_ app: Int) {
        if self.arrivalLaws[app]?.push(at: self.now) == false { self.failRate(app, "a push comes to Apple") }
    }

    private func failRate(_ app: Int, _ what: String) {
        guard let limit = self.setup.rates[app] else { return }
        self.fail("\(what) of app \(app) beyond its rate, \(limit.rate)/s with a bucket of \(limit.bucketSize)")
    }

    /// Redis' clock jumps ahead.
    func clockJumps() {
        for app in self.sendLaws.indices {
            self.sendLaws[app]?.clockJumps(at: self.now)
            self.arrivalLaws[app]?.clockJumps(at: self.now)
        }
    }

    /// Until one of two workers with one id notices, what either has, or may have, can be open twice. It notices with its next
    /// renewal; where Redis is away, slow or just lost its data, or the process is stopped, later.
    private func allowedToTwins() -> Int {
        let longest = self.setup.ttl + Int(self.setup.requestTimeout.milliseconds)
        self.twins.removeAll { $0.first.id != $0.second.id }
        var allowed = 0
        for index in self.twins.indices {
            let pair = [self.twins[index].first, self.twins[index].second]
            let isHeldUp = self.redis.isTroubled || pair.contains { $0.isFrozen || $0.redisCutUntil > self.now }
            if isHeldUp { self.twins[index].since = self.now }
            self.twins[index].grant = pair.reduce(self.twins[index].grant) { max($0, $1.plan.limit, $1.plan.held) }
            if self.now - self.twins[index].since <= longest { allowed += self.twins[index].grant }
        }
        return allowed
    }

    /// One lease time and one heartbeat after the last fault no connection is counted as that of a worker which is gone.
    private func checkLeases() {
        // What was on its way when the faults ended takes up to five seconds.
        guard let healed = self.healedAt, self.now > healed + 5_000 + self.setup.ttl + self.setup.heartbeat else {
            return
        }
        for member in self.redis.budget.members where member.grant > 0 {
            guard let worker = self.workers.last(where: { $0.id.description == member.id }), !worker.isAlive,
                !self.workers.contains(where: { $0.isAlive && $0.id == worker.id })
            else { continue }
            // Who has left lately may not have been able to say so.
            guard self.now > worker.endedAt + self.setup.ttl + self.setup.heartbeat + 1_000 else { continue }
            self.fail("w\(worker.index) is gone and still has \(member.grant) connections in Redis")
        }
    }

    private func checkTurns() {
        guard let healed = self.healedAt else { return }
        let alive = self.workers.count { $0.isAlive }
        for worker in self.workers where worker.isAlive {
            guard let since = worker.hungrySince else { continue }
            let waited = self.now - max(since, healed)
            let limit = self.setup.turnLimit(workers: alive)
            self.tally.longestTurnPercentage = max(self.tally.longestTurnPercentage, waited * 100 / limit)
            if waited > limit {
                self.fail("w\(worker.index) has waited for a connection for \(Self.seconds(waited))")
            }
        }
    }

    /// A message has left its queue for good.
    func leftQueue(_ message: SimulatedMessage) {
        if let lost = self.journal.drops(message) {
            self.fail("push \(lost) of message \(message.name) is lost: no queue has it and nobody has settled it")
        }
    }

    func end(_ token: SimulatedToken, _ path: WritableKeyPath<Journal.Entry, Int>) {
        self.journal.end(token.number, path)
        switch path {
        case \.accepted: self.tally.accepted += 1
        case \.dead: self.tally.dead += 1
        default: self.tally.gone += 1
        }
    }
}

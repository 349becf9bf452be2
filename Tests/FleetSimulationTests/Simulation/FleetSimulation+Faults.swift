import Push
import TestRandom

@testable import APNs
@testable import Broker
@testable import Worker

/// What goes wrong in a history.
package enum Fault: String, CaseIterable, Sendable {
    case kill, terminate, scaleUp, scaleDown, clone, pause, pauseAfterRenewal, wallClock
    case cutFromRedis, cutFromBroker, cutFromApple
    case redisAway, redisFlush, redisEmpty, redisOld, redisSame, redisClock, redisSlow, redisCopy
    case brokerRestart, brokerCloses, brokerRefuses
    case appleSlow, appleErrors, appleSilent, appleGoesAway, appleResets, appleRefusesDials, appleFewStreams
    case credentialRefused, wrongEnvironment
}

extension FleetSimulation {
    func injectFaults() {
        guard self.isFaulty else { return }
        self.inject(self.faults[self.some(0...self.faults.count - 1)])
        self.schedule(after: self.some(200...self.setup.longestPause)) { [self] in self.injectFaults() }
    }

    private func inject(_ fault: Fault) {
        self.note("fault: \(fault.rawValue)")
        self.tally.faults[fault, default: 0] += 1
        let some = self.running.filter { _ in self.random.chance(0.5) }
        switch fault {
        case .kill:
            for worker in some {
                worker.kill()
                self.schedule(after: self.some(500...6_000)) { [self] in if self.isFaulty { self.addWorker() } }
            }
        case .terminate, .scaleDown:
            self.running.randomElement(using: &self.random)?.drain()
            if fault == .terminate { self.addWorker() }
        case .scaleUp: for _ in 0..<self.some(1...2) where self.running.count < 6 { self.addWorker() }
        case .clone: if self.running.count < 6 { self.clone() }
        case .pause:
            if let worker = self.running.randomElement(using: &self.random) {
                self.freeze(worker, for: self.some(500...2 * self.setup.ttl))
            }
        case .pauseAfterRenewal:
            for worker in some { worker.freezesAfterRenewal = self.some(self.setup.heartbeat...2 * self.setup.ttl) }
        case .wallClock: for worker in some { worker.wallOffset += self.some(-2_000...2_000) }
        case .cutFromRedis:
            for worker in some { worker.redisCutUntil = self.now + self.some(1_000...2 * self.setup.ttl) }
        case .cutFromBroker: for worker in some { self.cutFromBroker(worker, for: self.some(2_000...20_000)) }
        case .cutFromApple:
            for worker in some { self.cutFromApple(worker, for: self.some(2_000...15_000)) }
        case .redisAway, .redisFlush, .redisEmpty, .redisOld, .redisSame, .redisClock, .redisSlow, .redisCopy:
            self.injectIntoRedis(fault)
        case .brokerRestart: self.broker.restart(awayFor: self.some(500...8_000))
        case .brokerCloses:
            for link in self.broker.links where self.random.chance(0.4) { self.broker.close(link) }
        case .brokerRefuses:
            self.broker.nacks = 50
            self.schedule(after: self.some(500...5_000)) { [self] in self.broker.nacks = 0 }
        case .appleSlow, .appleErrors, .appleSilent, .appleGoesAway, .appleResets, .appleRefusesDials, .appleFewStreams,
            .credentialRefused, .wrongEnvironment:
            self.injectIntoApple(fault)
        }
    }

    private func injectIntoRedis(_ fault: Fault) {
        switch fault {
        case .redisAway: self.redis.awayUntil = self.now + self.some(500...2 * self.setup.ttl)
        case .redisFlush: self.redis.flush()
        case .redisEmpty: self.redis.restart(.empty)
        case .redisOld: self.redis.restart(.old)
        case .redisSame: self.redis.restart(.kept)
        case .redisClock:
            let steps = [-4_000, 1_500, 30_000, -3_600_000, 86_400_000]
            self.redis.setClock(by: steps.randomElement(using: &self.random) ?? 0)
        case .redisSlow:
            self.redis.lateness = self.some(100...1_500)
            self.schedule(after: self.some(2_000...10_000)) { [self] in self.redis.lateness = 0 }
        default: self.redis.copy()
        }
    }

    private func injectIntoApple(_ fault: Fault) {
        let connections = self.workers.flatMap(\.connections)
        switch fault {
        case .appleSlow: self.apple.answers = 1_000...4_000
        case .appleErrors: self.apple.errors = self.some(20...100)
        case .appleSilent: self.apple.silent = self.some(20...100)
        case .appleGoesAway: for connection in connections where self.random.chance(0.6) { self.goAway(connection) }
        case .appleResets: for connection in connections where self.random.chance(0.6) { self.reset(connection) }
        case .appleRefusesDials: self.apple.refusesDials = true
        case .appleFewStreams: self.apple.streams = 1
        case .credentialRefused: self.apple.refusal = Reply(status: 403, reason: .invalidProviderToken)
        default: self.apple.refusal = Reply(status: 400, reason: .badDeviceToken)
        }
        let length = self.random.chance(0.3) ? self.some(6_000...20_000) : self.some(500...6_000)
        self.schedule(after: length) { [self] in self.apple = AppleWeather(self.setup) }
    }

    // MARK: Processes and networks

    @discardableResult
    func addWorker() -> SimulatedWorker {
        let worker = SimulatedWorker(index: self.workers.count, simulation: self)
        self.workers.append(worker)
        self.note("w\(worker.index) joins")
        self.on(worker, after: self.some(0...300)) { worker.start() }
        return worker
    }

    /// A process or machine that is copied while it runs, with the id and the number of its lease. What it had open goes
    /// on in the original.
    private func clone() {
        guard let original = self.running.randomElement(using: &self.random), !original.isFrozen else { return }
        let worker = SimulatedWorker(index: self.workers.count, simulation: self, original: original)
        self.workers.append(worker)
        for other in self.workers where other !== worker && other.id == worker.id {
            self.twins.append(Twins(first: other, second: worker, since: self.now, grant: 0))
        }
        self.note("w\(worker.index) is a clone of w\(original.index), which may have \(original.plan.limit)")
        self.on(worker, after: self.some(0...100)) { worker.start() }
    }

    /// SIGSTOP for a while. A broker that hears nothing ends its connections.
    func freeze(_ worker: SimulatedWorker, for time: Int) {
        guard !worker.isFrozen, worker.isAlive else { return }
        self.note("w\(worker.index) stops for \(Self.seconds(time))")
        worker.isFrozen = true
        worker.frozenUntil = self.now + time
        for link in [worker.consuming, worker.publishing] {
            guard let link else { continue }
            self.schedule(after: self.some(8_000...15_000)) { [self] in if worker.isFrozen { self.broker.close(link) } }
        }
        self.schedule(after: time) { [self] in self.thaw(worker) }
    }

    func thaw(_ worker: SimulatedWorker) {
        guard worker.isAlive, worker.isFrozen, worker.frozenUntil <= self.now else { return }
        worker.isFrozen = false
        self.note("w\(worker.index) goes on")
        let events = worker.heldEvents
        worker.heldEvents = []
        for event in events where worker.isAlive { event() }
        worker.turn()
    }

    /// Something that happens to a process: later if it is stopped, never if it is dead. A turn of its loop ends after.
    func on(_ worker: SimulatedWorker, after delay: Int, _ body: @escaping () -> Void) {
        self.schedule(after: delay) {
            guard worker.isAlive else { return }
            let event = {
                guard worker.isAlive else { return }
                body()
                worker.turn()
            }
            if worker.isFrozen || !worker.heldEvents.isEmpty { worker.heldEvents.append(event) } else { event() }
        }
    }

    private func cutFromBroker(_ worker: SimulatedWorker, for time: Int) {
        worker.brokerCutUntil = self.now + time
        for link in [worker.consuming, worker.publishing] {
            guard let link else { continue }
            link.isCut = true
            // Each end notices by itself.
            self.schedule(after: self.some(500...12_000)) { [self] in self.broker.close(link) }
            self.on(worker, after: self.some(500...12_000)) { worker.linkLost(link) }
        }
    }

    private func cutFromApple(_ worker: SimulatedWorker, for time: Int) {
        worker.appleCutUntil = self.now + time
        for connection in worker.connections {
            connection.isCut = true
            // A PING without an answer.
            self.on(worker, after: self.some(2_000...12_000)) { worker.connectionClosed(connection, .connectionLost) }
        }
    }
}

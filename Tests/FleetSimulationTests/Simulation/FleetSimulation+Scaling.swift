import Push
import TestRandom

@testable import APNs
@testable import Store
@testable import Worker

/// 1 → 8 → 1 workers with more to send than they can: as a phase among faults, and alone, where shares must be even soon
/// after each change.
extension FleetSimulation {
    /// One worker of eight stays, but not before the others have worked.
    func scaleUpAndDown(until end: Int) {
        guard self.setup.scales else { return }
        let up = self.now + self.some(0...3_000)
        self.schedule(after: up - self.now) { [self] in
            self.note("scales up to 8")
            while self.running.count < 8 { self.addWorker() }
        }
        self.schedule(after: self.some(up...max(up, end - 1_000)) - self.now) { [self] in
            self.note("scales down to 1")
            for worker in self.running.dropFirst() { worker.drain() }
        }
    }

    /// How long shares took to be even after each change, in milliseconds.
    struct Evenness {
        var up: [Int] = []
        var down = 0
        /// After one was killed.
        var back = 0
    }

    /// A fleet of its own that only grows and shrinks; see ``scale()``.
    static func scaling(seed: UInt64, bug: SeededBug? = nil, isTracing: Bool = false) -> FleetSimulation {
        var random = SeededRandom(spreading: seed)
        let setup = Setup.scaling(random: &random)
        return FleetSimulation(seed: seed, bug: bug, isCalm: true, isTracing: isTracing, setup: setup)
    }

    /// Nothing goes wrong but what is done here. A backlog is there all the time.
    ///
    /// Two heartbeats after everybody has asked for what it can use, grants are even within one connection and together
    /// all of the budget. A worker that joins first needs one connection to see that there is work, which takes two
    /// more. What a killed worker had is back within one lease time and one heartbeat.
    func scale() -> Evenness {
        var evenness = Evenness()
        let (heartbeat, ttl) = (self.setup.heartbeat, self.setup.ttl)
        self.redis.budget.initialize(runID: self.redis.runID, now: self.redis.time)
        self.keepBacklog()
        for count in [1, 2, 4, 8] {
            while self.running.count < count { self.addWorker() }
            let time = self.waitForEvenShares(within: 4 * heartbeat, after: "\(count) workers started")
            evenness.up.append(time)
            self.run(until: self.now + self.some(0...2 * heartbeat))
        }
        self.running.randomElement(using: &self.random)?.kill()
        evenness.back = self.waitForEvenShares(within: ttl + heartbeat, after: "one was killed")
        for worker in self.running.dropFirst() { worker.drain() }
        while self.violation == nil, self.workers.contains(where: { $0.isAlive && $0.shutdown.isDraining }) {
            self.run(until: self.now + 50)
        }
        evenness.down = self.waitForEvenShares(within: 2 * heartbeat, after: "all but one left")
        return evenness
    }

    var running: [SimulatedWorker] { self.workers.filter { $0.isAlive && !$0.shutdown.isDraining } }

    private func keepBacklog() {
        for _ in 0..<20 where self.broker.readyCount < 200 { self.publish(self.journal.entries.count) }
        self.schedule(after: 200) { [self] in self.keepBacklog() }
    }

    private func waitForEvenShares(within limit: Int, after change: String) -> Int {
        let start = self.now
        // What a process needs to start, the pushes on a connection that is given back, and the network.
        let slack = 2_000
        var wantedAt: Int?
        while self.violation == nil {
            let ids = self.running.map(\.id.description)
            let members = self.redis.budget.members
            let grants = ids.map { id in members.first { $0.id == id }?.grant ?? 0 }
            // Who is gone is still counted for a while.
            let isWhole = members.reduce(0) { $0 + $1.grant } == grants.reduce(0, +)
            if isWhole, grants.reduce(0, +) == self.setup.budget, grants.max()! - grants.min()! <= 1 {
                return self.now - start
            }
            if isWhole, wantedAt == nil, self.running.allSatisfy({ $0.plan.wanted == self.setup.budget }) {
                wantedAt = self.now
            }
            if self.now - start > limit + slack {
                self.fail(
                    "grants are \(grants) of \(self.setup.budget), \(Self.seconds(limit + slack)) after \(change)"
                )
            } else if let wantedAt, self.now - wantedAt > 2 * self.setup.heartbeat + slack {
                self.fail("grants are \(grants) of \(self.setup.budget) two heartbeats after all want them")
            }
            self.run(until: self.now + 50)
        }
        return 0
    }
}

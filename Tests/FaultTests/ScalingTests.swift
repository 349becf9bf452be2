import Foundation
import Simulator
import TestRandom
import TestServers
import Testing

extension FaultTests {
    /// Any number of workers is one careful sender, whatever happens to some of them.
    @Suite("Scaling")
    struct Scaling {
        @Test("1, 8 and 1 workers, with random kill -9, SIGTERM and stops longer than a lease, share one budget evenly")
        func oneEightOne() async throws {
            let worker = ["streams_per_connection: 6", "prefetch_per_connection: 60"]
            try await Fleet.run(latency: .milliseconds(200), streams: 6, worker: worker) { fleet in
                fleet.maxConnections = 16
                fleet.times = Fleet.Times(lease: .seconds(6), heartbeat: .seconds(1), quantum: .seconds(2))
                try fleet.writeConfiguration()
                var crowd = Crowd(fleet, seed: Seed())
                try await crowd.grow(to: 1)
                try await crowd.grow(to: 3)
                try await crowd.grow(to: 8)
                for fault in crowd.faults() { try await crowd.suffer(fault) }
                while crowd.alive.count > 1 {
                    let count = min(crowd.alive.count - 1, Int.random(in: 2...4, using: &crowd.random))
                    try await crowd.lose(count)
                }
                let verdict = try await fleet.finish()
                let overages = try await fleet.overages(above: fleet.maxConnections)
                verdict.show("1, 8, 1 workers", "\(crowd.report); overages \(overages)")
                verdict.expectNothingLost(duplicates: crowd.atRisk, frozen: crowd.frozen)
                for overage in overages { crowd.explain(overage) }
                crowd.expectInTime()
                #expect(verdict.deadLettered == 0)
                #expect(crowd.killed > 0 && crowd.terminated > 0 && crowd.stopped.count > 0)
            }
        }
    }
}

/// Workers that come and go, under load all the time.
private struct Crowd {
    enum Fault: CaseIterable {
        case kill, terminate, stop
    }

    private let fleet: Fleet
    private let seed: Seed
    var random: SeededRandom
    private(set) var alive: [WorkerProcess] = []
    private(set) var killed = 0
    private(set) var terminated = 0
    /// Processes that could not close what they held: what that was at most, and until when it may have been open.
    private(set) var stopped: [(held: Int, window: ClosedRange<Int64>)] = []
    /// Pushes that were at Apple with a worker that could not hear the answer.
    private(set) var atRisk = 0
    /// The longest time from a start until all workers have work enough for their shares.
    private var asked: Duration = .zero
    /// The longest time from a change that all workers knew to even shares, by what changed.
    private var longest: [String: Duration] = [:]

    init(_ fleet: Fleet, seed: Seed) {
        self.fleet = fleet
        self.seed = seed
        self.random = seed.random
    }

    // MARK: What happens

    mutating func grow(to count: Int) async throws {
        guard self.alive.count < count else { return }
        while self.alive.count < count { self.alive.append(try self.fleet.startWorker()) }
        // A worker asks for one connection at first, and for more when it has got work by it.
        let share = self.fleet.maxConnections / count
        let asked = try await self.load("all have asked for a share") {
            let shares = try self.fleet.shares()
            return shares.all.count == count && shares.all.allSatisfy { $0.want >= share }
        }
        self.asked = max(self.asked, asked)
        try await self.becomeEven("a start")
    }

    /// Each kind once and two more, in any order.
    mutating func faults() -> [Fault] {
        var faults = Fault.allCases
        for _ in 0..<2 { faults.append(Fault.allCases.randomElement(using: &self.random) ?? .kill) }
        return faults.shuffled(using: &self.random)
    }

    /// A fault hits one worker; another one takes its place, or it goes on.
    mutating func suffer(_ fault: Fault) async throws {
        let count = self.alive.count
        switch fault {
        case .kill: try await self.kill(1)
        case .terminate: try await self.terminate(1)
        case .stop: try await self.stop()
        }
        try await self.grow(to: count)
    }

    /// Some workers go for good, killed or told to.
    mutating func lose(_ count: Int) async throws {
        let killed = Int.random(in: 0...count, using: &self.random)
        if killed < count { try await self.terminate(count - killed) }
        if killed > 0 { try await self.kill(killed) }
    }

    private mutating func kill(_ count: Int) async throws {
        let held = try self.fleet.shares().most
        let victims = (0..<count).map { _ in self.take() }
        for victim in victims { victim.signal(SIGKILL) }
        for victim in victims { try await victim.waitForEnd() }
        self.killed += count
        self.endanger(held * count)
        let time = try await self.load("the shares of the killed are back") {
            let shares = try self.fleet.shares()
            return shares.all.count == self.alive.count && shares.held == self.fleet.maxConnections
        }
        self.note("share of the killed", time)
        try await self.becomeEven("the end of a killed one's lease")
    }

    private mutating func terminate(_ count: Int) async throws {
        let victims = (0..<count).map { _ in self.take() }
        for victim in victims { victim.signal(SIGTERM) }
        for victim in victims { #expect(try await victim.waitForEnd().end == .exit(0)) }
        self.terminated += count
        try await self.becomeEven("a SIGTERM")
    }

    /// The process is stopped for longer than its lease, in which the others get what it had, and then goes on.
    private mutating func stop() async throws {
        let held = try self.fleet.shares().most
        let victim = self.alive[Int.random(in: 0..<self.alive.count, using: &self.random)]
        let rest = Duration.milliseconds(Int.random(in: 1000...3000, using: &self.random))
        let start = Fleet.now
        victim.signal(SIGSTOP)
        let stop = ContinuousClock.now
        try await self.load("others have what the stopped one had") {
            let shares = try self.fleet.shares()
            return shares.all.count == self.alive.count - 1 && shares.held == self.fleet.maxConnections
        }
        try await self.load("it is stopped for longer than its lease") {
            ContinuousClock.now - stop > self.fleet.times.lease + rest
        }
        victim.signal(SIGCONT)
        // It closes what it held as soon as it runs again; the rest is for a busy machine.
        self.stopped.append((held, start...Fleet.now + 2000))
        self.endanger(held)
        try await self.load("it asks again") { try self.fleet.shares().all.count == self.alive.count }
        try await self.becomeEven("a SIGCONT")
    }

    private mutating func take() -> WorkerProcess {
        self.alive.remove(at: Int.random(in: 0..<self.alive.count, using: &self.random))
    }

    /// What is at Apple, and as much again that was answered and is not settled yet.
    private mutating func endanger(_ connections: Int) { self.atRisk += connections * 6 * 2 }

    // MARK: What is watched

    /// Shares differ by one connection at most and use up the budget.
    private mutating func becomeEven(_ change: String) async throws {
        let time = try await self.load("shares are even after \(change)") {
            let shares = try self.fleet.shares()
            return shares.all.count == self.alive.count && shares.held == self.fleet.maxConnections
                && shares.most - shares.least <= 1
        }
        self.note(change, time)
    }

    private mutating func note(_ what: String, _ time: Duration) {
        self.longest[what] = max(self.longest[what] ?? .zero, time)
    }

    @discardableResult
    private func load(_ what: String, _ isTrue: () throws -> Bool) async throws -> Duration {
        do {
            return try await eventually(what) {
                try await self.fleet.topUp()
                return try isTrue()
            }
        } catch {
            throw NeverHappened(description: "\(error) (\(self.seed))")
        }
    }

    // MARK: What must hold

    /// What stopped processes held, at most.
    var frozen: Int { self.stopped.reduce(0) { $0 + $1.held } }

    /// Only a stopped process, and until it goes on, explains that there are more connections than the budget allows.
    func explain(_ overage: Overage) {
        let held = self.stopped.filter { $0.window.contains(overage.from) && $0.window.contains(overage.to) }
        #expect(overage.most <= held.reduce(0) { $0 + $1.held }, "\(overage), stopped \(self.stopped), \(self.seed)")
    }

    /// Heartbeats come up to a tenth late; two seconds are for draining what is given away and for a busy machine.
    func expectInTime() {
        let (lease, heartbeat, slack) = (self.fleet.times.lease, self.fleet.times.heartbeat, Duration.seconds(2))
        for (what, time) in self.longest {
            let limit = what == "share of the killed" ? lease + heartbeat : heartbeat * 2
            #expect(time <= limit + heartbeat / 5 + slack, "\(what): \(time.seconds), \(self.seed)")
        }
    }

    var report: String {
        let times = self.longest.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.seconds)" }
        return
            "\(self.seed), new ones had work after \(self.asked.seconds) at most, \(self.killed) killed, \(self.terminated) terminated, \(self.stopped.count) stopped with "
            + "\(self.frozen) connections; longest: \(times.joined(separator: ", ")); at risk \(self.atRisk) pushes"
    }
}

import Push
import TestRandom

@testable import Store

/// A fleet that shares a budget through the real scripts on a real Redis, with clocks, network and crashes of our own.
///
/// Time is virtual, in milliseconds. Every message has its own delay, so that they overtake each other. What is checked
/// at every step: connections open, of workers that are not frozen beyond their deadline, never exceed the budget.
final class FleetModel {
    /// A rule that is taken away, to see that the model notices.
    enum Mutation: String, CaseIterable {
        case r1, r2, r3, r4, r5, r7, r8, w1, w3
    }

    struct Violation: Error, CustomStringConvertible {
        let seed: UInt64
        let time: Int
        let what: String
        let log: [String]

        var description: String {
            "seed \(self.seed), at \(Double(self.time) / 1000) s: \(self.what)\n"
                + self.log.suffix(40).joined(separator: "\n")
        }
    }

    enum Event {
        case wake(worker: Int, generation: Int)
        case arrives(Request)
        case answered(worker: Int, seq: Int64, LeaseAnswer)
        case released(worker: Int, seq: Int64)
        case closed(worker: Int)
        case thaw(worker: Int)
        case fault
    }

    struct Request {
        let worker: Int
        let runID: Int
        let renew: RenewRequest
    }

    struct Worker {
        let id: InstanceID
        var lease: Lease
        let rate: Double
        var want: Int
        var open = 0
        var closing = 0
        var isAlive = true
        var isLeaving = false
        var frozenUntil = 0
        var partitionedUntil = 0
        var generation = 0
        var nextDial = 0
        var held: [Event] = []
    }

    struct Weather {
        var faults = Fault.allCases
        /// Milliseconds from one fault to the next, at most.
        var longestPause = 12_000
        /// How many messages are lost, and how many are late by up to 12 s.
        var lost = 0.03
        var late = 0.06
    }

    let seed: UInt64
    let settings: LeaseSettings
    let budget: Budget
    let redis: BlockingRedis
    let renewScript: Script
    let mutation: Mutation?
    var random: SeededRandom
    var now = 0
    var serverOffset = 1_700_000_000_000
    var runID = 1
    var serverAwayUntil = 0
    var workers: [Worker] = []
    var events = EventHeap<Event>()
    var copies: [RedisReply] = []
    var log: [String] = []
    var isFaulty = false
    var faultKinds = Set<String>()
    var peak = 0
    var handled = 0
    /// Which faults happen, and how the network is while they do.
    var weather = Weather()

    init(
        seed: UInt64,
        budget: Int,
        redis: BlockingRedis,
        settings: LeaseSettings = .standard,
        without mutation: Mutation? = nil
    ) {
        self.seed = seed
        self.random = SeededRandom(spreading: seed)
        self.redis = redis
        self.settings = settings
        self.mutation = mutation
        self.renewScript = Self.renewScript(without: mutation)
        var ids = SystemRandomNumberGenerator()
        self.budget = Budget(pool: "model.\(InstanceID(using: &ids))", connections: budget)
    }

    /// The production source, but the clock comes as an argument, and perhaps a rule is missing.
    static func renewScript(without mutation: Mutation?) -> Script {
        var source = BudgetScript.renewSource(now: "local now = tonumber(ARGV[15])")
        func replace(_ old: String, _ new: String) {
            let parts = source.split(separator: old, omittingEmptySubsequences: false)
            precondition(parts.count == 2, "the script no longer has exactly one: \(old)")
            source = parts.joined(separator: new)
        }
        switch mutation {
        case .r1:
            replace(
                "meta = { run = run, last = now, quarantine = now + ttl } -- R1",
                "meta = { run = run, last = now, quarantine = 0 }"
            )
            replace("meta.run, meta.quarantine = run, now + ttl -- R1", "meta.run = run")
        case .r2: replace("move(now - meta.last) -- R2", "")
        case .r3: replace("if jump > slack then move(jump) end -- R3", "")
        case .r4: replace("meta.quarantine = now + ttl end -- R4", "end")
        case .r5: replace("if me and seq <= me.seq then return { 0, 0, 0, 0, 0, 0, 0, 0, 0 } end -- R5", "")
        case .r7: replace("me.grant = math.max(open, math.min(target, free))", "me.grant = math.min(target, free)")
        case .r8: replace("math.min(target, free)) -- R7 R8", "target)")
        case .w1, .w3, nil: break
        }
        return Script(source)
    }

    var key: String { Keys.budget(pool: self.budget.pool) }

    func counts() throws -> FleetStatus.Pool.Counts {
        let text = try self.redis.send(RedisCommand("HGET", self.key, "counts")).text
        return text.flatMap { FleetStatus.Pool.Counts($0) } ?? FleetStatus.Pool.Counts()
    }

    // MARK: Running

    func run(until end: Int) throws {
        while let time = self.events.nextTime, time <= end, let event = self.events.pop() {
            self.now = max(self.now, time)
            self.handled += 1
            guard self.handled < 500_000 else { throw self.fail("it never ends: \(event)") }
            try self.handle(event)
            try self.check()
        }
        self.now = end
    }

    func schedule(after delay: Int, _ event: Event) {
        self.events.insert(event, at: self.now + max(0, delay))
    }

    func note(_ text: @autoclosure () -> String) {
        self.log.append("\(Double(self.now) / 1000) \(text())")
    }

    func fail(_ what: String) -> Violation {
        Violation(seed: self.seed, time: self.now, what: what, log: self.log)
    }

    /// A worker's own clock.
    func local(_ index: Int, at time: Int? = nil) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(Double(time ?? self.now) * self.workers[index].rate * 1_000_000) + 1 << 50)
    }

    var totalOpen: Int {
        self.workers.indices.reduce(0) { sum, index in
            let worker = self.workers[index]
            let isOverdue = worker.frozenUntil > self.now && !worker.lease.isValid(now: self.local(index))
            return isOverdue ? sum : sum + worker.open
        }
    }

    private func check() throws {
        let open = self.totalOpen
        self.peak = max(self.peak, open)
        guard open > self.budget.connections else { return }
        let detail = self.workers.indices.filter { self.workers[$0].open > 0 }.map {
            "w\($0): \(self.workers[$0].open)"
        }
        throw self.fail(
            "\(open) connections open, budget \(self.budget.connections) (\(detail.joined(separator: ", ")))"
        )
    }

    private func handle(_ event: Event) throws {
        switch event {
        case .wake(let index, let generation):
            guard self.workers[index].generation == generation else { return }
            self.step(index)
        case .arrives(let request):
            try self.serve(request)
        case .answered(let index, let seq, let answer):
            guard self.workers[index].isAlive else { return }
            guard self.workers[index].frozenUntil <= self.now else { return self.workers[index].held.append(event) }
            let counted = self.workers[index].lease.answered(seq, answer, now: self.local(index))
            self.note(
                "w\(index) answer \(seq) \(counted ? "" : "ignored ")grant \(answer.grant) target \(answer.target)"
            )
            self.step(index)
        case .released(let index, let seq):
            guard self.serverAwayUntil <= self.now else { return }
            _ = try self.redis.run(self.budget.release(seq: seq, as: self.workers[index].id))
        case .closed(let index):
            guard self.workers[index].closing > 0 else { return }
            self.workers[index].closing -= 1
            self.workers[index].open -= 1
            self.step(index)
        case .thaw(let index):
            guard self.workers[index].isAlive, self.workers[index].frozenUntil <= self.now else { return }
            self.note("w\(index) thaws")
            let held = self.workers[index].held
            self.workers[index].held = []
            for event in held { try self.handle(event) }
            self.step(index)
        case .fault:
            guard self.isFaulty else { return }
            try self.injectFault()
            self.schedule(after: Int.random(in: 500...self.weather.longestPause, using: &self.random), .fault)
        }
    }

    // MARK: Workers

    @discardableResult
    func addWorker(want: Int) -> Int {
        let index = self.workers.count
        let id = InstanceID(using: &self.random)
        let rate = 1 + Double.random(in: -5e-4...5e-4, using: &self.random)
        self.workers.append(
            Worker(
                id: id,
                lease: Lease(settings: self.settings, id: id, now: MonotonicTime(nanoseconds: 0)),
                rate: rate,
                want: want
            )
        )
        self.note("w\(index) joins, wants \(want)")
        self.schedule(after: Int.random(in: 0...500, using: &self.random), .wake(worker: index, generation: 0))
        return index
    }

    func kill(_ index: Int) {
        self.note("w\(index) killed with \(self.workers[index].open) open")
        self.workers[index].isAlive = false
        self.workers[index].open = 0
        self.workers[index].closing = 0
    }

    /// SIGTERM: closes gently, then gives back.
    func terminate(_ index: Int) {
        self.note("w\(index) leaves")
        self.workers[index].isLeaving = true
        self.workers[index].want = 0
        self.step(index)
    }

    private func step(_ index: Int) {
        var worker = self.workers[index]
        guard worker.isAlive, worker.frozenUntil <= self.now else { return }
        let time = self.local(index)
        // W3 is taken away by a worker that goes by the last answer alone.
        let isValid = worker.lease.isValid(now: time) || self.mutation == .w3
        if !isValid, worker.open > 0 {
            self.note("w\(index) lease over, closes \(worker.open)")
            worker.open = 0
            worker.closing = 0
        }
        let excess = worker.isLeaving ? worker.open : isValid ? worker.lease.excess(open: worker.open, now: time) : 0
        if self.mutation != .w3 || worker.lease.isValid(now: time) {
            while worker.closing < min(excess, worker.open) {
                worker.closing += 1
                self.schedule(after: Int.random(in: 20...3_000, using: &self.random), .closed(worker: index))
            }
        }
        let cap = self.mutation == .w1 ? worker.lease.limit(now: time) : nil
        let mayOpen = cap.map { worker.open < $0 } ?? worker.lease.mayOpen(open: worker.open, now: time)
        if mayOpen, worker.open < worker.want, worker.closing == 0, worker.nextDial <= self.now {
            worker.open += 1
            worker.nextDial = self.now + 100
        }
        let request = worker.lease.renewDue(open: worker.open, want: worker.want, now: time)
        if worker.isLeaving, worker.open == 0 {
            worker.isAlive = false
            let seq = worker.lease.release()
            if worker.partitionedUntil <= self.now, !self.isLost() {
                self.schedule(after: self.delay(), .released(worker: index, seq: seq))
            }
        }
        worker.generation += 1
        self.workers[index] = worker
        guard worker.isAlive else { return }
        if let request { self.send(request, from: index) }
        let wake = worker.lease.wakeTime(open: worker.open, want: worker.want, now: time)
        let wait = Double((wake - time).nanoseconds) / 1_000_000 / worker.rate
        let poll = mayOpen && worker.open < worker.want ? Int.random(in: 100...400, using: &self.random) : 1_000
        self.schedule(
            after: min(Int(wait.rounded(.up)) + (wait > 0 ? 0 : 10), poll),
            .wake(worker: index, generation: worker.generation)
        )
    }

    private func isLost() -> Bool { self.isFaulty && self.random.chance(self.weather.lost) }

    private func delay() -> Int {
        guard self.isFaulty, self.random.chance(self.weather.late) else {
            return Int.random(in: 1...25, using: &self.random)
        }
        return Int.random(in: 25...12_000, using: &self.random)
    }

    private func send(_ request: RenewRequest, from index: Int) {
        self.note("w\(index) renew \(request.seq) open \(request.open) want \(request.want) claim \(request.claim)")
        guard self.workers[index].partitionedUntil <= self.now, !self.isLost() else { return }
        let message = Request(worker: index, runID: self.runID, renew: request)
        self.schedule(after: self.delay(), .arrives(message))
    }

    // MARK: Redis

    private func serve(_ request: Request) throws {
        // Bytes under way to a process that has ended are gone.
        guard self.serverAwayUntil <= self.now, request.runID == self.runID else { return }
        let worker = self.workers[request.worker]
        var call = self.budget.renew(
            request.renew,
            as: worker.id,
            runID: "run\(request.runID)",
            settings: self.settings,
            script: self.renewScript
        )
        call.add(self.now + self.serverOffset)
        let reply = try self.redis.run(call)
        if case .error(let error) = reply { throw self.fail(error.text) }
        guard let answer = LeaseAnswer(reply) else {
            return self.note("redis ignores w\(request.worker) \(request.renew.seq)")
        }
        self.note(
            "redis ran w\(request.worker) \(request.renew.seq): \(answer.grant)/\(answer.target) held \(answer.held)"
        )
        guard worker.partitionedUntil <= self.now, !self.isLost() else { return }
        self.schedule(
            after: self.delay(),
            .answered(worker: request.worker, seq: request.renew.seq, answer)
        )
    }
}

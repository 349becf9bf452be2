import Push
import TestRandom

@testable import APNs
@testable import Store

/// Hours of a fleet's provider token, in virtual time: the real `ProviderTokenPolicy` of workers that start, stop, die
/// and are paused, against the model of the scripts in Redis and of Apple's rules.
///
/// In most histories Redis keeps its data and its clock: then never two tokens are made within 20 minutes, and no push
/// is sent with one that is older than 60. In the others each token too many has a loss or a step of a clock to answer
/// for it. Time is in milliseconds.
package final class TokenSimulation {
    /// What goes wrong.
    package enum Fault: String, CaseIterable, Sendable {
        case kill, terminate, scaleUp, restartAll, pause, pauseAfterAsking, wallClock
        case cutFromRedis, redisAway, redisSlow, answersLost, appleRefuses
        // Only where Redis may lose what it knows.
        case redisFlush, redisOld, redisCopy, redisClock, wallClockFar
        var isLoss: Bool { [.redisFlush, .redisOld, .redisCopy, .redisClock, .wallClockFar].contains(self) }
    }

    /// What happened in a history.
    package struct Tally: Sendable {
        package var steps = 0
        package var virtualHours = 0
        package var workers = 0
        /// Tokens that pushes were sent with.
        package var tokens = 0
        /// Tokens that a loss or a step of a clock brought on too early.
        package var early = 0
        package var sent = 0
        package var refused = 0
        package var faults: [Fault: Int] = [:]

        package init() {}

        package mutating func add(_ other: Tally) {
            for path in Self.sums { self[keyPath: path] += other[keyPath: path] }
            self.faults.merge(other.faults) { $0 + $1 }
        }

        private static var sums: [WritableKeyPath<Tally, Int>] {
            [\.steps, \.virtualHours, \.workers, \.tokens, \.early, \.sent, \.refused]
        }
    }

    package let seed: UInt64
    let bug: SeededBug?
    /// Whether Redis may lose what it knows, and clocks step far.
    let hasLosses: Bool
    private let isTracing: Bool
    var random: SeededRandom
    private(set) var now = 0
    private var events = EventHeap<() -> Void>()
    private var trace: [String] = []
    private var onNote: ((String) -> Void)?
    private(set) var violation: FleetSimulation.Violation?
    package internal(set) var tally = Tally()

    // Redis.
    private var model = ProviderTokenModel()
    private var copies: [ProviderTokenModel] = []
    private var clockOffset = 1_700_000_000_000
    private(set) var awayUntil = 0
    private var lateness = 0
    /// How many of 100 answers are lost.
    private var lost = 0

    // Apple.
    private var refusesUntil = 0

    private var workers: [TokenWorker] = []
    private var isFaulty = true
    /// When each token was made, by its number; nil while no push was sent with it.
    private var made: [Int] = []
    private var used: [Int: Int] = [:]
    /// When Redis lost what it knew, or a clock stepped far.
    private var losses: [Int] = []

    init(seed: UInt64, bug: SeededBug? = nil, isTracing: Bool = false) {
        self.seed = seed
        self.bug = bug
        self.isTracing = isTracing
        self.random = SeededRandom(spreading: seed ^ 0x70_6b_65_6e)
        self.hasLosses = self.random.chance(0.4)
        self.model.bug = bug
    }

    package static func live(
        seed: UInt64,
        bug: SeededBug? = nil,
        isTracing: Bool = false,
        onNote: ((String) -> Void)? = nil
    ) -> (tally: Tally, violation: FleetSimulation.Violation?) {
        let simulation = TokenSimulation(seed: seed, bug: bug, isTracing: isTracing)
        simulation.onNote = onNote
        simulation.live()
        return (simulation.tally, simulation.violation)
    }

    private func live() {
        let minute = 60_000
        self.note("token: \(self.hasLosses ? "Redis may lose it" : "Redis keeps it")")
        for _ in 0..<self.some(1...4) { self.addWorker() }
        self.injectFaults()
        self.run(until: self.some(60...200) * minute)
        self.heal()
        // A token that is older than Redis takes it for is refused when it is an hour old, and replaced when Redis thinks
        // it 20 minutes old.
        self.run(until: self.now + (self.hasLosses ? 82 * minute : minute))
        let before = self.tally
        self.run(until: self.now + 3 * minute)
        if self.violation == nil, self.tally.sent == before.sent || self.tally.refused > before.refused {
            self.fail("Apple still refuses the fleet's token long after the last fault, or nobody has one")
        }
        self.tally.virtualHours = self.now / (60 * minute)
        self.tally.tokens = self.used.count
        self.tally.workers = self.workers.count
    }

    private func heal() {
        self.note("faults end")
        self.isFaulty = false
        (self.awayUntil, self.lateness, self.lost, self.refusesUntil) = (0, 0, 0, 0)
        for worker in self.workers where worker.isAlive {
            worker.cutUntil = 0
            worker.freezesAfterAsking = 0
            if worker.isFrozen {
                worker.frozenUntil = self.now
                self.thaw(worker)
            }
        }
        if !self.workers.contains(where: \.isAlive) { self.addWorker() }
    }

    // MARK: Time and telling

    func schedule(after delay: Int, _ body: @escaping () -> Void) {
        self.events.insert(body, at: self.now + max(0, delay))
    }

    private func run(until end: Int) {
        while self.violation == nil, let time = self.events.nextTime, time <= end, let body = self.events.pop() {
            self.now = time
            self.tally.steps += 1
            body()
        }
        if self.violation == nil { self.now = end }
    }

    func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.random) }

    func note(_ text: @autoclosure () -> String) {
        guard self.isTracing else { return }
        let line = "\(FleetSimulation.seconds(self.now)) \(text())"
        self.trace.append(line)
        self.onNote?(line)
    }

    private func fail(_ what: String) {
        guard self.violation == nil else { return }
        self.violation = .init(seed: self.seed, time: self.now, what: what, trace: self.trace.suffix(60))
    }

    // MARK: Processes

    private func addWorker() {
        let worker = TokenWorker(index: self.workers.count, simulation: self)
        self.workers.append(worker)
        self.note("w\(worker.index) starts")
        self.on(worker, after: self.some(0...2_000)) { worker.tick() }
    }

    /// Something that happens to a process: later if it is stopped, never if it is dead.
    func on(_ worker: TokenWorker, after delay: Int, _ body: @escaping () -> Void) {
        self.schedule(after: delay) {
            guard worker.isAlive else { return }
            if worker.isFrozen || !worker.heldEvents.isEmpty { worker.heldEvents.append(body) } else { body() }
        }
    }

    func freeze(_ worker: TokenWorker, for time: Int) {
        guard worker.isAlive, !worker.isFrozen else { return }
        self.note("w\(worker.index) stops for \(time / 1000) s")
        (worker.isFrozen, worker.frozenUntil) = (true, self.now + time)
        self.schedule(after: time) { [self] in self.thaw(worker) }
    }

    private func thaw(_ worker: TokenWorker) {
        guard worker.isAlive, worker.isFrozen, worker.frozenUntil <= self.now else { return }
        self.note("w\(worker.index) goes on")
        worker.isFrozen = false
        let events = worker.heldEvents
        worker.heldEvents = []
        for event in events { event() }
    }

    // MARK: Redis

    /// Runs at Redis if it arrives, and is answered if the answer does; else it fails.
    func command<Answer>(
        of worker: TokenWorker,
        _ run: @escaping (inout ProviderTokenModel, _ now: Int) -> Answer,
        _ completion: @escaping (Answer?) -> Void
    ) {
        var isOver = false
        func finish(_ answer: Answer?) {
            guard !isOver else { return }
            isOver = true
            completion(answer)
        }
        self.schedule(after: 2_000) { [self] in
            if !isOver { self.on(worker, after: 0) { finish(nil) } }
        }
        self.schedule(after: self.some(1...20 + self.lateness)) { [self] in
            guard self.awayUntil <= self.now, worker.cutUntil <= self.now else { return }
            let answer = run(&self.model, self.now + self.clockOffset)
            guard self.some(0...99) >= self.lost else { return }
            self.on(worker, after: self.some(1...20 + self.lateness)) {
                worker.heardAt = self.now
                finish(answer)
            }
        }
    }

    // MARK: Apple

    /// A new token's number.
    func mint() -> Int {
        self.made.append(self.now)
        return self.made.count - 1
    }

    /// A push with this token.
    /// - Returns: whether Apple takes it; `ExpiredProviderToken` if not.
    func send(with number: Int, by worker: TokenWorker) -> Bool {
        self.tally.sent += 1
        let age = self.now - self.made[number]
        if self.used[number] == nil { self.firstUse(of: number, by: worker) }
        if age > 3_600_000, !self.hasLosses {
            self.fail("w\(worker.index) sends with token \(number), which is \(age / 1000) s old")
        }
        let isTaken = age < 3_600_000 && self.refusesUntil <= self.now
        if !isTaken {
            self.tally.refused += 1
            self.note("w\(worker.index): Apple refuses token \(number), \(age / 1000) s old")
        }
        return isTaken
    }

    /// Apple's rule. It is made while the lock is held and counts from when Redis has it, hence the lock's time less.
    private func firstUse(of number: Int, by worker: TokenWorker) {
        let time = self.made[number]
        let least = Int((SharedProviderToken.pause - SharedProviderToken.lock).milliseconds)
        for (other, made) in self.used where abs(time - made) < least {
            let between = min(time, made) - 5_000...max(time, made)
            guard !self.losses.contains(where: between.contains) else {
                self.tally.early += 1
                continue
            }
            self.fail(
                "w\(worker.index) sends with token \(number), which was made \(abs(time - made) / 1000) s apart from "
                    + "token \(other)"
            )
        }
        self.used[number] = time
    }

    // MARK: Faults

    private func injectFaults() {
        guard self.isFaulty else { return }
        let fault = Fault.allCases[self.some(0...Fault.allCases.count - 1)]
        if !fault.isLoss || self.hasLosses { self.inject(fault) }
        self.schedule(after: self.random.chance(0.3) ? self.some(10...5_000) : self.some(10_000...900_000)) { [self] in
            self.injectFaults()
        }
    }

    private func inject(_ fault: Fault) {
        self.note("fault: \(fault.rawValue)")
        self.tally.faults[fault, default: 0] += 1
        let alive = self.workers.filter(\.isAlive)
        let some = alive.filter { _ in self.random.chance(0.5) }
        switch fault {
        case .kill, .restartAll:
            for worker in fault == .kill ? some : alive {
                worker.isAlive = false
                self.schedule(after: self.some(100...20_000)) { [self] in if self.isFaulty { self.addWorker() } }
            }
        case .terminate: alive.randomElement(using: &self.random)?.isAlive = false
        case .scaleUp: for _ in 0..<self.some(1...2) where alive.count < 5 { self.addWorker() }
        case .pause:
            for worker in some { self.freeze(worker, for: self.some(500...2_000_000)) }
        case .pauseAfterAsking: for worker in some { worker.freezesAfterAsking = self.some(1_000...4_500_000) }
        case .wallClock: for worker in some { worker.wallOffset += self.some(-2_000...2_000) }
        case .cutFromRedis: for worker in some { worker.cutUntil = self.now + self.some(1_000...1_200_000) }
        case .redisAway: self.awayUntil = self.now + self.some(500...1_200_000)
        case .redisSlow:
            self.lateness = self.some(100...4_000)
            self.schedule(after: self.some(2_000...600_000)) { [self] in self.lateness = 0 }
        case .answersLost:
            self.lost = self.some(20...80)
            self.schedule(after: self.some(2_000...600_000)) { [self] in self.lost = 0 }
        case .appleRefuses: self.refusesUntil = self.now + self.some(5_000...900_000)
        default: self.lose(fault)
        }
    }

    private func lose(_ fault: Fault) {
        switch fault {
        case .redisCopy: return self.copies.append(self.model)
        case .redisFlush: self.model = ProviderTokenModel()
        case .redisOld: self.model = self.copies.randomElement(using: &self.random) ?? ProviderTokenModel()
        case .redisClock:
            let steps = [-4_000, 30_000, -1_500_000, -3_600_000, 86_400_000]
            self.clockOffset += steps.randomElement(using: &self.random) ?? 0
        default:
            self.workers.last(where: \.isAlive)?.wallOffset += self.some(-3_600_000...3_600_000)
        }
        self.model.bug = self.bug
        self.losses.append(self.now)
    }
}

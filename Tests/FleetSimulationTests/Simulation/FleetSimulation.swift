import Push
import TestRandom

@testable import Store

/// A fleet that sends messages, in virtual time: the pure rules of the worker, of the broker's ledgers and of the lease
/// against models of RabbitMQ, Redis and Apple, with faults.
///
/// Everything comes from one seeded generator, so that a seed is a history. Time is in milliseconds. After every step
/// the invariants are checked; the first one that does not hold ends the history.
package final class FleetSimulation {
    /// What does not hold, and when.
    package struct Violation: Error, Sendable, CustomStringConvertible {
        package let seed: UInt64
        package let time: Int
        package let what: String
        /// The last events before it; empty unless the history was traced.
        package let trace: [String]

        package var description: String {
            (self.trace + ["seed \(self.seed), at \(FleetSimulation.seconds(self.time)): \(self.what)"])
                .joined(separator: "\n")
        }
    }

    /// What happened in a history; shows that its faults hit something.
    package struct Tally: Sendable {
        package var steps = 0
        package var virtualSeconds = 0
        package var tokens = 0
        package var accepted = 0
        /// Pushes that Apple took more than once.
        package var duplicates = 0
        package var dead = 0
        package var gone = 0
        package var redelivered = 0
        /// Pushes that Redis knew to be done when their message came again.
        package var alreadyDone = 0
        package var nacked = 0
        package var faults: [Fault: Int] = [:]
        /// Most connections open beyond the budget because of processes that were paused past their lease.
        package var overage = 0
        /// Most connections open beyond the budget because two processes had one id.
        package var twinOverage = 0
        package var twinsNoticed = 0
        package var longestTurn = 0
        /// The same in percent of what is allowed.
        package var longestTurnPercentage = 0
        package var pauses = 0
        package var outages = 0
        package var held = 0
        package var rested = 0
        /// Pushes that had to wait for their app's rate.
        package var rateLimited = 0
        package var leasesEnded = 0

        package init() {}

        package mutating func add(_ other: Tally) {
            for path in Self.sums { self[keyPath: path] += other[keyPath: path] }
            self.twinOverage = max(self.twinOverage, other.twinOverage)
            self.overage = max(self.overage, other.overage)
            self.longestTurnPercentage = max(self.longestTurnPercentage, other.longestTurnPercentage)
            self.longestTurn = max(self.longestTurn, other.longestTurn)
            self.faults.merge(other.faults) { $0 + $1 }
        }

        private static var sums: [WritableKeyPath<Tally, Int>] {
            [
                \.steps, \.virtualSeconds, \.tokens, \.accepted, \.duplicates, \.dead, \.gone, \.redelivered,
                \.alreadyDone,
                \.nacked, \.pauses, \.outages, \.held, \.rested, \.rateLimited, \.leasesEnded,
                \.twinsNoticed,
            ]
        }
    }

    package let seed: UInt64
    let bug: SeededBug?
    let setup: Setup
    let isTracing: Bool
    let isCalm: Bool
    /// Which faults happen.
    let faults: [Fault]
    var random: SeededRandom
    private(set) var now = 0
    private var events = EventHeap<() -> Void>()
    private var trace: [String] = []
    /// Is given every event as it happens.
    var onNote: ((String) -> Void)?
    private(set) var violation: Violation?
    package internal(set) var tally = Tally()

    let redis: RedisModel
    let broker: BrokerModel
    var apple: AppleWeather
    var workers: [SimulatedWorker] = []
    var journal = Journal()
    /// How the fleet keeps the rate of each app that has one: as pushes are sent, and as they come to Apple.
    var sendLaws: [RateLaw?]
    var arrivalLaws: [RateLaw?]
    var twins: [Twins] = []
    /// Whether faults happen.
    var isFaulty = false
    /// Since when nothing has been wrong any more; nil before.
    var healedAt: Int?

    /// - Parameters:
    ///   - isCalm: whether nothing goes wrong at all.
    ///   - setup: nil for one by the seed.
    init(
        seed: UInt64,
        bug: SeededBug? = nil,
        faults: [Fault]? = nil,
        isCalm: Bool = false,
        isTracing: Bool = false,
        setup: Setup? = nil
    ) {
        self.seed = seed
        self.bug = bug
        self.isTracing = isTracing
        self.random = SeededRandom(spreading: seed)
        self.isCalm = isCalm
        self.faults = faults ?? bug?.faults ?? Fault.allCases
        self.setup = setup ?? Setup(random: &self.random, bug: bug)
        self.sendLaws = self.setup.rates.map { $0.map(RateLaw.init) }
        self.arrivalLaws = self.sendLaws
        self.redis = RedisModel(bug: bug)
        self.apple = AppleWeather(self.setup)
        self.broker = BrokerModel(lines: self.setup.lineCount)
        self.broker.simulation = self
        self.redis.simulation = self
    }

    // MARK: Time

    func schedule(after delay: Int, _ body: @escaping () -> Void) {
        self.events.insert(body, at: self.now + max(0, delay))
    }

    /// Runs until `end`, or until something does not hold.
    func run(until end: Int) {
        while self.violation == nil, let time = self.events.nextTime, time <= end, let body = self.events.pop() {
            self.now = time
            self.tally.steps += 1
            if self.tally.steps > 400_000 { self.fail("it never ends") }
            body()
            self.checkConnections()
        }
        if self.violation == nil { self.now = end }
    }

    /// Between 0 and 2^64.
    func bits() -> UInt64 { self.random.next() }

    func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.random) }

    // MARK: Telling

    func note(_ text: @autoclosure () -> String) {
        guard self.isTracing else { return }
        let line = "\(Self.seconds(self.now)) \(text())"
        self.trace.append(line)
        self.onNote?(line)
    }

    func fail(_ what: String) {
        guard self.violation == nil else { return }
        self.violation = Violation(seed: self.seed, time: self.now, what: what, trace: self.trace.suffix(60))
    }

    static func seconds(_ time: Int) -> String {
        let milliseconds = String(1000 + time % 1000).dropFirst()
        return "\(time / 1000).\(milliseconds) s"
    }
}

import Push
import TestRandom

@testable import Store
@testable import Worker

/// What a history begins with.
struct Setup {
    var budget: Int
    var workers: Int
    var apps: Int
    var messages: Int
    var lease: LeaseSettings
    /// How long there are faults.
    var faultTime: Int
    /// Longest time from one fault to the next.
    var longestPause: Int
    /// Whether the pool was declared new, so that the first workers need not wait for one lease time.
    var isDeclared: Bool
    /// Whether the history goes on until every worker had its turn again.
    var watchesTurns: Bool
    var retry: RetrySchedule
    /// Streams that Apple allows on a connection.
    var streams: Int
    /// Milliseconds that Apple takes for an answer.
    var answers: ClosedRange<Int>
    /// Whether messages come all at once.
    var comesInBursts: Bool
    /// Whether there are eight workers for a while.
    var scales: Bool
    /// Each app's rate; nil for none.
    var rates: [RateLimit?]
    let streamsPerConnection = 4
    let prefetchPerConnection = 10
    let requestTimeout: Duration = .seconds(5)
    let drainTimeout: Duration = .seconds(8)

    var lineCount: Int { self.apps * 2 }

    /// - Parameter bug: a mistake that is to show.
    init(random: inout SeededRandom, bug: SeededBug? = nil) {
        self.streams = Int.random(in: 1...6, using: &random)
        self.answers = random.chance(0.25) ? 300...1_500 : 20...80
        self.comesInBursts = random.chance(0.5)
        self.budget = Int.random(in: 1...5, using: &random)
        self.rates = []
        self.workers = Int.random(in: 1...4, using: &random)
        self.apps = Int.random(in: 1...2, using: &random)
        self.messages = Int.random(in: 10...30, using: &random)
        self.faultTime = Int.random(in: 10_000...30_000, using: &random)
        self.longestPause = Int.random(in: 2_000...8_000, using: &random)
        self.isDeclared = random.chance(0.7)
        self.scales = random.chance(0.08)
        // More workers than connections, until all have had their turn.
        let isCrowded = random.chance(0.05)
        self.watchesTurns = isCrowded || random.chance(0.1)
        let isShort = isCrowded || random.chance(0.9)
        if isCrowded {
            self.workers = Int.random(in: 5...9, using: &random)
            self.budget = Int.random(in: 1...3, using: &random)
        } else if self.scales {
            self.workers = 1
        }
        self.lease =
            isShort
            ? try! LeaseSettings(ttl: .seconds(6), heartbeat: .seconds(1), quantum: .seconds(6)) : .standard
        self.retry = try! RetrySchedule(
            minBackoff: .seconds(1),
            maxBackoff: .seconds(8),
            maxDoublings: 3,
            ageLimit: .seconds(180),
            retryLimit: random.chance(0.3) ? 5 : nil
        )
        for _ in 0..<self.apps {
            self.rates.append(random.chance(bug == .waitsForNothing ? 1 : 0.35) ? Self.anyRate(&random) : nil)
        }
    }

    /// Much to send and nothing that limits it but connections.
    static func scaling(random: inout SeededRandom) -> Setup {
        var setup = Setup(random: &random)
        setup.budget = Int.random(in: 8...14, using: &random)
        (setup.workers, setup.apps, setup.streams, setup.answers, setup.rates) = (1, 1, 2, 200...400, [nil])
        setup.lease = try! LeaseSettings(ttl: .seconds(6), heartbeat: .seconds(1), quantum: .seconds(6))
        return setup
    }

    /// Slow ones, which hold up a backlog for long, and fast ones with buckets that a burst empties.
    private static func anyRate(_ random: inout SeededRandom) -> RateLimit {
        let rate = [2, 3, 5, 10, 20, 50, 100].randomElement(using: &random) ?? 2
        let size = random.chance(0.2) ? nil : Int.random(in: 1...max(2, min(rate, 20)), using: &random)
        return try! RateLimit(rate: rate, bucketSize: size)
    }

    var ladder: DelayLadder { DelayLadder(schedules: [self.retry]) }
    var ttl: Int { Int(self.lease.ttl.milliseconds) }
    var heartbeat: Int { Int(self.lease.heartbeat.milliseconds) }
    var quantum: Int { Int(self.lease.quantum.milliseconds) }

    /// No worker with messages waits for a connection longer than this, once nothing is wrong any more: one lease time,
    /// for a quarantine of Redis and the leases of the dead, and one quantum and two heartbeats for each time that the
    /// budget goes into the number of workers, rounded up.
    ///
    /// With the standard lease times and 50 workers on a budget of 10 that is 20 s + 5 · (30 s + 6 s), 200 s; with as many
    /// connections as workers it is 56 s.
    func turnLimit(workers: Int) -> Int {
        let rounds = (workers + self.budget - 1) / self.budget
        return self.ttl + rounds * (self.quantum + 2 * self.heartbeat)
    }
}

import Push
import Store
import TestRandom

@testable import Worker

/// Workers that share one app's rate, in virtual time: the worker's rule and the bucket's, with a network between them
/// and one to Apple, and with faults. Times are microseconds; a step is one millisecond.
struct RateFleetModel {
    struct Weather {
        /// How long a message to Redis or back takes at most, in milliseconds.
        var trip = 5
        /// Chances per step and worker, or per step.
        var pause = 0.0, lost = 0.0
        var restart = 0.0, clockBack = 0.0, away = 0.0
    }

    private struct Worker {
        var allowance: RateAllowance
        var clockOffset: Int
        var waiting = 0
        var pausedUntil = 0
        var sent = 0
        var requests = 0
        /// Requests under way to Redis, and answers under way back; nil for a failure.
        var outgoing: (at: Int, request: RateRequest, run: Int)?
        var incoming: (at: Int, answer: RateAnswer?)?
    }

    let limit: RateLimit
    var weather: Weather
    private var random: SeededRandom
    private var workers: [Worker]
    private var bucket = TokenBucket()
    private var run = 0
    private var serverOffset = 1_700_000_000_000_000
    private var awayUntil = 0
    private(set) var now = 0
    /// When pushes came to Apple.
    private(set) var arrivals: [Int] = []
    private(set) var faults = 0

    init(_ limit: RateLimit, workers: Int, seed: UInt64, weather: Weather = Weather()) {
        self.limit = limit
        self.weather = weather
        var random = SeededRandom(seed: seed)
        self.workers = (0..<workers).map { _ in
            Worker(allowance: RateAllowance(limit), clockOffset: Int.random(in: 0...1_000_000_000, using: &random))
        }
        self.random = random
    }

    var sent: [Int] { self.workers.map(\.sent) }
    var requests: [Int] { self.workers.map(\.requests) }

    /// - Parameter demand: how many pushes a worker has waiting at least at this time, in milliseconds.
    mutating func live(milliseconds: Int, _ demand: (_ worker: Int, _ time: Int) -> Int) {
        for _ in 0..<milliseconds {
            self.now += 1000
            self.misfortune()
            for index in self.workers.indices {
                self.serve(index)
                guard self.workers[index].pausedUntil <= self.now else { continue }
                self.workers[index].waiting = max(self.workers[index].waiting, demand(index, self.now / 1000))
                self.turn(index)
            }
        }
        self.arrivals.sort()
    }

    private mutating func chance(_ probability: Double) -> Bool {
        guard probability > 0, Double.random(in: 0..<1, using: &self.random) < probability else { return false }
        self.faults += 1
        return true
    }

    private mutating func misfortune() {
        if self.chance(self.weather.restart) {
            self.run += 1
            if Bool.random(using: &self.random) { self.bucket = TokenBucket() }
        }
        if self.chance(self.weather.clockBack) {
            self.serverOffset -= Int.random(in: 0...5_000_000, using: &self.random)
        }
        if self.chance(self.weather.away) {
            self.awayUntil = self.now + Int.random(in: 0...3_000_000, using: &self.random)
        }
        for index in self.workers.indices where self.chance(self.weather.pause) {
            let most = Bool.random(using: &self.random) ? 2_000_000 : 100_000
            self.workers[index].pausedUntil = self.now + Int.random(in: 0...most, using: &self.random)
        }
    }

    private mutating func serve(_ index: Int) {
        guard let message = self.workers[index].outgoing, message.at <= self.now else { return }
        self.workers[index].outgoing = nil
        let back = self.now + self.trip()
        guard message.run == self.run, self.awayUntil <= self.now else {
            self.workers[index].incoming = (back, nil)
            return
        }
        let answer = self.bucket.take(
            message.request,
            of: self.limit,
            runID: "\(self.run)",
            now: self.now + self.serverOffset
        )
        self.workers[index].incoming = (back, self.chance(self.weather.lost) ? nil : answer)
    }

    private mutating func trip() -> Int { Int.random(in: 0...self.weather.trip, using: &self.random) * 1000 }

    private mutating func turn(_ index: Int) {
        var worker = self.workers[index]
        defer { self.workers[index] = worker }
        let time = MonotonicTime(nanoseconds: Int64((self.now + worker.clockOffset) * 1000))
        if let message = worker.incoming, message.at <= self.now {
            worker.incoming = nil
            if let answer = message.answer {
                worker.allowance.answered(answer, at: time, random: self.random.next())
            } else {
                worker.allowance.failed(at: time)
            }
        }
        let late = Int((self.limit.spread - self.limit.life).nanoseconds / 1000) - 1
        while worker.waiting > 0, worker.allowance.hasToken(at: time) {
            worker.allowance.take(at: time)
            worker.waiting -= 1
            worker.sent += 1
            // The way to Apple is as slow as may be for a while, then as fast, then either.
            let way = [late, 0, Int.random(in: 0...late, using: &self.random)][self.now / 377_000 % 3]
            self.arrivals.append(self.now + 30_000 + way)
        }
        if let request = worker.allowance.request(waiting: worker.waiting, at: time) {
            worker.requests += 1
            worker.outgoing = (self.now + self.trip(), request, self.run)
        }
    }

    /// The least that was ever left of a bucket that is exactly the law; below zero the law is broken.
    var leastLeft: Double {
        var (left, least, last) = (
            Double(self.limit.bucketSize), Double(self.limit.bucketSize), self.arrivals.first ?? 0
        )
        for time in self.arrivals {
            left = min(Double(self.limit.bucketSize), left + Double((time - last) * self.limit.rate) / 1_000_000) - 1
            least = min(least, left)
            last = time
        }
        return least
    }
}

import Push
import Store
import Testing

@testable import Worker

/// The law: Apple never sees more than `rate · t + bucket_size` in any time t.
@Suite struct RateFleetTests {
    private static func limit(_ rate: Int, _ size: Int? = nil) -> RateLimit {
        try! RateLimit(rate: rate, bucketSize: size)
    }

    @Test(arguments: [(200, 50, 8), (200, 50, 1), (200, 200, 50), (1000, 60, 8), (20, 5, 3), (10, 10, 50)])
    func `A fleet with enough to do uses at least 97 % of the rate and never more`(
        rate: Int,
        size: Int,
        workers: Int
    ) {
        var fleet = RateFleetModel(Self.limit(rate, size), workers: workers, seed: UInt64(rate + workers))
        fleet.live(milliseconds: 30_000) { _, _ in 1000 }
        #expect(fleet.leastLeft >= -0.001)
        let from = 5_000_000
        let used = fleet.arrivals.count { $0 > from }
        let allowed = rate * (fleet.now - from) / 1_000_000
        #expect(used * 100 >= allowed * 97, "\(used) of \(allowed)")
        let trips = fleet.requests.reduce(0, +)
        if workers <= 8, rate >= 200 { #expect(trips * 4 < fleet.arrivals.count, "\(trips) trips") }
        #expect(trips <= workers * 30 * 5 + 2 * fleet.arrivals.count / fleet.limit.batch, "\(trips) trips")
    }

    @Test(arguments: [(200, 50, 8), (10, 10, 50), (2, 5, 20)])
    func `Every worker with something to send gets its turn`(rate: Int, size: Int, workers: Int) {
        var fleet = RateFleetModel(Self.limit(rate, size), workers: workers, seed: 7)
        let seconds = max(30, 10 * workers / rate)
        fleet.live(milliseconds: seconds * 1000) { _, _ in 1000 }
        let fair = rate * seconds / workers
        #expect(fleet.sent.min()! * 5 >= fair, "\(fleet.sent), \(fair) would be fair")
    }

    @Test func `What idle workers do not use a busy one can`() {
        var fleet = RateFleetModel(Self.limit(200, 50), workers: 8, seed: 3)
        fleet.live(milliseconds: 30_000) { worker, time in
            // All for ten seconds, then one alone, while the others have one push now and then.
            worker == 0 ? 1000 : time < 10_000 ? 10 : time % 997 == worker ? 1 : 0
        }
        #expect(fleet.leastLeft >= -0.001)
        let used = fleet.arrivals.count { $0 > 11_000_000 }
        #expect(used >= 200 * 19 * 97 / 100, "\(used)")
        #expect(fleet.sent[0] >= 200 * 18, "seven others have one a second")
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `The law holds through pauses, losses, restarts and clocks that go back`(seed: UInt64) {
        let limits = [(200, 50), (200, 11), (1000, 100), (20, 3), (5, 1), (50, 50), (3, nil), (2000, nil)]
        let (rate, size) = limits[Int(seed) % limits.count]
        var fleet = RateFleetModel(
            Self.limit(rate, size),
            workers: Int(seed % 9) + 1,
            seed: seed,
            weather: .init(
                trip: [1, 5, 40][Int(seed) % 3],
                pause: 0.003,
                lost: 0.02,
                restart: 0.0003,
                clockBack: 0.0003,
                away: 0.0003
            )
        )
        fleet.live(milliseconds: 12_000) { worker, time in (time / 1000 + worker) % 4 == 0 ? 1 : 300 }
        #expect(fleet.leastLeft >= -0.001, "seed \(seed)")
        #expect(fleet.faults > 0 && (rate < 50 || !fleet.arrivals.isEmpty), "seed \(seed)")
    }

    /// Or the model could not tell what that is good for.
    @Test func `Pushes that come late use what the bucket keeps back`() {
        var fleet = RateFleetModel(Self.limit(200, 50), workers: 8, seed: 1)
        // After a silence, a burst just before the way to Apple becomes short.
        fleet.live(milliseconds: 14_000) { _, time in time < 3000 ? 10 : time < 31 * 377 - 45 ? 0 : 1000 }
        #expect(fleet.leastLeft < 20, "on time they would leave what the bucket in Redis does not hold, 24.5")
    }
}

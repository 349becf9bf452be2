import Push
import TestRandom
import Testing

@Suite("Delay ladder and backoff")
struct DelayLadderTests {
    @Test(
        "a level's name says its length exactly",
        arguments: [(1, "1ms"), (500, "500ms"), (1000, "1s"), (1500, "1500ms"), (90_000, "90s"), (3_600_000, "3600s")]
            as [(Int64, String)]
    )
    func names(milliseconds: Int64, name: String) {
        let level = DelayLevel(milliseconds: milliseconds)
        #expect(level.name == name)
        #expect(level.queueName == "pushfleet.delay.\(name)")
    }

    @Test("is the union of all schedules and the holds, each level once")
    func union() throws {
        let other = try RetrySchedule(
            minBackoff: .milliseconds(500),
            maxBackoff: .seconds(2),
            maxDoublings: 2,
            ageLimit: .seconds(60)
        )
        let ladder = DelayLadder(schedules: [.standard, other, .standard])
        #expect(
            ladder.levels.map(\.name) == [
                "500ms", "1s", "2s", "10s", "20s", "40s", "60s", "80s", "160s", "320s", "600s", "3600s",
            ]
        )
    }

    @Test(
        "jitter stays within the last fifth and reaches both ends",
        arguments: [1, 2, 4, 5, 500, 1000, 10_000, 600_000] as [Int64]
    )
    func jitter(milliseconds: Int64) {
        let level = DelayLevel(milliseconds: milliseconds)
        func expiration(_ random: UInt64) -> Int64 { DelayLadder.retry(level, random: random).expiration.milliseconds }
        #expect(expiration(0) == (milliseconds * 8 + 9) / 10)
        #expect(expiration(.max) == milliseconds)
        var random = SeededRandom(seed: 5)
        for _ in 0..<1000 {
            let value = expiration(random.next())
            #expect(value * 10 >= milliseconds * 8 && value <= milliseconds && value > 0)
        }
    }

    @Test("holding for any time ends on it, in few hops", arguments: [51, 52] as [UInt64])
    func holds(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let ladder = DelayLadder(schedules: [.standard])
        for _ in 0..<500 {
            let wanted = Int64.random(in: 1...Int64.random(in: 1...2_592_000_000, using: &random), using: &random)
            var remaining = Duration.milliseconds(wanted)
            var hops = 0
            while remaining > .zero {
                let wait = ladder.hold(remaining: remaining)
                #expect(
                    wait.expiration <= remaining && wait.expiration <= wait.level.duration && wait.expiration > .zero
                )
                #expect(ladder.levels.contains(wait.level))
                remaining -= wait.expiration
                hops += 1
            }
            #expect(remaining == .zero, "seed \(seed)")
            #expect(Int64(hops) <= wanted / 3_600_000 + 40)
        }
        #expect(
            ladder.hold(remaining: .seconds(-5))
                == .init(level: DelayLevel(milliseconds: 1000), expiration: .milliseconds(1))
        )
        #expect(ladder.hold(remaining: .seconds(59)).level.name == "40s")
    }

    @Test("backoff doubles to its cap, and half of it is chance")
    func backoff() {
        for random in [UInt64.min, .max] {
            var backoff = ReconnectBackoff(initial: .milliseconds(100), cap: .seconds(1))
            let waits = (0..<200).map { _ in backoff.next(random: random) }
            let whole = [100, 200, 400, 800, 1000, 1000].map { Duration.milliseconds($0) }
            #expect(Array(waits.prefix(6)) == (random == 0 ? whole : whole.map { $0 / 2 }))
            #expect(waits.last == (random == 0 ? .seconds(1) : .milliseconds(500)))
            backoff.reset()
            #expect(backoff.failures == 0)
            #expect(backoff.next(random: 0) == .milliseconds(100))
        }
        var huge = ReconnectBackoff(initial: .seconds(1 << 32), cap: .seconds(1 << 33))
        for _ in 0..<100 { #expect(huge.next(random: 0) <= .seconds(1 << 33)) }
    }
}

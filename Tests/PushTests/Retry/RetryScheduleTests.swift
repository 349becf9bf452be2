import Push
import TestRandom
import Testing

@Suite("Retry schedule")
struct RetryScheduleTests {
    static func schedule(
        _ min: Duration,
        _ max: Duration,
        _ doublings: Int,
        age: Duration = .seconds(604_800),
        retries: Int? = nil
    ) throws(SettingFault) -> RetrySchedule {
        try RetrySchedule(
            minBackoff: min,
            maxBackoff: max,
            maxDoublings: doublings,
            ageLimit: age,
            retryLimit: retries
        )
    }

    struct Row: Sendable {
        let min: Duration, max: Duration, doublings: Int, seconds: [Double], distinct: Int
    }

    @Test(
        "gives the delays of the worked examples",
        arguments: [
            Row(
                min: .seconds(10),
                max: .seconds(300),
                doublings: 3,
                seconds: [10, 20, 40, 80, 160, 240, 300, 300, 300],
                distinct: 7
            ),
            Row(
                min: .seconds(10),
                max: .seconds(200),
                doublings: 0,
                seconds: (1...20).map { Double($0) * 10 } + [200, 200],
                distinct: 20
            ),
            Row(
                min: .milliseconds(100),
                max: .seconds(3600),
                doublings: 16,
                seconds: (0..<16).map { 0.1 * Double(1 << $0) } + [3600, 3600],
                distinct: 17
            ),
            Row(
                min: .seconds(10),
                max: .seconds(600),
                doublings: 5,
                seconds: [10, 20, 40, 80, 160, 320, 600, 600],
                distinct: 7
            ),
            Row(min: .milliseconds(1), max: .milliseconds(1), doublings: 9, seconds: [0.001, 0.001], distinct: 1),
            Row(min: .seconds(7), max: .seconds(604_800), doublings: 1000, seconds: [7, 14, 28, 56], distinct: 18),
        ]
    )
    func examples(row: Row) throws {
        let schedule = try Self.schedule(row.min, row.max, row.doublings)
        let delays = (1...row.seconds.count).map { schedule.delay(beforeRetry: $0).milliseconds }
        #expect(delays == row.seconds.map { Int64(($0 * 1000).rounded()) })
        #expect(schedule.distinctDelays().count == row.distinct)
    }

    @Test("agrees with the formula done in wide arithmetic", arguments: [31, 32] as [UInt64])
    func formula(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            let min = Int64.random(in: 1...100_000, using: &random)
            let max = Int64.random(in: min...604_800_000, using: &random)
            let doublings = Int.random(in: 0...100, using: &random)
            guard let schedule = try? Self.schedule(.milliseconds(min), .milliseconds(max), doublings) else { continue }
            for retry in (1...40) + [1000, .max] {
                let e = Swift.min(retry - 1, doublings)
                let linear = Double(Swift.max(1, retry - e))
                var power = 1.0
                for _ in 0..<Swift.min(e, 60) { power *= 2 }
                let expected = Swift.min(Double(min) * power * linear, Double(max))
                #expect(schedule.delay(beforeRetry: retry).milliseconds == Int64(expected), "seed \(seed)")
            }
        }
    }

    @Test("10 s to 10 min for three hours: the last attempt starts at 10,230 s")
    func threeHours() throws {
        let schedule = try Self.schedule(.seconds(10), .seconds(600), 5, age: .seconds(10_800))
        #expect(schedule == .standard)
        let plan = schedule.plan()
        #expect(plan.steps.prefix(8).map(\.at.seconds) == [10, 30, 70, 150, 310, 630, 1230, 1830])
        #expect(plan.steps.last?.at == UnixTime(seconds: 10_230))
        #expect(plan.steps.last?.retry == 22)
        #expect(plan.end == .ageLimit)
    }

    @Test("an attempt exactly at the age limit is made, one a millisecond later is not")
    func boundary() throws {
        let ladder = DelayLadder(schedules: [])
        let schedule = try Self.schedule(.seconds(10), .seconds(10), 0, age: .seconds(100))
        let start = UnixTime(seconds: 1000)
        #expect(
            schedule.next(attempts: 1, now: UnixTime(milliseconds: 1_090_000), start: start, ladder: ladder)
                == .retry(DelayLevel(milliseconds: 10_000))
        )
        #expect(
            schedule.next(attempts: 1, now: UnixTime(milliseconds: 1_090_001), start: start, ladder: ladder)
                == .stop(.ageLimit)
        )
    }

    @Test("either limit stops", arguments: [(0, 0), (1, 1), (5, 5), (22, 22), (23, 22), (1000, 22)])
    func limits(retries: Int, expected: Int) throws {
        let schedule = try Self.schedule(
            .seconds(10),
            .seconds(600),
            5,
            age: .seconds(10_800),
            retries: retries
        )
        let plan = schedule.plan()
        #expect(plan.steps.count == expected)
        #expect(plan.end == (retries <= 22 ? .retryLimit : .ageLimit))
    }

    @Test("a plan goes on from any attempt and can be cut off")
    func plans() throws {
        let schedule = try Self.schedule(.seconds(10), .seconds(600), 5, age: .seconds(10_800))
        let plan = schedule.plan(attempts: 3, now: UnixTime(seconds: 130), start: UnixTime(seconds: 100), limit: 2)
        #expect(plan.steps.map(\.retry) == [3, 4])
        #expect(plan.steps.map(\.at.seconds) == [170, 250])
        #expect(plan.end == nil)
    }

    @Test("whatever the settings, no planned attempt passes the age limit", arguments: [41, 42] as [UInt64])
    func neverLate(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var plans = 0
        while plans < 300 {
            let min = Int64.random(in: 1...60_000, using: &random)
            let age = Int64.random(in: 1...40_000_000, using: &random)
            guard
                let schedule = try? Self.schedule(
                    .milliseconds(min),
                    .milliseconds(min * Int64.random(in: 1...50, using: &random)),
                    Int.random(in: 0...20, using: &random),
                    age: .milliseconds(age)
                )
            else { continue }
            plans += 1
            let plan = schedule.plan(limit: 500)
            #expect(plan.steps.allSatisfy { $0.at.milliseconds <= age }, "seed \(seed)")
            #expect(plan.steps.count == 500 || plan.end == .ageLimit)
            #expect(Set(plan.steps.map(\.delay)).isSubset(of: schedule.distinctDelays()))
        }
    }

    @Test("a floor picks the next longer level that exists")
    func floors() throws {
        let schedule = try Self.schedule(.seconds(10), .seconds(600), 5, age: .seconds(10_800))
        let ladder = DelayLadder(schedules: [schedule])
        let zero = UnixTime(milliseconds: 0)
        func level(_ floor: Duration?) -> String? {
            guard
                case .retry(let level) = schedule.next(
                    attempts: 1,
                    now: zero,
                    start: zero,
                    floor: floor,
                    ladder: ladder
                )
            else { return nil }
            return level.name
        }
        #expect(level(nil) == "10s")
        #expect(level(.seconds(3)) == "10s")
        #expect(level(.seconds(60)) == "60s")
        #expect(level(.seconds(61)) == "80s")
        #expect(level(.seconds(3600)) == "3600s")
        #expect(level(.seconds(99_999)) == "3600s")
        let short = try Self.schedule(.seconds(10), .seconds(10), 0, age: .seconds(30))
        #expect(
            short.next(attempts: 1, now: zero, start: zero, floor: .seconds(60), ladder: ladder) == .stop(.ageLimit)
        )
    }

    @Test("a retry that could only come after the expiry is not made")
    func expiry() throws {
        let ladder = DelayLadder(schedules: [.standard])
        func next(_ expires: Int64) -> RetrySchedule.Next {
            RetrySchedule.standard.next(
                attempts: 1,
                now: UnixTime(seconds: 1000),
                start: UnixTime(seconds: 1000),
                expiresAt: UnixTime(seconds: expires),
                ladder: ladder
            )
        }
        #expect(next(1010) == .stop(.expired))
        #expect(next(1011) == .retry(DelayLevel(milliseconds: 10_000)))
        #expect(next(0) == .retry(DelayLevel(milliseconds: 10_000)))
    }

    @Test("a message that is put off untried spends no retry, but its time may run out")
    func postponed() throws {
        let schedule = try Self.schedule(.seconds(1), .seconds(9), 3, age: .seconds(60), retries: 0)
        let level = DelayLevel(milliseconds: 10_000)
        let postponed = { (now: Int64, expiry: Int64?) in
            schedule.postponed(
                to: level,
                now: UnixTime(seconds: now),
                start: UnixTime(seconds: 0),
                expiresAt: expiry.map { UnixTime(seconds: $0) }
            )
        }
        #expect(postponed(50, nil) == .retry(level))
        #expect(postponed(51, nil) == .stop(.ageLimit))
        #expect(postponed(20, 30) == .stop(.expired))
        #expect(postponed(20, 31) == .retry(level))
        #expect(postponed(20, 0) == .retry(level))
    }

    @Test("absurd clocks do not trap")
    func absurd() {
        let ladder = DelayLadder(schedules: [.standard])
        let times = [Int64.min, -1, 0, 1, .max].map(UnixTime.init(milliseconds:))
        for now in times {
            for start in times {
                for attempts in [Int.min, 0, 1, .max] {
                    _ = RetrySchedule.standard.next(attempts: attempts, now: now, start: start, ladder: ladder)
                }
            }
        }
        // A start in the future counts from now.
        let next = RetrySchedule.standard.next(
            attempts: 1,
            now: UnixTime(seconds: 0),
            start: UnixTime(seconds: 999_999),
            ladder: ladder
        )
        #expect(next == .retry(DelayLevel(milliseconds: 10_000)))
    }

    struct Fault: Sendable {
        let min: Duration, max: Duration, doublings: Int, age: Duration, retries: Int?, setting: String

        init(
            _ setting: String,
            min: Duration = .seconds(1),
            max: Duration = .seconds(9),
            doublings: Int = 3,
            age: Duration = .seconds(60),
            retries: Int? = nil
        ) {
            (self.min, self.max, self.doublings, self.age, self.retries, self.setting) = (
                min, max, doublings, age, retries, setting
            )
        }
    }

    @Test(
        "names the setting that is wrong",
        arguments: [
            Fault("min_backoff", min: .zero), Fault("min_backoff", min: .seconds(-1)),
            Fault("min_backoff", min: .seconds(10)),
            Fault("min_backoff", min: .microseconds(1500)), Fault("max_backoff", max: .seconds(604_801)),
            Fault("max_backoff", max: .seconds(Int64.max)), Fault("max_backoff", max: .zero),
            Fault("age_limit", age: .zero),
            Fault("age_limit", age: .seconds(604_801)), Fault("max_doublings", doublings: -1),
            Fault("retry_limit", retries: -1),
            Fault("max_doublings", max: .seconds(66), doublings: 0, age: .seconds(604_800)),
        ]
    )
    func faults(fault: Fault) throws {
        let error = #expect(throws: SettingFault.self) {
            try Self.schedule(fault.min, fault.max, fault.doublings, age: fault.age, retries: fault.retries)
        }
        #expect(error?.setting == fault.setting)
        #expect(error?.detail.hasPrefix(fault.setting) == true)
    }

    @Test("64 different delays are allowed, and delays that no limit lets happen do not count")
    func distinct() throws {
        #expect(try Self.schedule(.seconds(1), .seconds(64), 0).distinctDelays().count == 64)
        #expect(try Self.schedule(.seconds(1), .seconds(3600), 0, retries: 10).distinctDelays().count == 10)
        #expect(try Self.schedule(.seconds(1), .seconds(3600), 0, age: .seconds(5)).distinctDelays().count == 5)
    }
}

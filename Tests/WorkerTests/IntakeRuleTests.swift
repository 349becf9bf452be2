import Push
import TestRandom
import Testing

@testable import Worker

@Suite struct IntakeRuleTests {
    @Test func `No connection, no prefetch; and never more than a quorum queue can use`() {
        var plan = PrefetchPlan()
        #expect(plan.update(share: nil) == nil)
        #expect(plan.update(share: 750) == 750)
        #expect(plan.update(share: 750) == nil)
        #expect(plan.update(share: 900) == nil, "a new consumer for so little is not worth it")
        #expect(plan.update(share: 1500) == 1500)
        #expect(plan.update(share: 3000) == 2000)
        #expect(plan.update(share: nil) == 0)
        #expect(plan.update(share: 1) == 8)
    }

    @Test func `With a rate it is what that gives in two seconds`() {
        var plan = PrefetchPlan(rate: 100)
        #expect(plan.update(share: 750) == 200)
        #expect(plan.update(share: 2000) == nil)
        for _ in 0..<1000 { _ = plan.received(tokens: 100, held: 1) }
        #expect(plan.update(share: 2000) == 2)
        #expect(plan.update(share: nil) == 0)
        var slow = PrefetchPlan(rate: 1)
        #expect(slow.update(share: 750) == 2)
    }

    @Test func `Messages with many tokens make the prefetch smaller`() {
        var plan = PrefetchPlan()
        #expect(plan.update(share: 750) == 750)
        for _ in 0..<1000 { _ = plan.received(tokens: 100, held: 1) }
        #expect(plan.update(share: 750) == 8)
        for _ in 0..<1000 { _ = plan.received(tokens: 1, held: 1) }
        #expect((700...750).contains(plan.update(share: 750) ?? 0))
    }

    @Test func `A consumer that is full wishes for more at once, and gives it up only after a while`() {
        var plan = PrefetchPlan()
        let wish = { plan.wish(at: MonotonicTime(nanoseconds: $0 * 1_000_000_000)) }
        #expect(wish(0) == 0, "it has nothing yet, so it is not known to need more")
        #expect(plan.update(share: 10) == 10)
        #expect(plan.received(tokens: 1, held: 5) == false)
        #expect(wish(0) == 5)
        #expect(plan.received(tokens: 1, held: 9) == true)
        #expect(wish(1) == 40)
        #expect(plan.update(share: 40) == 40)
        #expect(wish(2) == 40)
        #expect(plan.received(tokens: 1, held: 38) == true)
        #expect(wish(3) == 160)
        #expect(plan.update(share: 160) == 160)
        #expect(wish(59) == 160)
        #expect(wish(90) == 0)
    }

    @Test func `One busy app among many gets nearly all, busy ones share by weight`() {
        func shares(_ demands: [Int], weights: [Int]? = nil) -> [Int] {
            let weights = weights ?? demands.map { _ in 1 }
            return PrefetchShares.divide(
                capacity: 750,
                among: zip(weights, demands).map { PrefetchShares.Claim(weight: $0, demand: $1) }
            )
        }
        #expect(shares([0, 0]) == [750, 750], "an app alone need not find out what it needs")
        #expect(shares([3000, 3000]) == [750, 750])
        #expect(shares([3000, 0, 0, 0]) == [1500 - 3 * 93, 93, 93, 93])
        #expect(shares([3000, 3000, 0, 0]) == [657, 657, 93, 93])
        #expect(shares([3000, 3000, 0, 0], weights: [2, 1, 2, 1]) == [876, 438, 93, 93])
        let crowd = shares([3000] + Array(repeating: 0, count: 199))
        #expect(crowd[0] == 1500 - 199)
        #expect(crowd[1] == 1)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `No more is divided than there is, nobody gets more than it asks for, and nothing is left while one wants`(
        seed: UInt64
    ) {
        var random = SeededRandom(spreading: seed)
        let claims = (0..<Int.random(in: 1...30, using: &random)).map { _ in
            PrefetchShares.Claim(
                weight: Int.random(in: 1...10, using: &random),
                demand: Int.random(in: 0...500, using: &random)
            )
        }
        let total = Int.random(in: 0...5000, using: &random)
        let shares = PrefetchShares.divide(total, among: claims)
        let given = shares.reduce(0, +)
        #expect(given <= total)
        #expect(zip(shares, claims).allSatisfy { $0 <= $1.demand })
        let wanted = claims.reduce(0) { $0 + $1.demand }
        #expect(given >= min(total, wanted) - claims.count)
        // Who has less than it asked for has no less for its weight than anybody else.
        let short = zip(shares, claims).filter { $0 < $1.demand }.map { Double($0 + 1) / Double($1.weight) }
        let most = zip(shares, claims).map { Double($0 - 1) / Double($1.weight) }.max() ?? 0
        if let least = short.min() { #expect(least >= most - 1) }
    }

    @Test func `Another credential ends a pause with a probe, and forgets how long pauses had become`() {
        var pause = Pause()
        let at = { MonotonicTime(nanoseconds: $0 * 1_000_000_000) }
        #expect(pause.begin(.credential, at: at(0)) == true)
        #expect(pause.isDue(at: at(15)) == true)
        #expect(pause.begin(.credential, at: at(15)) == true)
        pause.credentialChanged(at: at(16))
        #expect(pause.isDue(at: at(16)) == true)
        #expect(pause.begin(.credential, at: at(17)) == true)
        #expect(pause.state == .paused(until: at(32)))
        var flowing = Pause()
        flowing.credentialChanged(at: at(0))
        #expect(flowing.isFlowing)
    }

    @Test func `Demand rises at once and falls only after half a minute`() {
        var demand = Demand()
        let note = { demand.noted($0, at: MonotonicTime(nanoseconds: $1 * 1_000_000_000)) }
        #expect(note(1, 0) == 1)
        #expect(note(4, 1) == 4)
        #expect(note(1, 29) == 4)
        #expect(note(1, 30) == 4)
        #expect(note(1, 59) == 4)
        #expect(note(1, 60) == 1)
        #expect(note(3, 61) == 3)
        #expect(note(1, 500) == 1)
    }

    @Test func `A flight's id survives the way through a request`() {
        let id = FlightID(slot: 0xff_ffff, generation: 0xfff_ffff)
        let context = id.context(token: 999)
        #expect(FlightID(context: context) == id)
        #expect(FlightID.token(context: context) == 999)
    }
}

import Push
import Testing

@testable import Worker

@Suite struct IntakeRuleTests {
    @Test func `No connection, no prefetch`() {
        var plan = PrefetchPlan(perConnection: 750)
        let update = { plan.update(connections: $0, consumers: 2) }
        #expect(update(0) == nil)
        #expect(update(1) == 750)
        #expect(update(1) == nil)
        #expect(update(2) == 1500)
        #expect(update(4) == 2000, "or one busy lane would never use a fourth connection")
        #expect(update(0) == 0)
    }

    @Test func `Many consumers share, and no consumer exceeds what a quorum queue can use`() {
        var alone = PrefetchPlan(perConnection: 750)
        #expect(alone.update(connections: 100, consumers: 2) == 2000)
        var crowded = PrefetchPlan(perConnection: 750)
        #expect(crowded.update(connections: 1, consumers: 200) == 8)
    }

    @Test func `With a rate it is what that gives in two seconds`() {
        var plan = PrefetchPlan(perConnection: 750, rate: 100)
        let update = { plan.update(connections: $0, consumers: 2) }
        #expect(update(1) == 200)
        #expect(update(4) == nil)
        for _ in 0..<1000 { plan.received(tokens: 100) }
        #expect(update(4) == 2)
        #expect(update(0) == 0)
        var slow = PrefetchPlan(perConnection: 750, rate: 1)
        #expect(slow.update(connections: 1, consumers: 2) == 2)
    }

    @Test func `Messages with many tokens make the prefetch smaller`() {
        var plan = PrefetchPlan(perConnection: 750)
        let update = { plan.update(connections: 1, consumers: 2) }
        #expect(update() == 750)
        for _ in 0..<1000 { plan.received(tokens: 100) }
        #expect(update() == 8)
        for _ in 0..<1000 { plan.received(tokens: 1) }
        #expect((700...750).contains(update() ?? 0))
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

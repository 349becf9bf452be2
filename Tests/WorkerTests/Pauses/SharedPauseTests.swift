import Push
import Store
import TestModels
import Testing

@testable import Worker

private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000)) }

@Suite struct SharedPauseTests {
    private static let origin = UnixTime(milliseconds: 1_700_000_000_000)

    /// What Redis might say, at a time in seconds.
    private static func entry(
        _ now: Double,
        since: Double = 0,
        until: Double = 15,
        prober: String? = nil,
        isPaused: Bool = true,
        kind: AppPause.Kind = .fault
    ) -> AppPause {
        func ms(_ seconds: Double) -> Int64 { Self.origin.milliseconds + Int64(seconds * 1000) }
        let cause = kind == .hand ? "hand" : "suspects"
        let probe = prober == nil ? 0 : ms(now + 6)
        let value =
            "\(isPaused ? 1 : 0) \(cause) \(ms(since)) \(until == 0 ? 0 : ms(until)) 1 \(prober ?? "-") \(probe) 0 h:1\twhy"
        return AppPause(field: "\(kind):shop", value: value, time: UnixTime(milliseconds: ms(now)))!
    }

    private static func since(_ seconds: Double = 0) -> UnixTime { self.origin + .milliseconds(Int64(seconds * 1000)) }

    @discardableResult
    private func heard(
        _ rule: Box<SharedPause>,
        _ pause: AppPause?,
        answering order: PausedApps.Order? = nil,
        asked: Double? = nil,
        at now: Double
    ) -> SharedPause.Change {
        rule.value.heard(pause, answering: order, asked: at(asked ?? now), as: "me", at: at(now))
    }

    @Test func `A pause is told until Redis knows, and only who may probe does`() {
        let rule = Box(SharedPause())
        #expect(rule.order(canProbe: true, at: at(0)) == nil)
        #expect(rule.begin(.suspects, at: at(0)))
        let told = PausedApps.Order.pause(cause: "suspects", wait: .seconds(14), pauses: 1, since: nil)
        #expect(rule.order(canProbe: true, at: at(1)) == told)
        #expect(self.heard(rule, nil, at: 1) == .none, "the question was sent before")
        #expect(self.heard(rule, Self.entry(1), answering: told, at: 1) == .none)
        #expect(rule.value.standing == .shared(since: Self.since()) && !rule.value.hasNews)
        #expect(rule.order(canProbe: true, at: at(14.9)) == nil)
        #expect(rule.order(canProbe: false, at: at(15)) == nil)
        let probe = PausedApps.Order.probe(since: Self.since())
        #expect(rule.order(canProbe: true, at: at(15)) == probe)
        #expect(self.heard(rule, Self.entry(15, prober: "other"), answering: probe, at: 15) == .none)
        #expect(rule.value.admission == .giveBack)
        #expect(rule.order(canProbe: true, at: at(20.9)) == nil, "the other one's turn lasts until then")
        #expect(rule.order(canProbe: true, at: at(21)) == probe)
        #expect(
            self.heard(rule, Self.entry(21, prober: "me"), answering: probe, asked: 15, at: 21) == .none,
            "too late"
        )
        #expect(self.heard(rule, Self.entry(21, prober: "me"), answering: probe, at: 21) == .probing)
        #expect(rule.value.admission == .go)
        rule.value.sent(7, at: at(22))
        #expect(rule.value.admission == .hold)
        #expect(rule.order(canProbe: true, at: at(23)) == probe, "its turn goes on")
        #expect(rule.heard(.suspect, of: 7, at: at(24)) == .paused)
        let fail = PausedApps.Order.fail(
            since: Self.since(),
            cause: "suspects",
            first: .seconds(15),
            longest: .seconds(300)
        )
        #expect(rule.order(canProbe: true, at: at(24)) == fail && rule.value.hasNews)
        #expect(self.heard(rule, Self.entry(24, prober: "me"), at: 24) == .none, "Redis has not heard of it yet")
        #expect(rule.order(canProbe: true, at: at(24)) == fail)
        #expect(self.heard(rule, Self.entry(24, until: 54), answering: fail, at: 24) == .none)
        #expect(rule.order(canProbe: true, at: at(53)) == nil)
        #expect(self.heard(rule, Self.entry(54, until: 54, prober: "me"), answering: probe, at: 54) == .probing)
        rule.value.sent(8, at: at(54))
        #expect(rule.heard(.accepted, of: 8, at: at(55)) == .resumed)
        let resume = PausedApps.Order.resume(since: Self.since())
        #expect(rule.order(canProbe: true, at: at(55)) == resume)
        #expect(self.heard(rule, Self.entry(55, until: 54, prober: "me"), at: 55) == .none, "not heard of it yet")
        #expect(self.heard(rule, Self.entry(55, isPaused: false), answering: resume, at: 55) == .none)
        #expect(rule.value.standing == .none && rule.value.isFlowing)
    }

    @Test func `What another worker says stops and resumes this one`() {
        let rule = Box(SharedPause())
        #expect(self.heard(rule, Self.entry(3), at: 3) == .stopped)
        #expect(rule.value.admission == .giveBack && rule.value.cause == .suspects)
        #expect(self.heard(rule, Self.entry(5), at: 5) == .none)
        #expect(self.heard(rule, Self.entry(7, isPaused: false), at: 7) == .resumed)
        #expect(rule.value.isFlowing)
        #expect(self.heard(rule, Self.entry(9, isPaused: false), at: 9) == .none)
        // A new one, while this worker tells of its own: whose came first decides.
        #expect(rule.begin(.credential, at: at(10)))
        #expect(self.heard(rule, Self.entry(11, since: 9, until: 24), at: 11) == .none)
        #expect(rule.value.standing == .shared(since: Self.since(9)) && rule.value.cause == .suspects)
    }

    @Test func `Missing is not resumed: who knows of the pause tells of it again, as the same`() {
        let rule = Box(SharedPause())
        self.heard(rule, Self.entry(3), at: 3)
        #expect(self.heard(rule, nil, at: 5) == .none)
        let told = PausedApps.Order.pause(cause: "suspects", wait: .seconds(10), pauses: 1, since: Self.since())
        #expect(rule.order(canProbe: true, at: at(5)) == told)
        #expect(self.heard(rule, Self.entry(5, isPaused: false), answering: told, at: 5) == .resumed, "it was over")
    }

    @Test func `Without an answer it probes by its own time, and who has nothing to probe with leaves it to others`() {
        let rule = Box(SharedPause())
        _ = rule.begin(.suspects, at: at(0))
        #expect(!rule.unanswered(canProbe: true, at: at(14)))
        #expect(!rule.unanswered(canProbe: false, at: at(15)))
        #expect(rule.unanswered(canProbe: true, at: at(15)))
        #expect(rule.value.admission == .go)
        self.heard(rule, Self.entry(16), at: 16)
        let probe = PausedApps.Order.probe(since: Self.since())
        #expect(self.heard(rule, Self.entry(17, prober: "me"), answering: probe, at: 17) == .probing)
        #expect(rule.order(canProbe: false, at: at(18)) == .yield(since: Self.since()))
        #expect(rule.value.admission == .giveBack)
        #expect(rule.order(canProbe: false, at: at(19)) == nil)
    }

    @Test func `Another credential has the pause probed at once, and says so once`() {
        let rule = Box(SharedPause())
        self.heard(rule, Self.entry(3), at: 3)
        rule.value.credentialChanged(at: at(4))
        let due = PausedApps.Order.due(since: Self.since())
        #expect(rule.order(canProbe: false, at: at(4)) == due)
        #expect(self.heard(rule, Self.entry(4, until: 4), answering: due, at: 4) == .none)
        #expect(rule.order(canProbe: true, at: at(4)) == .probe(since: Self.since()))
    }

    @Test func `A pause by hand ends by order or at its time, and outlives Redis' data`() {
        let hand = Box(HandPause())
        var hold = Self.entry(1, since: 1, until: 60, kind: .hand)
        #expect(hand.heard(hold, at: at(1)) == .stopped)
        #expect(hand.heard(hold, at: at(1)) == .none)
        #expect(hand.value.order(at: at(2)) == nil)
        #expect(hand.heard(nil, at: at(10)) == .none)
        #expect(hand.value.isPaused)
        let order = hand.value.order(at: at(10))
        #expect(order?.order == .hold(for: .seconds(50), reason: "why", since: Self.since(1)) && order?.name == "h:1")
        #expect(!hand.isOver(at: at(59)))
        #expect(hand.isOver(at: at(60)) && !hand.value.isPaused)
        hold = Self.entry(70, since: 70, until: 0, kind: .hand)
        #expect(hand.heard(hold, at: at(70)) == .stopped)
        #expect(!hand.isOver(at: at(1_000_000)))
        #expect(hand.heard(Self.entry(80, since: 70, until: 0, isPaused: false, kind: .hand), at: at(80)) == .resumed)
    }
}

@Suite struct PausedFleetTests {
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `One worker's pause is all workers', one probes at a time, and the waits are those of one`(seed: UInt64) {
        let fleet = PausedFleet(seed: seed, workers: 8)
        fleet.run(until: 10_000)
        fleet.isAppleWell = false
        #expect(fleet.run(until: 15_000) { fleet.isOneStopped })
        let first = fleet.now
        #expect(fleet.run(until: first + 2200) { fleet.areAllStopped }, "within a heartbeat")
        fleet.run(until: first + 600_000)
        // Waits of 15, 30, 60, 120, 240 s and probes of up to 9 s.
        #expect((4...6).contains(fleet.probes), "\(fleet.probes) probes in 10 min")
        #expect(fleet.areAllStopped)
        fleet.isAppleWell = true
        // The longest wait, one probe, and a heartbeat.
        #expect(fleet.run(until: fleet.now + 300_000 + 2000 + 9000 + 2200) { !fleet.isOneStopped })
        #expect(fleet.mostProbers == 1 && fleet.fallbacks == 0)
    }

    @Test(arguments: 1...120 as ClosedRange<UInt64>)
    func `Whatever goes wrong, at most one probes while Redis is there, and all flow once Apple is well`(seed: UInt64) {
        let faults = PausedFleet.Faults(
            lost: seed % 3 == 0 ? 0 : 50,
            kills: seed % 2 == 0,
            redis: seed % 5 == 0,
            connections: seed % 4 == 0
        )
        let fleet = PausedFleet(seed: seed, workers: Int(seed % 6) + 1, faults: faults)
        fleet.wander(1_200_000)
        #expect(fleet.probes > 0, "the walk goes there")
        if fleet.fallbacks == 0, !faults.redis { #expect(fleet.mostProbers <= 1) }
        fleet.isRedisThere = true
        fleet.isAppleWell = true
        fleet.byHand(.release)
        // Twice the longest wait: a probe may be lost with its worker.
        let flows = fleet.run(until: fleet.now + 700_000) { !fleet.isOneStopped }
        #expect(flows, "\(fleet.living.filter(\.isStopped).map(\.pause))")
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A prober that dies is replaced within its lease and a heartbeat`(seed: UInt64) throws {
        let fleet = PausedFleet(seed: seed, workers: 4)
        fleet.isAppleWell = false
        #expect(fleet.run(until: 60_000) { fleet.prober != nil })
        let prober = try #require(fleet.prober)
        let probes = fleet.probes
        prober.isAlive = false
        #expect(fleet.run(until: fleet.now + 6000 + 2200) { fleet.probes > probes })
    }

    @Test func `No probe ends a pause by hand, and no probe goes meanwhile`() {
        let fleet = PausedFleet(seed: 1, workers: 4)
        fleet.isAppleWell = false
        fleet.run(until: 10_000)
        fleet.byHand(.hold(for: nil, reason: "", since: nil))
        fleet.run(until: 13_000)
        fleet.isAppleWell = true
        let probes = fleet.probes
        fleet.run(until: 600_000)
        #expect(fleet.probes == probes && fleet.areAllPausedByHand)
        fleet.model.flush()
        fleet.run(until: fleet.now + 5000)
        #expect(fleet.model.read()["hand:shop"]?.isStanding == true, "workers have told of it again")
        fleet.byHand(.release)
        #expect(fleet.run(until: fleet.now + 15_000) { !fleet.isOneStopped })
    }
}

import Push
import Testing

@testable import HTTP2

@Suite struct LivenessTests {
    private static func time(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    private static func make() -> Liveness {
        Liveness(interval: .seconds(45), timeout: .seconds(10), at: Self.time(0))
    }

    @Test func `Silence is asked about, and given up on when it goes on`() {
        var liveness = Self.make()
        #expect(liveness.due == Self.time(45))
        let steps = [(44, Liveness.Action.wait), (45, .ping), (54, .wait), (55, .giveUp)]
        for (second, expected) in steps {
            let action = liveness.check(at: Self.time(Int64(second)))
            #expect(action == expected, "at \(second) s")
        }
    }

    @Test func `Anything that arrives after a PING answers it`() {
        var liveness = Self.make()
        _ = liveness.check(at: Self.time(45))
        liveness.bytesArrived(at: Self.time(50))
        let action = liveness.check(at: Self.time(55))
        #expect(action == .wait)
        #expect(liveness.due == Self.time(95))
    }

    @Test func `What arrived in the turn of the PING does not answer it`() {
        var liveness = Self.make()
        _ = liveness.check(at: Self.time(45))
        liveness.bytesArrived(at: Self.time(45))
        let action = liveness.check(at: Self.time(55))
        #expect(action == .giveUp)
    }

    @Test func `A request that timed out is asked about once, unless something arrived since it began`() {
        var liveness = Self.make()
        liveness.bytesArrived(at: Self.time(5))
        let afterSigns = liveness.requestTimedOut(startedAt: Self.time(4), at: Self.time(24))
        let inSilence = liveness.requestTimedOut(startedAt: Self.time(6), at: Self.time(26))
        let again = liveness.requestTimedOut(startedAt: Self.time(6), at: Self.time(26))
        #expect([afterSigns, inSilence, again] == [.wait, .ping, .wait])
        #expect(liveness.due == Self.time(36))
    }
}

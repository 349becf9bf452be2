import Push
import TestRandom
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

    @Test(arguments: 0..<500 as Range<UInt64>)
    func `Whatever arrives and whenever it stops, silence ends within interval and timeout`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let interval = Int64.random(in: 1...60, using: &random)
        let timeout = Int64.random(in: 1...60, using: &random)
        var liveness = Liveness(interval: .seconds(interval), timeout: .seconds(timeout), at: Self.time(0))
        let silentFrom = Int64.random(in: 0...300, using: &random)
        var last: Int64 = 0
        var pinged: Int64?
        for second in 0...1000 as ClosedRange<Int64> {
            let now = Self.time(second)
            if second < silentFrom, Int.random(in: 0..<4, using: &random) == 0 {
                last = second
                liveness.bytesArrived(at: now)
            }
            if Int.random(in: 0..<20, using: &random) == 0 {
                let start = Self.time(max(0, second - 20))
                if liveness.requestTimedOut(startedAt: start, at: now) == .ping { pinged = second }
            }
            // As the client's deadline does: whenever it is due.
            guard liveness.due <= now else { continue }
            switch liveness.check(at: now) {
            case .wait: Issue.record("due, but nothing to do")
            case .ping: pinged = second
            case .giveUp:
                // Never sooner than a timeout after a PING to which nothing came, never later than promised.
                #expect(pinged.map { $0 + timeout <= second && last <= $0 } == true)
                #expect(second <= last + interval + timeout)
                return
            }
        }
        Issue.record("never given up")
    }

    @Test func `A PING that was answered does not delay the next`() {
        var liveness = Liveness(interval: .seconds(1), timeout: .seconds(10), at: Self.time(0))
        let first = liveness.check(at: Self.time(1))
        let isAnswer = liveness.bytesArrived(at: Self.time(2))
        #expect(first == .ping && isAnswer)
        #expect(liveness.due == Self.time(3))
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

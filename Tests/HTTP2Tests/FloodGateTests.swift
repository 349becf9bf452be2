import Push
import Testing

@testable import HTTP2

@Suite struct FloodGateTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// How many frames are taken in a row.
    private static func taken(_ gate: inout FloodGate, at time: MonotonicTime) -> Int {
        var count = 0
        while count < 100_000, gate.frameArrived(at: time) { count += 1 }
        return count
    }

    @Test func `A burst is taken, then so many a second`() {
        var gate = FloodGate(at: Self.time(0))
        #expect(Self.taken(&gate, at: Self.time(999)) == FloodGate.burst)
        #expect(Self.taken(&gate, at: Self.time(999)) == 0)
        var steady = FloodGate(at: Self.time(0))
        for second in 0..<200 {
            for _ in 0..<FloodGate.perSecond {
                let isTaken = steady.frameArrived(at: Self.time(Int64(second) * 1000 + 1000))
                #expect(isTaken)
            }
        }
    }

    @Test func `Messages pay for their frames and bytes for ever`() {
        var gate = FloodGate(at: Self.time(0))
        for _ in 0..<50_000 {
            var isTaken = gate.bytesArrived(900, at: Self.time(0))
            for _ in 0..<8 { isTaken = gate.frameArrived(at: Self.time(0)) && isTaken }
            guard isTaken else {
                Issue.record("a busy peer was cut off")
                return
            }
            gate.earn(FloodGate.perMessage)
        }
    }

    @Test func `Small bytes add up, and large bodies pay for themselves`() {
        var gate = FloodGate(at: Self.time(0))
        var count = 0
        while count < 100 << 20, gate.bytesArrived(100, at: Self.time(0)) { count += 100 }
        #expect(abs(count - FloodGate.burst * 1024) < 2048)
        var honest = FloodGate(at: Self.time(0))
        for _ in 0..<10_000 {
            let isTaken = honest.frameArrived(at: Self.time(0))
            let isPaid = honest.bytesArrived(16_384 + 9, at: Self.time(0))
            #expect(isTaken && isPaid)
            honest.bodyArrived(16_384)
            honest.earn(1)
        }
    }
}

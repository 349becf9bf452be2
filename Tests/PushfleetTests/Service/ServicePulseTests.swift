internal import Push
internal import Testing

@testable import pushfleet

@Suite struct ServicePulseTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `Readiness is told once, a status when it changes`() {
        var pulse = ServicePulse(watchdog: nil)
        let starting = ServiceHealth(isReady: false, status: "starts")
        #expect(pulse.beat(starting, at: Self.time(0)) == ["STATUS=starts"])
        #expect(pulse.beat(starting, at: Self.time(1)) == [])
        #expect(pulse.beat(ServiceHealth(status: "works"), at: Self.time(2)) == ["READY=1", "STATUS=works"])
        #expect(pulse.beat(starting, at: Self.time(3)) == ["STATUS=starts"])
        #expect(pulse.beat(ServiceHealth(status: "works"), at: Self.time(4)) == ["STATUS=works"])
    }

    @Test func `The watchdog is fed three times in its time, and never by a loop that hangs`() {
        var pulse = ServicePulse(watchdog: .seconds(30))
        let good = ServiceHealth()
        #expect(pulse.beat(good, at: Self.time(0)) == ["READY=1", "WATCHDOG=1"])
        #expect(pulse.beat(good, at: Self.time(9)) == [])
        #expect(pulse.beat(good, at: Self.time(10)) == ["WATCHDOG=1"])
        #expect(pulse.beat(ServiceHealth(isTurning: false), at: Self.time(60)) == [])
        #expect(pulse.beat(good, at: Self.time(61)) == ["WATCHDOG=1"])
    }

    @Test func `What stops does not become ready, but lives`() {
        var pulse = ServicePulse(watchdog: .seconds(3))
        #expect(pulse.beat(ServiceHealth(), isStopping: true, at: Self.time(0)) == ["WATCHDOG=1"])
    }

    @Test func `A status is one assignment, whatever is in it`() {
        var pulse = ServicePulse(watchdog: nil)
        let words = pulse.beat(ServiceHealth(isReady: false, status: "a\nREADY=1\r\nb"), at: Self.time(0))
        #expect(words == ["STATUS=a READY=1 b"])
        let long = ServiceHealth(isReady: false, status: String(repeating: "x", count: 5000))
        #expect(pulse.beat(long, at: Self.time(1))[0].count < 300)
    }
}

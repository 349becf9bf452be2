import Push
import Testing

@testable import Simulator

@Suite struct VirtualClockTests {
    private static func real(_ seconds: Int64) -> VirtualClock.Moment {
        VirtualClock.Moment(
            wall: UnixTime(seconds: 1_000_000 + seconds),
            monotonic: MonotonicTime(nanoseconds: seconds * 1_000_000_000)
        )
    }

    private static func monotonic(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func `Left alone it shows the time as it is`() {
        let clock = VirtualClock()
        #expect(clock.isReal)
        #expect(clock.moment(at: Self.real(5)) == Self.real(5))
        #expect(clock.realTime(of: Self.monotonic(7)) == Self.monotonic(7))
    }

    @Test func `Both hands move forward, and what is due later is due sooner`() {
        var clock = VirtualClock()
        clock.advance(by: .seconds(3600), at: Self.real(10))
        #expect(clock.moment(at: Self.real(10)) == Self.real(3610))
        #expect(clock.moment(at: Self.real(15)) == Self.real(3615))
        #expect(clock.realTime(of: Self.monotonic(3620)) == Self.monotonic(20))
        #expect(clock.realTime(of: Self.monotonic(3600)) <= Self.monotonic(10))
    }

    @Test func `It runs fast, stands still, and runs on`() {
        var clock = VirtualClock()
        clock.run(at: 100, from: Self.real(10))
        #expect(clock.moment(at: Self.real(12)) == Self.real(210))
        #expect(clock.realTime(of: Self.monotonic(310)) == Self.monotonic(13))
        clock.run(at: 0, from: Self.real(12))
        #expect(clock.moment(at: Self.real(100)) == Self.real(210))
        #expect(clock.realTime(of: Self.monotonic(211)) == .distantFuture)
        clock.advance(by: .seconds(5), at: Self.real(100))
        #expect(clock.moment(at: Self.real(200)) == Self.real(215))
        clock.run(at: 1, from: Self.real(200))
        #expect(clock.moment(at: Self.real(201)) == Self.real(216))
    }

    @Test func `The wall clock may be set back, the other hand never goes back`() {
        var clock = VirtualClock()
        clock.set(UnixTime(seconds: 5), at: Self.real(10))
        #expect(clock.moment(at: Self.real(11)).wall == UnixTime(seconds: 6))
        #expect(clock.moment(at: Self.real(11)).monotonic == Self.monotonic(11))
        clock.advance(by: .seconds(100), at: Self.real(11))
        clock.resume(at: Self.real(12))
        #expect(clock.moment(at: Self.real(12)).wall == Self.real(12).wall)
        #expect(clock.moment(at: Self.real(13)).monotonic == Self.monotonic(113))
    }

    @Test func `The wall clock may be left out of it`() {
        var clock = VirtualClock()
        clock.run(at: 100, wall: false, from: Self.real(10))
        #expect(clock.moment(at: Self.real(12)).monotonic == Self.monotonic(210))
        #expect(clock.moment(at: Self.real(12)).wall == Self.real(12).wall)
        clock.advance(by: .seconds(50), wall: false, at: Self.real(12))
        #expect(clock.moment(at: Self.real(12)).monotonic == Self.monotonic(260))
        #expect(clock.moment(at: Self.real(13)).wall == Self.real(13).wall)
    }
}

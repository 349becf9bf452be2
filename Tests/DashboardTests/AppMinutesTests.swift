import Push
import Store
import Testing

@testable import Dashboard

@Suite struct AppMinutesTests {
    private static let time = UnixTime(seconds: 1_767_225_605)

    private static func minutes(_ time: UnixTime = Self.time) -> AppMinutes {
        var minutes = AppMinutes()
        minutes.turn(to: time)
        return minutes
    }

    @Test func `a minute counts when workers have written its last counts`() {
        let early = Self.minutes(Self.time - .milliseconds(1))
        #expect(Self.minutes().end == Self.time.minute && early.end == Self.time.minute - 1)
    }

    @Test(arguments: [(20, 60), (1000, 2), (1200, 1), (5000, 1), (0, 60)])
    func `a step reads some two thousand hashes, and one minute at least`(lanes: Int, expected: Int) {
        let missing = Self.minutes().missing(lanes: lanes)
        #expect(missing == (1...Int64(expected)).map { Self.time.minute - $0 })
    }

    @Test func `each minute is read once, and forgotten after an hour`() {
        var minutes = Self.minutes()
        let newest = minutes.end - 1
        for minute in minutes.missing(lanes: 1) { minutes.add(minute, ["a": .init(delivered: 1)]) }
        #expect(minutes.missing(lanes: 1) == [])
        #expect(minutes.delivered("b") == Array(repeating: 0, count: 30), "it rested beside others")
        #expect(minutes.hour("a")?.delivered == 60 && minutes.hour("b")?.delivered == 0)
        minutes.turn(to: Self.time + .seconds(60))
        #expect(minutes.missing(lanes: 1) == [newest + 1])
        #expect(minutes.minute("a") == nil && minutes.hour("a") == nil)
        #expect(minutes.delivered("a") == Array(repeating: 1, count: 29) + [nil])
        minutes.turn(to: Self.time + .seconds(7200))
        #expect(minutes.missing(lanes: 1).count == 60 && minutes.delivered("a") == nil)
    }

    @Test func `an answer that comes too late is dropped`() {
        var minutes = Self.minutes()
        minutes.add(minutes.end, ["a": .init(delivered: 1)])
        minutes.add(minutes.end - 61, ["a": .init(delivered: 1)])
        #expect(minutes.missing(lanes: 1).count == 60)
    }
}

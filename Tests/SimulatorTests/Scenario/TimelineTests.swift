import Push
import Testing

@testable import Simulator

@Suite struct TimelineTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: (1_000_000 + milliseconds) * 1_000_000)
    }

    private static func step(at time: Duration, every: Duration? = nil, times: Int? = nil) -> Timeline.Step {
        let repetition = every.map { Timeline.Repetition(every: $0, times: times) }
        return Timeline.Step(trigger: .time(time), orders: [.drop], repetition: repetition)
    }

    private static func step(after counter: Timeline.Counter, _ count: Int) -> Timeline.Step {
        Timeline.Step(trigger: .count(counter, count), orders: [.drop])
    }

    /// Asks again and again, whenever it wants to be asked, for so long.
    private static func play(_ timeline: inout Timeline, for length: Int64) -> [(Int64, Int)] {
        var calls: [(Int64, Int)] = []
        while let next = timeline.next, next <= Self.time(length) {
            let now = (next - Self.time(0)).milliseconds
            calls += timeline.proceed(at: next, seen: Timeline.Seen()).map { (now, $0) }
        }
        return calls
    }

    @Test func `Steps come at their time, and of one time in the order in which they are written`() {
        var timeline = Timeline(steps: [
            Self.step(at: .seconds(2)), Self.step(at: .seconds(1)), Self.step(at: .seconds(2)),
        ])
        timeline.start(at: Self.time(0))
        let calls = Self.play(&timeline, for: 10_000)
        #expect(calls.map(\.0) == [1000, 2000, 2000])
        #expect(calls.map(\.1) == [1, 0, 2])
        #expect(timeline.isOver)
    }

    @Test func `Nothing comes before its time, and what is late comes at once`() {
        var timeline = Timeline(steps: [Self.step(at: .seconds(1)), Self.step(at: .seconds(2))])
        timeline.start(at: Self.time(0))
        #expect(timeline.proceed(at: Self.time(999), seen: Timeline.Seen()).isEmpty)
        #expect(timeline.next == Self.time(1000))
        #expect(timeline.proceed(at: Self.time(5000), seen: Timeline.Seen()) == [0, 1])
    }

    @Test func `A step is repeated so often, or for ever`() {
        var timeline = Timeline(steps: [
            Self.step(at: .milliseconds(100), every: .milliseconds(50), times: 3),
            Self.step(at: .zero, every: .milliseconds(200)),
        ])
        timeline.start(at: Self.time(0))
        let calls = Self.play(&timeline, for: 1000)
        #expect(calls.filter { $0.1 == 0 }.map(\.0) == [100, 150, 200])
        #expect(calls.filter { $0.1 == 1 }.map(\.0) == [0, 200, 400, 600, 800, 1000])
        #expect(!timeline.isOver)
        #expect(timeline.done == [3, 6])
    }

    @Test func `A step that waits for a count comes once`() {
        var timeline = Timeline(steps: [Self.step(after: .requests, 3), Self.step(after: .accepted, 1)])
        timeline.start(at: Self.time(0))
        #expect(timeline.isCounting && timeline.next == nil)
        #expect(timeline.proceed(at: Self.time(1), seen: Timeline.Seen(requests: 2)).isEmpty)
        #expect(timeline.proceed(at: Self.time(2), seen: Timeline.Seen(requests: 3)) == [0])
        #expect(timeline.proceed(at: Self.time(3), seen: Timeline.Seen(requests: 4)).isEmpty)
        #expect(timeline.proceed(at: Self.time(4), seen: Timeline.Seen(requests: 4, accepted: 9)) == [1])
        #expect(timeline.isOver)
    }

    @Test func `A repeated step that waits for a count goes on by time`() {
        var step = Self.step(after: .connections, 1)
        step.repetition = Timeline.Repetition(every: .seconds(1), times: 2)
        var timeline = Timeline(steps: [step])
        timeline.start(at: Self.time(0))
        #expect(timeline.proceed(at: Self.time(500), seen: Timeline.Seen(connections: 1)) == [0])
        #expect(!timeline.isCounting)
        #expect(timeline.next == Self.time(1500))
        #expect(timeline.proceed(at: Self.time(1500), seen: Timeline.Seen(connections: 5)) == [0])
        #expect(timeline.isOver)
    }

    @Test(arguments: [
        (Timeline.Origin.firstConnection, Timeline.Seen(connections: 1)),
        (Timeline.Origin.firstRequest, Timeline.Seen(requests: 1, connections: 1)),
    ])
    func `Times are counted from the origin`(origin: Timeline.Origin, seen: Timeline.Seen) {
        var timeline = Timeline(steps: [Self.step(at: .seconds(1))], origin: origin)
        timeline.start(at: Self.time(0))
        #expect(timeline.isCounting && timeline.beganAt == nil)
        #expect(timeline.proceed(at: Self.time(60_000), seen: Timeline.Seen()).isEmpty)
        #expect(timeline.proceed(at: Self.time(70_000), seen: seen).isEmpty)
        #expect(timeline.beganAt == Self.time(70_000) && timeline.next == Self.time(71_000))
        #expect(timeline.proceed(at: Self.time(71_000), seen: seen) == [0])
    }

    @Test func `It starts over from the beginning`() {
        var timeline = Timeline(steps: [Self.step(at: .seconds(1)), Self.step(after: .requests, 1)])
        timeline.start(at: Self.time(0))
        _ = timeline.proceed(at: Self.time(1000), seen: Timeline.Seen(requests: 1))
        #expect(timeline.isOver)
        timeline.start(at: Self.time(5000))
        #expect(timeline.done == [0, 0] && timeline.next == Self.time(6000))
    }
}

package import Push

/// The time by which a simulator judges, which can be moved on, set and made to run faster or slower.
///
/// It has two hands, as a computer has: one that only goes forward, by which delays, windows and idle times are
/// measured, and the wall clock, which also can be set back, and by which provider tokens are judged.
package struct VirtualClock: Equatable, Sendable {
    /// A time on both hands.
    package struct Moment: Equatable, Sendable {
        package var wall: UnixTime
        package var monotonic: MonotonicTime

        package init(wall: UnixTime, monotonic: MonotonicTime) {
            self.wall = wall
            self.monotonic = monotonic
        }
    }

    /// Whether it shows the time as it is, at its usual speed.
    package private(set) var isReal = true
    /// Seconds of its own for each second; 0 stands still.
    package private(set) var scale = 1.0
    /// The same for the wall clock.
    package private(set) var wallScale = 1.0
    private var realOrigin = MonotonicTime(nanoseconds: 0)
    private var origin = Moment(wall: UnixTime(milliseconds: 0), monotonic: MonotonicTime(nanoseconds: 0))

    package init() {}

    /// What it shows at `real`.
    package func moment(at real: Moment) -> Moment {
        guard !self.isReal else { return real }
        let passed = Double((real.monotonic - self.realOrigin).nanoseconds)
        return Moment(
            wall: self.origin.wall + .nanoseconds(Int64(passed * self.wallScale)),
            monotonic: self.origin.monotonic + .nanoseconds(Int64(passed * self.scale))
        )
    }

    /// When it will show `time`, in real time; `distantFuture` when it stands still.
    package func realTime(of time: MonotonicTime) -> MonotonicTime {
        guard !self.isReal else { return time }
        guard self.scale > 0 else { return .distantFuture }
        let left = Double((time - self.origin.monotonic).nanoseconds) / self.scale
        // Rounded up: an alarm that comes too early would have to be set again.
        return left < 9e18 ? self.realOrigin + .nanoseconds(Int64(left.rounded(.up))) : .distantFuture
    }

    /// Moves it forward.
    /// - Parameter wall: whether the wall clock moves as well; if not, nobody's provider token grows old by it.
    package mutating func advance(by duration: Duration, wall: Bool = true, at real: Moment) {
        self.detach(at: real)
        if wall { self.origin.wall = self.origin.wall + duration }
        self.origin.monotonic = self.origin.monotonic + duration
    }

    /// Sets the wall clock; nothing else notices.
    package mutating func set(_ wall: UnixTime, at real: Moment) {
        self.detach(at: real)
        self.origin.wall = wall
    }

    /// From now on, `scale` seconds pass in each.
    /// - Parameter wall: whether they do on the wall clock as well; if not, it runs at its usual speed.
    package mutating func run(at scale: Double, wall: Bool = true, from real: Moment) {
        self.detach(at: real)
        self.scale = scale
        self.wallScale = wall ? scale : 1
    }

    /// The wall clock shows the time as it is again and runs at its usual speed; the other hand goes on from where it is.
    package mutating func resume(at real: Moment) {
        guard !self.isReal else { return }
        self.detach(at: real)
        self.scale = 1
        self.wallScale = 1
        self.origin.wall = real.wall
    }

    /// From now on it goes its own way, beginning with what it shows now.
    private mutating func detach(at real: Moment) {
        self.origin = self.moment(at: real)
        self.realOrigin = real.monotonic
        self.isReal = false
    }
}

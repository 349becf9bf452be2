/// All delay queues of the fleet: every delay of every app's schedule, and the rungs that hold `not_before`.
package struct DelayLadder: Equatable, Sendable {
    /// Enough to hold for any time in few hops, and for the small waits of a fleet.
    package static let holds: [Duration] = [.seconds(1), .seconds(10), .seconds(60), .seconds(600), .seconds(3600)]

    /// Shortest first, each once.
    package let levels: [DelayLevel]

    package init(schedules: some Sequence<RetrySchedule>) {
        var levels = Set(Self.holds.map { DelayLevel(milliseconds: $0.milliseconds) })
        for schedule in schedules { levels.formUnion(schedule.distinctDelays()) }
        self.levels = levels.sorted()
    }

    /// A queue and how long the message stays in it.
    package struct Wait: Equatable, Sendable {
        package let level: DelayLevel

        /// The message's own expiration, at most the level's TTL. Whole milliseconds.
        package let expiration: Duration

        package init(level: DelayLevel, expiration: Duration) {
            self.level = level
            self.expiration = expiration
        }
    }

    /// The shortest level that lasts at least `delay`, or the longest there is.
    package func level(atLeast delay: Duration) -> DelayLevel {
        self.levels.first { $0.duration >= delay } ?? self.levels[self.levels.count - 1]
    }

    /// The wait before a retry: in the level, an expiration between 0.8 and 1 of it.
    ///
    /// The head of a queue holds up what is behind it by a fifth of the level at most, and nothing ever waits longer
    /// than the level: the TTL ends the head's stay.
    ///
    /// - Parameter random: 64 random bits.
    package static func retry(_ level: DelayLevel, random: UInt64) -> Wait {
        let shortest = (level.milliseconds * 4 + 4) / 5
        let span = UInt64(level.milliseconds - shortest + 1)
        let share = Int64(span.multipliedFullWidth(by: random).high)
        return Wait(level: level, expiration: .milliseconds(shortest + share))
    }

    /// The next hop of a wait for a point in time: the longest level that does not overshoot it, in full; below the
    /// shortest level, that level with what remains.
    ///
    /// Durations of zero or less wait a millisecond. Nothing ends early but by the rounding to milliseconds.
    package func hold(remaining: Duration) -> Wait {
        if let level = self.levels.last(where: { $0.duration <= remaining }) {
            return Wait(level: level, expiration: level.duration)
        }
        let shortest = self.levels[0]
        return Wait(level: shortest, expiration: .milliseconds(max(1, remaining.milliseconds)))
    }
}

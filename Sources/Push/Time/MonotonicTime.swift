/// A point on a clock that never steps back and runs on while the machine is suspended.
///
/// Rules take it as an argument and never read a clock themselves; the loop supplies it once per turn. It is kept as
/// whole nanoseconds because a message's way compares it often.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since an origin that is the same for the whole process.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    package static func < (left: Self, right: Self) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Saturates at `distantFuture`.
    package static func + (time: Self, duration: Duration) -> Self {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    package static func - (time: Self, duration: Duration) -> Self {
        MonotonicTime(nanoseconds: time.nanoseconds - duration.nanoseconds)
    }

    package static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds, saturating at about 292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return scaled.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
    }

    /// Whole milliseconds, rounded toward zero.
    package var milliseconds: Int64 { self.nanoseconds / 1_000_000 }
}

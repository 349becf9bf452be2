/// A point of wall-clock time, as messages, Apple and operators know it.
///
/// Never used for leases or deadlines inside the process: a wall clock may step.
package struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01 UTC.
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package init(seconds: Int64) {
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : scaled
    }

    /// Whole seconds since 1970-01-01 UTC, rounded down.
    package var seconds: Int64 {
        let quotient = self.milliseconds / 1000
        return self.milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Saturates.
    package static func + (time: Self, duration: Duration) -> Self {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.milliseconds)
        return overflow ? UnixTime(milliseconds: .max) : UnixTime(milliseconds: sum)
    }

    /// Saturates.
    package static func - (time: Self, duration: Duration) -> Self {
        let (sum, overflow) = time.milliseconds.subtractingReportingOverflow(duration.milliseconds)
        return overflow ? UnixTime(milliseconds: .min) : UnixTime(milliseconds: sum)
    }

    package static func - (left: Self, right: Self) -> Duration {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        return .milliseconds(overflow ? (left < right ? Int64.min : Int64.max) : difference)
    }
}

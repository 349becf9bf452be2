/// How long to wait before the next try to connect to RabbitMQ, Redis or APNs.
///
/// Doubles from `initial` to `cap`; half of each wait is random, so that a fleet does not return all at once.
package struct ReconnectBackoff: Equatable, Sendable {
    package let initial: Duration
    package let cap: Duration

    /// Failed tries since the last success.
    package private(set) var failures = 0

    package init(initial: Duration = .milliseconds(250), cap: Duration = .seconds(30)) {
        precondition(initial > .zero && initial <= cap, "backoff starts above zero and below its cap")
        self.initial = initial
        self.cap = cap
    }

    /// The wait after one more failure: between a half and the whole of min(initial · 2^failures, cap).
    ///
    /// - Parameter random: 64 random bits.
    package mutating func next(random: UInt64) -> Duration {
        let cap = self.cap.nanoseconds
        let initial = self.initial.nanoseconds
        var whole = cap
        if self.failures < 62 {
            let (grown, overflow) = initial.multipliedReportingOverflow(by: 1 << Int64(self.failures))
            if !overflow { whole = min(grown, cap) }
            self.failures += 1
        }
        let half = UInt64(whole / 2)
        return .nanoseconds(whole - Int64((half + 1).multipliedFullWidth(by: random).high))
    }

    /// After a success.
    package mutating func reset() { self.failures = 0 }
}

internal import Glibc
internal import Push

/// How long something takes: drawn anew each time, from a range, in the simulator's time.
package struct Latency: Equatable, Sendable {
    /// How draws are spread over the range.
    package enum Shape: Equatable, Sendable {
        case even
        /// Most near the median and a long tail: log-normal, with 1 in 100 draws above `p99`. Draws beyond the bounds
        /// become the bounds.
        case tail(median: Duration, p99: Duration)
    }

    package var bounds: ClosedRange<Duration>
    package var shape: Shape

    package init(_ bounds: ClosedRange<Duration>, shape: Shape = .even) {
        self.bounds = bounds
        self.shape = shape
    }

    package static func fixed(_ duration: Duration) -> Latency { Latency(duration...duration) }

    /// Draws once from `random` when there is a choice, else not at all.
    func draw(from random: inout SeededRandom) -> Duration {
        let least = self.bounds.lowerBound
        let most = self.bounds.upperBound
        guard least < most else { return least }
        switch self.shape {
        case .even:
            let span = most.nanoseconds - least.nanoseconds
            return least + .nanoseconds(Int64(random.unit() * Double(span)))
        case .tail(let median, let p99):
            // The 99th percentile of the standard normal distribution lies at 2.3263.
            let middle = Double(max(1, median.nanoseconds))
            let sigma = max(0, log(Double(max(1, p99.nanoseconds)) / middle)) / 2.3263
            let drawn = middle * exp(sigma * random.normal())
            return min(most, max(least, .nanoseconds(Int64(min(drawn, 1e18)))))
        }
    }
}

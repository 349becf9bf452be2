package import Push

/// Spreads the opening of connections over time: `perSecond` new ones in a row, then one each time a slot is free.
///
/// Apple may take rapid connecting for an attack, so that many grants at once must not mean many dials at once.
package struct DialRamp: Sendable {
    private let interval: Duration
    private let burst: Int
    private var free: MonotonicTime?

    package init(perSecond: Int) {
        self.interval = .seconds(1) / perSecond
        self.burst = perSecond
    }

    /// The earliest time for the next dial; in the past when it may begin now.
    package func next(now: MonotonicTime) -> MonotonicTime {
        guard let free = self.free else { return now }
        return max(now, free - self.interval * (self.burst - 1))
    }

    /// A connection is being opened.
    package mutating func dialled(now: MonotonicTime) {
        self.free = max(self.free ?? now, now) + self.interval
    }
}

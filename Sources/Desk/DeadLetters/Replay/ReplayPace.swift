package import Push

/// How many may go now: a steady rate without bursts of more than a fifth of a second.
package struct ReplayPace: Sendable {
    /// Letters per second.
    package let rate: Int
    private var allowance = 0.0
    private var last: MonotonicTime?

    package init(rate: Int) {
        self.rate = max(1, rate)
    }

    package mutating func refill(at now: MonotonicTime) {
        let most = max(1, Double(self.rate) / 5)
        defer { self.last = now }
        guard let last else {
            self.allowance = 1
            return
        }
        let gained = Double((now - last).nanoseconds) / 1e9 * Double(self.rate)
        self.allowance = min(most, self.allowance + gained)
    }

    package mutating func take() -> Bool {
        guard self.allowance >= 1 else { return false }
        self.allowance -= 1
        return true
    }
}

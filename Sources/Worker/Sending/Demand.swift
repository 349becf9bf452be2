internal import Push

/// How many connections a worker could use: rises at once, falls only when it has been lower for a while.
///
/// Work comes in waves shorter than a connection is worth: Apple asks to keep connections, and takes quick opening and
/// closing for an attack.
struct Demand {
    private var windowEnd = MonotonicTime(nanoseconds: .min)
    private var highest = 0
    private var highestBefore = 0

    /// Takes down what could be used now, and returns what to ask for: the most of the last 30 to 60 seconds.
    mutating func noted(_ useful: Int, at now: MonotonicTime) -> Int {
        if now >= self.windowEnd {
            // A silence of more than a whole window leaves nothing of the one before.
            self.highestBefore = now - Self.window >= self.windowEnd ? 0 : self.highest
            self.highest = 0
            self.windowEnd = now + Self.window
        }
        self.highest = max(self.highest, useful)
        return max(self.highest, self.highestBefore)
    }

    private static let window: Duration = .seconds(30)
}

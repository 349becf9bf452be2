/// How long to wait before the next attempt to connect: doubling from 0.1 s to 5 s, each between half and all of it,
/// so that a fleet does not come back in step.
struct ReconnectBackoff {
    var first: Duration = .milliseconds(100)
    var last: Duration = .seconds(5)
    private var failures = 0

    /// - Parameters:
    ///   - slowly: the server refused us for a reason that time alone does not cure; never sooner than 1 s.
    ///   - random: evenly from 0 to 1.
    mutating func next(slowly: Bool, random: Double) -> Duration {
        let full = min(self.first * (1 << min(self.failures, 16)), self.last)
        self.failures += 1
        let wait = full * (0.5 + 0.5 * random)
        return slowly ? max(wait, .seconds(1)) : wait
    }

    mutating func succeeded() {
        self.failures = 0
    }
}

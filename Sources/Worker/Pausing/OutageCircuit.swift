internal import Push

/// Opens when a credential gets nothing but 5xx and silence, so that messages wait in RabbitMQ instead of spending
/// attempts on an Apple that is down; closes with the first answer that is not one of these.
struct OutageCircuit {
    private(set) var pause = Pause()
    private var failures = 0
    private var firstFailure = MonotonicTime(nanoseconds: 0)

    /// An answer other than 5xx.
    mutating func answered() {
        if self.failures != 0 { self.failures = 0 }
    }

    /// A 5xx, or no answer in time.
    /// - Returns: whether this opens the circuit.
    mutating func failed(at now: MonotonicTime) -> Bool {
        guard self.pause.isFlowing else { return false }
        if self.failures == 0 { self.firstFailure = now }
        self.failures += 1
        let length = now - self.firstFailure
        // One dead connection's requests time out in one moment, while others go on: only a run that lasts counts.
        guard
            (self.failures >= Self.many && length >= Self.moment)
                || (self.failures >= Self.few && length >= Self.lasting)
        else { return false }
        self.failures = 0
        return self.pause.begin(.outage, at: now)
    }

    /// See ``Pause/heard(_:of:at:)``.
    mutating func heard(_ evidence: Pause.Evidence, of context: UInt64, at now: MonotonicTime) -> Pause.Change {
        self.pause.heard(evidence, of: context, at: now)
    }

    mutating func isDue(at now: MonotonicTime) -> Bool { self.pause.isDue(at: now) }

    mutating func sent(_ context: UInt64, at now: MonotonicTime) { self.pause.sent(context, at: now) }

    private static let many = 50
    private static let moment: Duration = .milliseconds(250)
    private static let few = 10
    private static let lasting: Duration = .seconds(5)
}

internal import Push

/// How a service is, for whoever watches over it.
struct ServiceHealth: Sendable, Equatable {
    /// Whether its threads go round.
    var isTurning = true
    /// Whether it does its work, or rightly waits.
    var isReady = true
    /// One line for people.
    var status = ""
}

/// What to tell systemd, and when.
struct ServicePulse {
    /// Within what time it wants to hear that we live; nil if it does not ask.
    let watchdog: Duration?
    private var isReadyTold = false
    private var status = ""
    private var fed: MonotonicTime?

    init(watchdog: Duration?) {
        self.watchdog = watchdog
    }

    /// What is new.
    /// - Parameter isStopping: it has said so and does not become ready any more.
    /// - Returns: assignments. A service that does not turn says nothing, so that its watchdog bites.
    mutating func beat(_ health: ServiceHealth, isStopping: Bool = false, at now: MonotonicTime) -> [String] {
        var words: [String] = []
        if health.isReady, !self.isReadyTold, !isStopping {
            self.isReadyTold = true
            words.append("READY=1")
        }
        // A line of its own would be another assignment.
        let status = String(health.status.prefix(200).map { $0.isNewline ? " " : $0 })
        if status != self.status {
            self.status = status
            words.append("STATUS=\(status)")
        }
        if let watchdog, health.isTurning, self.fed.map({ now - $0 >= watchdog / 3 }) ?? true {
            self.fed = now
            words.append("WATCHDOG=1")
        }
        return words
    }
}

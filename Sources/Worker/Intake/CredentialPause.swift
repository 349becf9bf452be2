internal import Push

/// An app whose credential Apple refuses waits and then tries one message, at growing intervals, until one goes
/// through. No attempt is spent: the messages stay in RabbitMQ.
struct CredentialPause {
    enum State: Equatable {
        /// Everything flows.
        case sending
        /// Nothing is consumed until then.
        case paused(until: MonotonicTime)
        /// One message at a time finds out whether the credential is good again.
        case probing
    }

    private(set) var state = State.sending
    private var pauses = 0

    /// Apple refused the credential.
    /// - Returns: whether this begins a pause; answers that were on their way when it began change nothing.
    mutating func refused(at now: MonotonicTime) -> Bool {
        if case .paused = self.state { return false }
        let wait = min(Self.longest.nanoseconds, Self.first.nanoseconds << min(self.pauses, 10))
        self.pauses += 1
        self.state = .paused(until: now + .nanoseconds(wait))
        return true
    }

    /// Apple took a push.
    /// - Returns: whether this ends the probing.
    mutating func accepted() -> Bool {
        guard self.state == .probing else { return false }
        self.state = .sending
        self.pauses = 0
        return true
    }

    /// Another credential is in use: a pause is over, and the next one is short again.
    mutating func credentialChanged(at now: MonotonicTime) {
        self.pauses = 0
        if case .paused = self.state { self.state = .paused(until: now) }
    }

    /// Begins to probe once the pause is over.
    /// - Returns: whether it began now.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard case .paused(let until) = self.state, now >= until else { return false }
        self.state = .probing
        return true
    }

    private static let first: Duration = .seconds(15)
    private static let longest: Duration = .seconds(5 * 60)
}

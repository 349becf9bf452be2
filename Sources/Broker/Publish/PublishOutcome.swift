/// What became of a publish. Only `confirmed` means that the broker has the message safe.
package enum PublishOutcome: Equatable, Sendable {
    case confirmed
    /// The broker refused it, for instance because a queue with `reject-publish` is full.
    case nacked
    /// No queue takes it; 312 is no-route.
    case returned(code: UInt16, text: String)
    /// It was sent and no answer came: it may be in a queue, or not.
    case unknown(Reason)
    /// It was never sent.
    case notSent

    package enum Reason: Equatable, Sendable {
        /// No confirm within the time limit.
        case timeout
        /// The channel or the connection ended first.
        case lost(BrokerError)
    }
}

/// A publish that has been answered for; once for each token.
package struct PublishResult: Equatable, Sendable {
    /// What the publisher was given with the message.
    package let token: UInt64
    package let outcome: PublishOutcome

    package init(token: UInt64, outcome: PublishOutcome) {
        self.token = token
        self.outcome = outcome
    }
}

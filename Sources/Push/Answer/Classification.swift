/// What an answer, or the lack of one, means for the message.
package enum Outcome: Equatable, Sendable {
    case delivered
    /// Try again, not before `delayFloor` if there is one. With `counts` the try was an attempt.
    case retry(counts: Bool, possibleDuplicate: Bool, delayFloor: Duration?)
    case deadLetter(DeadLetterReason)
    /// The token is dead; `at` is when Apple last found it so. Its owner decides by the time of the last registration.
    case tokenGone(at: UnixTime?, ApnsReason)
    /// Token and environment or topic do not fit. Dead-letter as suspect; a run of these is a configuration fault.
    case suspectToken(ApnsReason?)
    /// Pause the credential and give the message back.
    case credentialFault(ApnsReason?)
}

/// An outcome, and what to do about connection and credential.
package struct Classification: Equatable, Sendable {
    package let outcome: Outcome

    package let connection: StatusReason.ConnectionFate

    /// Whether someone should be told.
    package let alert: Bool

    package let flags: StatusReason.Flags

    /// Mint a new provider token before the next request of this credential.
    package var refreshProviderToken: Bool { self.flags.contains(.refreshToken) }

    /// Accepted, on a connection that stays: nearly every answer.
    static let delivered = Self(outcome: .delivered, connection: .keep, alert: false, flags: [])

    /// Judges an answer by ``ReasonTable``.
    /// - Parameter api: what was asked; some reasons mean something else for a broadcast.
    package static func classify(_ reply: Reply, api: StatusReason.API = .device) -> Self {
        if reply.status == 200 { return Self.delivered }
        let row = ReasonTable.row(status: reply.status, reason: reply.reason, api: api)
        let outcome: Outcome =
            switch row.disposition {
            case .ok: .delivered
            case .payload: .deadLetter(row.flags.contains(.channelGone) ? .channelGone : .apnsRejected)
            case .token:
                if let reason = reply.reason {
                    .tokenGone(at: reply.timestamp, reason)
                } else {
                    .suspectToken(nil)
                }
            case .context: .suspectToken(reply.reason)
            // The app's broadcasts wait, its pushes to devices need not: they share a queue but not the fault.
            case .credential where api == .broadcast && row.flags.contains(.topicScoped):
                .retry(counts: false, possibleDuplicate: false, delayFloor: Self.broadcastPause)
            case .credential: .credentialFault(reply.reason)
            case .backoff:
                .retry(
                    counts: row.countsAttempt,
                    possibleDuplicate: false,
                    delayFloor: Self.longer(row.delayFloor, reply.retryAfter)
                )
            }
        return Self(outcome: outcome, connection: row.connection, alert: row.alert, flags: row.flags)
    }

    /// Judges a request that got no answer.
    package static func classify(_ failure: SendFailure) -> Self {
        let fate: StatusReason.ConnectionFate =
            switch failure.cause {
            case .streamRefused, .noConnection, .draining, .reset: .keep
            case .goAwayUnprocessed, .credentialReplaced, .connectionLost, .timeout, .protocolViolation: .retire
            }
        let outcome: Outcome =
            switch failure {
            case .notSent: .retry(counts: false, possibleDuplicate: false, delayFloor: nil)
            case .maybeSent: .retry(counts: true, possibleDuplicate: true, delayFloor: nil)
            }
        return Self(outcome: outcome, connection: fate, alert: false, flags: [])
    }

    /// Judges the reason in a GOAWAY's debug data, which may be the only place a credential fault shows; nil if it is
    /// none that concerns the credential.
    package static func classify(goAway reason: ApnsReason) -> Self? {
        guard let row = ReasonTable.row(named: reason.text), row.disposition == .credential else { return nil }
        return Self(outcome: .credentialFault(reason), connection: .retire, alert: row.alert, flags: row.flags)
    }

    /// How long a broadcast waits when its app may not broadcast at present.
    private static let broadcastPause: Duration = .seconds(60)

    private static func longer(_ left: Duration?, _ right: Duration?) -> Duration? {
        guard let left, let right else { return left ?? right }
        return max(left, right)
    }
}

/// How a token of a message ends its stay with a worker. Closed: every delivery ends in exactly one of these.
package enum Settlement: Equatable, Sendable {
    /// Apple said 200. Ack.
    case delivered
    /// Republish to this delay level, wait for the confirm, then ack.
    ///
    /// `counted` tells whether the try that failed was an attempt, so that the copy's attempt header grows.
    case retry(after: DelayLevel, counted: Bool)
    /// Republish to the dead-letter queue, confirm, then ack. Beside it APNs' own reason, if APNs gave one.
    case deadLetter(DeadLetterReason, apns: ApnsReason?)
    /// Tell the feedback exchange, confirm, then ack. `at` is when Apple last found the token invalid.
    case tokenGone(at: UnixTime?, ApnsReason)
    /// Not attempted: credential paused, draining, never left the machine. Costs no attempt.
    case giveBack
}

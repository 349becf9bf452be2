/// A mistake that is built in on purpose, to see that an invariant notices it.
package enum SeededBug: String, CaseIterable, Sendable {
    /// A message is acknowledged when its copy is published, not when the broker has confirmed it.
    case ackBeforeConfirm
    /// A message of a channel that is gone is settled on the channel that took its place.
    case settlesLostDelivery
    /// A grant is not reduced by what the others hold (R8).
    case grantIgnoresOthers
    /// A Redis that has lost its data grants at once (R1).
    case noQuarantine
    /// A Redis that has lost its data ends its quarantine when its clock jumps ahead.
    case jumpEndsQuarantine
    /// A worker goes by Redis' last answer, however old (W3).
    case leaseNeverEnds
    /// Who holds a connection keeps it, though others wait.
    case noTurns
    /// A push that fails and may go on at once is forgotten.
    case forgetsResend
    /// What Redis remembers of a message is taken for that of a copy with the same number of attempts and first token.
    case copiesShareMemory
    /// What waits is given back with tokens of it that were done in an earlier delivery.
    case givesBackDoneTokens
    /// A worker uses an app's tokens however long ago they were due.
    case tokensOutliveTheirTime
    /// A bucket that Redis has lost, or that an earlier process left, is full.
    case restartFillsBuckets
    /// A push that is tried again takes no token of its app's rate.
    case retriesTakeNoToken
    /// A worker whose request for tokens is lost waits for the answer for ever.
    case waitsForLostTokens

    /// The faults under which it shows; all where it shows anyhow.
    var faults: [Fault] {
        switch self {
        case .jumpEndsQuarantine: [.redisFlush, .redisEmpty, .redisClock, .redisClock, .scaleUp, .cutFromRedis]
        case .copiesShareMemory:
            [.brokerCloses, .brokerCloses, .terminate, .pause, .appleSlow, .credentialRefused, .appleFewStreams]
        default: Fault.allCases
        }
    }
}

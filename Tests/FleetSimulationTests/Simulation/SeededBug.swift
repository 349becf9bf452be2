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
    /// A worker does not give back a connection that it no longer has a share for.
    case neverGivesBack
    /// Something goes on renewing the lease of a worker that was killed.
    case leaseOutlivesWorker
    /// A worker whose renewals Redis ignores, since another one renews under its id, goes on as if they were lost (W4).
    case twinsShareLease
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
    /// A push that comes while nothing waits for tokens that are due later is not woken when they are.
    case waitsForNothing
    /// Two workers may make a provider token at a time.
    case mintsWithoutLock
    /// A provider token that Apple refuses is replaced at once.
    case mintsWhenRefused
    /// A worker that starts makes a provider token and does not ask for the fleet's.
    case mintsWithoutAsking
    /// A worker counts a provider token's age from when it hears of it.
    case agesFromTheAnswer
    /// A worker goes on with a provider token that is too old.
    case usesTokensTooLong

    /// Whether it is one of ``TokenSimulation``.
    package var isOfProviderToken: Bool {
        switch self {
        case .mintsWithoutLock, .mintsWhenRefused, .mintsWithoutAsking, .agesFromTheAnswer, .usesTokensTooLong: true
        default: false
        }
    }

    /// The faults under which it shows; all where it shows anyhow.
    var faults: [Fault] {
        switch self {
        case .jumpEndsQuarantine: [.redisFlush, .redisEmpty, .redisClock, .redisClock, .scaleUp, .cutFromRedis]
        case .copiesShareMemory:
            [.brokerCloses, .brokerCloses, .terminate, .pause, .appleSlow, .credentialRefused, .appleFewStreams]
        case .twinsShareLease: [.clone, .clone, .scaleUp, .appleSlow, .cutFromRedis]
        case .givesBackDoneTokens:
            [.brokerCloses, .brokerRestart, .wrongEnvironment, .credentialRefused, .terminate, .redisAway]
        case .waitsForNothing: [.wrongEnvironment, .cutFromApple, .redisFlush, .redisSame, .scaleUp, .appleGoesAway]
        default: Fault.allCases
        }
    }
}

/// What is counted for each app and lane. The raw value is the field's name in Redis.
package enum CounterField: String, CaseIterable, Sendable {
    /// Messages taken from the broker.
    case received
    /// Of these, messages that the broker had delivered before.
    case redelivered
    /// Notifications (one per token) that Apple accepted.
    case delivered
    /// Notifications, or messages, that wait for another attempt.
    case retried
    /// Those that will not be tried again.
    case deadLettered = "dead_lettered"
    /// Tokens that Apple no longer knows.
    case tokensGone = "tokens_gone"
    /// Tokens refused in a way that may also mean a wrong environment.
    case suspectTokens = "suspect_tokens"
    /// Messages given back to the broker without an attempt.
    case givenBack = "given_back"
    /// Requests sent to Apple.
    case attempts
    /// Attempts whose answer never came: Apple may have delivered them.
    case possibleDuplicates = "possible_duplicates"
    /// Notifications dropped because their time was over; also counted as dead-lettered.
    case expired
    /// Tokens that a redelivered message had settled before.
    case alreadyDone = "already_done"
    /// Notifications that were cancelled before their time came.
    case cancelled

    /// Messages held in the broker because their `not_before` lies ahead.
    case held
    /// Notifications sent again at once because Apple certainly had not processed them; costs no attempt.
    case resent
    /// Times the app was paused because Apple refused its credential.
    case credentialPauses = "credential_pauses"
    /// Times the app was paused because too many tokens did not fit its environment or topic.
    case breakerOpened = "breaker_opened"
    /// Times all apps of the credential were paused because Apple answered with 5xx or not at all; counted for the app
    /// whose push told.
    case outagePauses = "outage_pauses"
    /// Notifications put off untried because Apple said TooManyRequests for their token.
    case throttled
    /// Copies that the broker did not confirm and that were published again.
    case publishFailures = "publish_failures"
    /// Messages whose alert's text was shortened to fit, each time they are received.
    case truncated
    /// Times the app's credential was swapped for a changed one.
    case credentialSwaps = "credential_swaps"
    /// Times a changed credential could not be used, so that the old one went on.
    case credentialsRefused = "credentials_refused"
    /// Times a notification waited because the app's rate was used up.
    case rateLimited = "rate_limited"
    /// Notifications of dead letters that were replayed and taken up; each once, however often they are published again.
    case replayed

    /// Its place among all cases; the hot path adds by it.
    var index: Int {
        // A switch over cases without payload is their position; `allCases.firstIndex` would search.
        switch self {
        case .received: 0
        case .redelivered: 1
        case .delivered: 2
        case .retried: 3
        case .deadLettered: 4
        case .tokensGone: 5
        case .suspectTokens: 6
        case .givenBack: 7
        case .attempts: 8
        case .possibleDuplicates: 9
        case .expired: 10
        case .alreadyDone: 11
        case .cancelled: 12
        case .held: 13
        case .resent: 14
        case .credentialPauses: 15
        case .breakerOpened: 16
        case .outagePauses: 17
        case .throttled: 18
        case .publishFailures: 19
        case .truncated: 20
        case .credentialSwaps: 21
        case .credentialsRefused: 22
        case .rateLimited: 23
        case .replayed: 24
        }
    }
}

/// What is counted by reason; in Redis the field is `<name>.<reason>`.
package enum ReasonField: String, CaseIterable, Sendable {
    case retried
    case deadLettered = "dead_lettered"
    /// Apple's answers other than 200.
    case answered
    /// Requests that got no answer, by cause.
    case unanswered

    /// The field that counts all its reasons together, if there is one.
    var total: CounterField? {
        switch self {
        case .retried: .retried
        case .deadLettered: .deadLettered
        case .answered, .unanswered: nil
        }
    }
}

/// What is measured in buckets; in Redis the fields are `<name>.le_<milliseconds>`, `<name>.le_inf`, `<name>.sum`
/// (milliseconds) and `<name>.count`. Buckets are not cumulative: each counts what the one before does not.
package enum HistogramField: String, CaseIterable, Sendable {
    /// From the message's first timestamp to Apple's 200.
    case endToEnd = "end_to_end"
    /// From sending a request to Apple's answer.
    case apnsLatency = "apns_latency"
    /// From the message's publishing to a worker's first receipt of it: what it waited in its queue. Once per message,
    /// and only for one that says when it was published.
    case dwell

    /// Upper bounds in milliseconds, ascending; the last bucket has none.
    package var bounds: [Int64] { self == .apnsLatency ? Self.latencyBounds : Self.endToEndBounds }

    private static let latencyBounds: [Int64] = [
        5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000,
    ]
    /// Retries make a message hours old.
    private static let endToEndBounds =
        Self.latencyBounds + [30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 10_800_000]
}

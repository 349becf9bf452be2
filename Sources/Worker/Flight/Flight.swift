internal import Broker
internal import Push

/// One message between its delivery and its acknowledgement.
struct Flight {
    /// Which delivery it answers.
    let delivery: Delivery.ID
    /// The consumer it came through.
    let line: Line
    let job: Job
    let messageID: [UInt8]
    let routingKey: String
    /// When it was published, for measuring; when it was received, if nobody said.
    let published: UnixTime
    /// Where its age begins.
    let start: UnixTime
    /// Attempts that counted, before this delivery.
    let attempts: Int
    /// Whether the broker has delivered it before: what is sent now may have been sent then.
    let redelivered: Bool
    /// Deliveries before this one that ended without an answer.
    let deliveryCount: Int
    /// What became of each token.
    var ledger: TokenLedger
    /// Requests that wait for Apple's answer.
    var inFlight = 0
    /// Copies that wait for the broker's confirm.
    var publishing = 0
    /// How often a push of it was resent at once because it was certainly not processed.
    var resends = 0
    /// Whether its done tokens are already listed for writing to Redis.
    var isListedAsDirty = false
}

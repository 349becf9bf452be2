/// One request as the ledger tells it.
package struct LedgerRecord: Codable, Equatable, Sendable {
    /// Goes up by one from request to request.
    package var sequence: UInt64
    /// Milliseconds since 1970.
    package var arrival: Int64
    package var connection: Int
    package var stream: Int
    /// In lower case; the sender's own, or the one it was given.
    package var apnsID: String
    /// Whether it was the sender's own.
    package var hasOwnID: Bool
    /// The device token in lower-case hexadecimal digits; empty when the path had none that could be read.
    package var token: String
    /// The channel's id, if it was a broadcast; `topic` is then the bundle id.
    package var channel: String?
    package var topic: String
    package var pushType: String?
    package var priority: Int?
    package var expiration: Int64?
    package var collapseID: String?
    package var bodyBytes: Int
    /// What the sender was, or is going to be, told; nil when nothing.
    package var status: Int?
    package var reason: String?
    /// Whether the push was processed and found good, whatever the sender was told.
    package var accepted: Bool
    /// Whether the answer was handed to the connection.
    package var answered: Bool
    /// Whether a GOAWAY said that the request was not processed.
    package var withdrawn: Bool
    /// Whether the sender had been told 410 for the token before.
    package var afterGone: Bool
    /// The fault rule that was applied.
    package var rule: String?
    /// See ``ProviderTokenUse``.
    package var providerToken: Int?

    /// Whoever has more than this to say says it with a body.
    package var body: String?
}

/// Which entries of the ledger are wanted; what is nil does not matter.
package struct LedgerFilter: Equatable, Sendable {
    /// Hexadecimal digits in either case.
    package var token: String?
    package var topic: String?
    /// A broadcast channel's id.
    package var channel: String?
    /// In either case.
    package var apnsID: String?
    /// 0 finds requests that were told nothing.
    package var status: Int?
    package var reason: String?
    package var connection: Int?
    package var accepted: Bool?
    package var answered: Bool?
    package var afterGone: Bool?
    /// The id of a fault rule.
    package var rule: String?
    /// Only entries before this one: for the next page.
    package var before: UInt64?
    /// At most so many, the newest first.
    package var limit: Int

    package init(
        token: String? = nil,
        topic: String? = nil,
        channel: String? = nil,
        apnsID: String? = nil,
        status: Int? = nil,
        reason: String? = nil,
        connection: Int? = nil,
        accepted: Bool? = nil,
        answered: Bool? = nil,
        afterGone: Bool? = nil,
        rule: String? = nil,
        before: UInt64? = nil,
        limit: Int = 100
    ) {
        self.token = token
        self.topic = topic
        self.channel = channel
        self.apnsID = apnsID
        self.status = status
        self.reason = reason
        self.connection = connection
        self.accepted = accepted
        self.answered = answered
        self.afterGone = afterGone
        self.rule = rule
        self.before = before
        self.limit = limit
    }
}

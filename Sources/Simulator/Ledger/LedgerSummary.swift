/// What a simulator has seen since the beginning or the last reset, in numbers.
package struct LedgerSummary: Codable, Equatable, Sendable {
    package var requests: Int
    /// Processed and found good, whatever the sender was told.
    package var accepted: Int
    /// Answers handed to their connection.
    package var answered: Int
    /// Requests of which a GOAWAY said that they were not processed.
    package var withdrawn: Int
    /// Requests whose `apns-id` had been seen before.
    package var repeated: Int
    /// Acceptances of an `apns-id` that had been accepted before.
    package var duplicates: Int
    /// Requests for a token whose sender had been told 410.
    package var afterGone: Int
    /// Entries that the ledger does not keep any more.
    package var dropped: Int
    /// Different tokens and `apns-id`s among the entries that are kept.
    package var tokens: Int
    package var ids: Int
    package var verdicts: [VerdictCount]
    package var connectionsOpened: Int
    package var connectionsOpen: Int
    /// The most connections that were open at once.
    package var connectionsPeak: Int
    /// By `kid` and by team, for connections that have had a good provider token.
    package var connectionsByKey: [String: ConnectionCount]
    package var connectionsByTeam: [String: ConnectionCount]
    package var connectionsPerMinute: [MinuteCount]
    /// TCP connections that came in, also those that never opened.
    package var connectionsArrived: Int
    /// Those of them that were turned away by policy.
    package var connectionsRefused: Int
    package var traffic: ConnectionTraffic
    package var providerTokens: [ProviderTokenUse]
    /// Roughly the bytes that the ledger occupies.
    package var ledgerBytes: Int
}

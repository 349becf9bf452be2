internal import Foundation
internal import SNS

/// What the fleet tells of one token: that it is gone, or what became of a push to it. The schemas are in
/// `deploy/contract`.
struct TokenReport: Decodable, Sendable, Equatable {
    var token: String
    var app: String
    var reason: String?
    /// Milliseconds since 1970, from Apple.
    var invalidSince: Int64?
    var messageID: String?
    /// `delivered`, `token_gone` or `dead_lettered`; only in receipts.
    var outcome: String?
    var attempts: Int?
    var latency: Int64?
    /// Milliseconds of it that Apple took.
    var apnsLatency: Int64?
    var apnsID: String?
    var apnsReason: String?

    enum CodingKeys: String, CodingKey {
        case token, app, reason, outcome, attempts
        case invalidSince = "invalid_since"
        case messageID = "message_id"
        case latency = "latency_ms"
        case apnsLatency = "apns_latency_ms"
        case apnsID = "apns_id"
        case apnsReason = "apns_reason"
    }

    init?(body: [UInt8]) {
        guard let report = try? JSONDecoder().decode(Self.self, from: Data(body)) else { return nil }
        self = report
    }

    /// The message's id if it went to one endpoint; parts of a fan-out have more behind it.
    var directMessageID: SNS.UUID? { self.messageID.flatMap { SNS.UUID($0) } }

    /// The id of what was published, also for a part of it.
    var publishedID: SNS.UUID? { self.messageID.flatMap { SNS.UUID($0.prefix { $0 != "." }) } }
}

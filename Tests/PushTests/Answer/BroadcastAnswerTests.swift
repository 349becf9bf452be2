import Push
import Testing

/// Answers to `POST /4/broadcasts/…`, written down from section 6.4 of Apple's table, not from the code's.
@Suite("APNs answers to a broadcast")
struct BroadcastAnswerTests {
    static func reason(_ text: String) -> ApnsReason { ApnsReason(text.utf8)! }

    static func outcome(_ status: Int, _ reason: String?) -> Outcome {
        Classification.classify(Reply(status: status, reason: reason.map(Self.reason)), api: .broadcast).outcome
    }

    @Test(
        "what no retry can mend is a dead letter",
        arguments: [
            (400, "MissingChannelId"), (400, "BadChannelId"), (400, "BadRequestParams"), (400, "BadRequestPayload"),
            (400, "PayloadEmpty"), (400, "BadMessageId"), (400, "MissingPushType"), (400, "InvalidPushType"),
            (400, "BadExpirationDate"), (400, "BadPriority"), (400, "CannotCreateChannelConfig"), (404, "BadPath"),
            (405, "MethodNotAllowed"), (413, "PayloadTooLarge"), (400, "SomethingNew"),
        ]
    )
    func payload(status: Int, reason: String) {
        #expect(Self.outcome(status, reason) == .deadLetter(.apnsRejected))
    }

    @Test("a channel that Apple does not know is a dead letter of its own")
    func channelGone() {
        #expect(Self.outcome(400, "ChannelNotRegistered") == .deadLetter(.channelGone))
    }

    @Test(
        "credential faults pause",
        arguments: [
            (403, "BadCertificate"), (403, "BadCertificateEnvironment"), (403, "MissingProviderToken"),
            (403, "InvalidProviderToken"), (403, "ExpiredProviderToken"),
        ]
    )
    func credential(status: Int, reason: String) {
        #expect(Self.outcome(status, reason) == .credentialFault(Self.reason(reason)))
    }

    @Test(
        "what forbids broadcasts to an app delays them, and leaves its pushes to devices alone",
        arguments: [
            (400, "FeatureNotEnabled"), (400, "BroadcastFeatureNotEnabled"), (400, "TopicDisallowed"),
            (403, "TopicMismatch"),
        ]
    )
    func forbidden(status: Int, reason: String) {
        let wait = Outcome.retry(counts: false, possibleDuplicate: false, delayFloor: .seconds(60))
        #expect(Self.outcome(status, reason) == wait)
        #expect(Classification.classify(Reply(status: status, reason: Self.reason(reason)), api: .broadcast).alert)
    }

    @Test(
        "what passes is tried again",
        arguments: [
            (429, "TooManyRequests"), (500, "InternalServerError"), (503, "ServiceUnavailable"),
            (503, "Service Unavailable"),
        ]
    )
    func later(status: Int, reason: String) {
        guard case .retry(true, false, _) = Self.outcome(status, reason) else {
            Issue.record("\(Self.outcome(status, reason))")
            return
        }
    }

    @Test("a server that goes away costs no attempt, with one spelling or the other")
    func shutdown() {
        #expect(
            Self.outcome(503, "Shutdown") == .retry(counts: false, possibleDuplicate: false, delayFloor: nil)
        )
    }

    @Test("where texts clash, a broadcast has its own")
    func ownRows() {
        for (status, reason) in [
            (400, "TopicDisallowed"), (400, "BadExpirationDate"), (400, "InvalidPushType"), (400, "BadMessageId"),
            (413, "PayloadTooLarge"), (429, "TooManyRequests"), (404, "BadPath"), (400, "BadPriority"),
        ] {
            let row = ReasonTable.row(status: status, reason: Self.reason(reason), api: .broadcast)
            #expect(row.api == .broadcast && row.reason == reason)
            #expect(ReasonTable.row(status: status, reason: Self.reason(reason)).api == .device)
        }
        // Nothing about one device slows a channel only.
        let reply = Reply(status: 429, reason: .tooManyRequests)
        #expect(!Classification.classify(reply, api: .broadcast).flags.contains(.sameTokenOnly))
    }

    @Test("no answer to a broadcast speaks of a device token")
    func noTokens() {
        for row in ReasonTable.rows {
            switch Self.outcome(row.status, row.reason.isEmpty ? nil : row.reason) {
            case .tokenGone, .suspectToken: Issue.record("\(row.status) \(row.reason)")
            default: break
            }
        }
        #expect(Self.outcome(410, nil) == .deadLetter(.apnsRejected))
        #expect(Self.outcome(410, "Unregistered") == .deadLetter(.apnsRejected))
        #expect(Self.outcome(400, "BadDeviceToken") == .deadLetter(.apnsRejected))
    }
}

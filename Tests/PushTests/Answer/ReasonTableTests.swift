import Push
import Testing

@Suite("APNs answers")
struct ReasonTableTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String?
        let outcome: Outcome
        let connection: StatusReason.ConnectionFate
        let alert: Bool
        let flags: StatusReason.Flags

        init(
            _ status: Int,
            _ reason: String?,
            _ outcome: Outcome,
            _ connection: StatusReason.ConnectionFate = .keep,
            alert: Bool = false,
            flags: StatusReason.Flags = []
        ) {
            self.status = status
            self.reason = reason
            self.outcome = outcome
            self.connection = connection
            self.alert = alert
            self.flags = flags
        }

        var testDescription: String { "\(self.status) \(self.reason ?? "-")" }
    }

    static let rejected = Outcome.deadLetter(.apnsRejected)
    static let time = UnixTime(milliseconds: 1_700_000_000_123)

    static func reason(_ text: String) -> ApnsReason { ApnsReason(text.utf8)! }
    static func suspect(_ text: String) -> Outcome { .suspectToken(Self.reason(text)) }
    static func fault(_ text: String) -> Outcome { .credentialFault(Self.reason(text)) }

    static func retry(counts: Bool = true, floor: Duration? = nil) -> Outcome {
        .retry(counts: counts, possibleDuplicate: false, delayFloor: floor)
    }

    /// Written down from Apple's table and the rules around it, not from the code's.
    static let table: [Case] = [
        Case(200, nil, .delivered),
        Case(400, "BadCollapseId", Self.rejected),
        Case(400, "BadDeviceToken", Self.suspect("BadDeviceToken")),
        Case(400, "BadExpirationDate", Self.rejected),
        Case(400, "BadMessageId", Self.rejected, alert: true, flags: .senderBug),
        Case(400, "BadPriority", Self.rejected),
        Case(400, "BadTopic", Self.rejected, alert: true),
        Case(400, "DeviceTokenNotForTopic", Self.suspect("DeviceTokenNotForTopic")),
        Case(400, "DuplicateHeaders", Self.rejected, alert: true, flags: .senderBug),
        Case(400, "IdleTimeout", Self.retry(counts: false), .retire),
        Case(400, "InvalidPushType", Self.rejected),
        Case(400, "MissingDeviceToken", Self.rejected, alert: true, flags: .senderBug),
        Case(400, "MissingTopic", Self.rejected, alert: true, flags: .senderBug),
        Case(400, "PayloadEmpty", Self.rejected),
        Case(
            400,
            "TopicDisallowed",
            Self.fault("TopicDisallowed"),
            .retire,
            alert: true,
            flags: [.retryOnce, .topicScoped]
        ),
        Case(403, "BadCertificate", Self.fault("BadCertificate"), .retire, alert: true),
        Case(403, "BadCertificateEnvironment", Self.fault("BadCertificateEnvironment"), .retire, alert: true),
        Case(
            403,
            "ExpiredProviderToken",
            Self.fault("ExpiredProviderToken"),
            .retire,
            alert: true,
            flags: [.refreshToken, .retryOnce]
        ),
        Case(403, "Forbidden", Self.rejected, .retire, alert: true, flags: .pauseLane),
        Case(
            403,
            "InvalidProviderToken",
            Self.fault("InvalidProviderToken"),
            .retire,
            alert: true,
            flags: .retryOnce
        ),
        Case(403, "MissingProviderToken", Self.fault("MissingProviderToken"), alert: true, flags: .senderBug),
        Case(
            403,
            "UnrelatedKeyIdInToken",
            Self.fault("UnrelatedKeyIdInToken"),
            .retire,
            alert: true,
            flags: .retryOnce
        ),
        Case(403, "BadEnvironmentKeyInToken", Self.fault("BadEnvironmentKeyInToken"), .retire, alert: true),
        Case(403, "BadEnvironmentKeyIdInToken", Self.fault("BadEnvironmentKeyIdInToken"), .retire, alert: true),
        Case(404, "BadPath", Self.rejected, alert: true, flags: .senderBug),
        Case(405, "MethodNotAllowed", Self.rejected, alert: true, flags: .senderBug),
        Case(410, "ExpiredToken", .tokenGone(at: Self.time, .expiredToken)),
        Case(410, "Unregistered", .tokenGone(at: Self.time, .unregistered)),
        Case(413, "PayloadTooLarge", Self.rejected),
        Case(
            429,
            "TooManyProviderTokenUpdates",
            Self.retry(counts: false, floor: .seconds(60)),
            .retire,
            alert: true,
            flags: .holdToken
        ),
        Case(429, "TooManyRequests", Self.retry(floor: .seconds(60)), flags: .sameTokenOnly),
        Case(500, "InternalServerError", Self.retry(), .retire),
        Case(503, "ServiceUnavailable", Self.retry(), .retire),
        Case(503, "Service Unavailable", Self.retry(), .retire),
        Case(503, "Shutdown", Self.retry(counts: false), .retire),
        // The broadcast API.
        Case(400, "FeatureNotEnabled", Self.fault("FeatureNotEnabled"), alert: true, flags: .topicScoped),
        Case(400, "MissingChannelId", Self.rejected),
        Case(400, "ChannelNotRegistered", .deadLetter(.channelGone), alert: true, flags: .channelGone),
        Case(400, "CannotCreateChannelConfig", Self.rejected, alert: true),
        Case(403, "TopicMismatch", Self.fault("TopicMismatch"), .retire, alert: true, flags: .topicScoped),
        // Unknown, or unreadable: the status decides, and no token dies of it.
        Case(400, "SomethingNew", Self.rejected, alert: true),
        Case(400, nil, Self.rejected, alert: true),
        Case(418, nil, Self.rejected, alert: true),
        Case(403, "SomethingNew", Self.fault("SomethingNew"), .retire, alert: true),
        Case(403, nil, .credentialFault(nil), .retire, alert: true),
        Case(410, nil, .suspectToken(nil), alert: true),
        Case(410, "Gone", Self.suspect("Gone"), alert: true),
        Case(413, nil, Self.rejected),
        Case(429, nil, Self.retry(floor: .seconds(60)), alert: true),
        Case(500, nil, Self.retry()),
        Case(502, nil, Self.retry()),
        Case(503, "SomethingNew", Self.retry()),
        Case(599, "SomethingNew", Self.retry()),
        Case(204, nil, .delivered, alert: true),
        Case(302, nil, Self.retry(), .retire, alert: true),
        Case(0, nil, Self.retry(), .retire, alert: true),
        Case(999, nil, Self.retry(), .retire, alert: true),
        // A reason under another status than its own proves nothing.
        Case(400, "Unregistered", Self.rejected, alert: true),
        Case(500, "BadDeviceToken", Self.retry()),
    ]

    @Test("every answer has its outcome", arguments: Self.table)
    func classify(answer: Case) {
        let reply = Reply(
            status: answer.status,
            reason: answer.reason.map(Self.reason),
            timestamp: Self.time
        )
        let result = Classification.classify(reply)
        #expect(result.outcome == answer.outcome)
        #expect(result.connection == answer.connection)
        #expect(result.alert == answer.alert)
        #expect(result.flags == answer.flags)
        #expect(result.refreshProviderToken == (answer.reason == "ExpiredProviderToken"))
    }

    @Test("no row is missing from the table above, none is there twice, and each can be explained")
    func rows() {
        for row in ReasonTable.rows where row.status != 0 && !row.reason.isEmpty && row.api == .device {
            #expect(Self.table.contains { $0.status == row.status && $0.reason == row.reason }, "\(row.reason)")
        }
        let keys = ReasonTable.rows.map { "\($0.status) \($0.reason) \($0.api)" }
        #expect(Set(keys).count == keys.count)
        for row in ReasonTable.rows + [ReasonTable.ok] {
            #expect(row.meaning.count > 20 && row.meaning.hasSuffix("."), "\(row.reason)")
            #expect(row.nextStep.count > 7 && row.nextStep.hasSuffix("."), "\(row.reason)")
            #expect(row.disposition != .backoff || row.status < 600)
        }
    }

    @Test("never calls a token dead without a reason that says so")
    func tokensLive() {
        for status in 0..<1000 {
            for reason in [nil, "SomethingNew", "BadDeviceToken"] {
                let result = Classification.classify(Reply(status: status, reason: reason.map(Self.reason)))
                if case .tokenGone = result.outcome { Issue.record("\(status) \(reason ?? "-")") }
            }
        }
    }

    @Test("Retry-After lengthens the floor, never shortens it")
    func retryAfter() {
        func floor(_ status: Int, _ reason: String?, _ after: Duration?) -> Duration? {
            let reply = Reply(status: status, reason: reason.map(Self.reason), retryAfter: after)
            guard case .retry(_, _, let floor) = Classification.classify(reply).outcome else { return nil }
            return floor
        }
        #expect(floor(503, nil, .seconds(7)) == .seconds(7))
        #expect(floor(429, "TooManyRequests", .seconds(7)) == .seconds(60))
        #expect(floor(429, "TooManyRequests", .seconds(700)) == .seconds(700))
        #expect(floor(500, nil, nil) == nil)
    }

    @Test(
        "a request without an answer",
        arguments: [
            (SendFailure.notSent(.streamRefused), false, StatusReason.ConnectionFate.keep),
            (.notSent(.goAwayUnprocessed), false, .retire), (.notSent(.noConnection), false, .keep),
            (.notSent(.credentialReplaced), false, .retire),
            (.notSent(.draining), false, .keep), (.maybeSent(.connectionLost), true, .retire),
            (.maybeSent(.timeout), true, .retire), (.maybeSent(.reset(code: 2)), true, .keep),
            (.maybeSent(.protocolViolation), true, .retire),
        ]
    )
    func failures(failure: SendFailure, maybe: Bool, connection: StatusReason.ConnectionFate) {
        let result = Classification.classify(failure)
        #expect(result.outcome == .retry(counts: maybe, possibleDuplicate: maybe, delayFloor: nil))
        #expect(result.connection == connection)
        #expect(!failure.cause.name.isEmpty)
    }

    @Test("a GOAWAY speaks of the credential or of nothing")
    func goAway() {
        let fault = Classification.classify(goAway: Self.reason("BadCertificateEnvironment"))
        #expect(fault?.outcome == Self.fault("BadCertificateEnvironment"))
        #expect(Classification.classify(goAway: .idleTimeout) == nil)
        #expect(Classification.classify(goAway: Self.reason("Whatever")) == nil)
    }

    @Test("explains what someone types")
    func explain() {
        #expect(ReasonTable.explain("unregistered").map(\.status) == [410])
        #expect(ReasonTable.explain("Service Unavailable").map(\.status) == [503])
        #expect(ReasonTable.explain("410").count == 3)
        #expect(ReasonTable.explain("200").map(\.disposition) == [.ok])
        #expect(ReasonTable.explain("418").map(\.reason) == ["Unknown4xx"])
        #expect(ReasonTable.explain("Nonsense").isEmpty)
        #expect(ReasonTable.explain("").isEmpty)
        #expect(ReasonTable.nearest(to: "BadDeviceTokn") == "BadDeviceToken")
    }

    @Test("counters know a bounded set of reasons")
    func counterNames() {
        #expect(ApnsReason.unregistered.counterName == "Unregistered")
        #expect(Self.reason("Service Unavailable").counterName == "ServiceUnavailable")
        #expect(Self.reason("Evil-1234").counterName == "unknown")
    }

    @Test(
        "every dead-letter reason is stable, explained and points at a real field",
        arguments: DeadLetterReason.allCases
    )
    func deadLetterReasons(reason: DeadLetterReason) {
        #expect(reason.rawValue.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" })
        #expect(reason.meaning.hasSuffix(".") && reason.nextStep.hasSuffix("."))
        #expect(reason.field.map { EnvelopeField(rawValue: $0) != nil } ?? true)
    }
}

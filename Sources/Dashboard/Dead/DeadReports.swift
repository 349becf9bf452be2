internal import Broker
internal import Desk
internal import Foundation
internal import Push

/// One dead letter in a list.
struct DeadReport: Encodable, Equatable {
    let id: String
    let messageId: String?
    let app: String?
    let lane: String?
    let reason: String
    let apnsReason: String?
    let field: String?
    let detail: String?
    let attempt: Int
    let tokens: Int?
    let firstSeenMs: Int64?
    /// Missing for what others have put into the queue.
    let diedAtMs: Int64?

    init(_ letter: DeadLetter) {
        self.id = "\(letter.id)"
        self.messageId = letter.messageID.isEmpty ? nil : String(decoding: letter.messageID, as: UTF8.self)
        self.app = letter.app
        self.lane = letter.lane?.rawValue
        self.reason = letter.reason
        self.apnsReason = letter.apnsReason
        self.field = letter.field
        self.detail = letter.detail
        self.attempt = letter.attempts
        self.tokens = letter.tokens
        self.firstSeenMs = letter.firstSeen?.milliseconds
        self.diedAtMs = letter.diedAt?.milliseconds
    }
}

/// A page of them: `GET /api/dead`.
struct DeadPage: Encodable {
    struct Group: Encodable, Equatable {
        let reason: String
        let apnsReason: String?
        let count: Int
    }

    let timeMs: Int64
    let messages: Int
    let indexed: Int
    let matched: Int
    let items: [DeadReport]
    let next: String?
    let groups: [Group]

    private static let groupLimit = 50

    /// - Parameters:
    ///   - after: the cursor of the page before.
    ///   - messages: in the queue, as RabbitMQ says; nil if it does not.
    init(
        _ contents: DeadIndex.Contents,
        _ question: DeadQuestion,
        after: DeadCursor?,
        limit: Int,
        messages: Int?,
        at now: UnixTime
    ) {
        let filter = question.filter(at: now)
        let wide = filter.withoutReasons
        let base = contents.letters.filter { wide.matches($0) }
        let found = base.filter { filter.matches($0) }
        // The letter of the cursor may be gone: the page begins at the first that comes after its place.
        let start = after.map { cursor in found.firstIndex { cursor.isBefore($0) } ?? found.count } ?? 0
        let page = found[start..<min(found.count, start + limit)]
        self.timeMs = now.milliseconds
        self.messages = messages ?? contents.ready
        self.indexed = contents.letters.count
        self.matched = found.count
        self.items = page.map { DeadReport($0) }
        self.next = page.endIndex < found.count ? page.last.map { DeadCursor($0).text } : nil
        self.groups = DeadLetterGroup.of(base, byApp: false).prefix(Self.groupLimit)
            .map { Group(reason: $0.reason, apnsReason: $0.apnsReason, count: $0.count) }
    }
}

/// The place of a letter in the order of all, whether it is still there or not.
struct DeadCursor: Equatable {
    let time: Int64
    let id: DeadLetterID

    init(_ letter: DeadLetter) {
        self.time = letter.diedAt?.milliseconds ?? .min
        self.id = letter.id
    }

    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let id = DeadLetterID(parts[0]), let time = Int64(parts[1]) else { return nil }
        self.id = id
        self.time = time
    }

    var text: String { "\(self.id)-\(self.time)" }

    /// See ``DeadLetterLook/isLater(_:_:)``.
    func isBefore(_ letter: DeadLetter) -> Bool {
        let other = letter.diedAt?.milliseconds ?? .min
        return other == self.time ? self.id < letter.id : other < self.time
    }
}

/// One dead letter, whole: `GET /api/dead/letter`.
struct DeadDetail: Encodable {
    private struct Rest: Encodable {
        let timeMs: Int64
        let headers: [String: String]
        let body: String
        let bodyEncoding: String
        let bodyBytes: Int
        let canReplay: Bool
        let problem: String?
        let meaning: String?
        let nextStep: String?
    }

    private let report: DeadReport
    private let rest: Rest

    private static let bodyLimit = 256 << 10

    /// - Parameter showsTokens: to who may act; others see them as in logs.
    init(_ letter: DeadLetter, rules: ReplayRules, showsTokens: Bool, at now: UnixTime) {
        let body = letter.body
        let problem = rules.problem(routingKey: letter.routingKey, body: body, now: now)
        let shown = (showsTokens ? body : MaskedTokens.body(body)).prefix(Self.bodyLimit)
        let text = String(validating: shown, as: UTF8.self)
        self.report = DeadReport(letter)
        self.rest = Rest(
            timeMs: now.milliseconds,
            headers: Self.headers(letter),
            body: text ?? Data(shown).base64EncodedString(),
            bodyEncoding: text == nil ? "base64" : "utf8",
            bodyBytes: body.count,
            canReplay: problem == nil,
            problem: problem?.detail,
            meaning: letter.knownReason?.meaning,
            nextStep: letter.knownReason?.nextStep
        )
    }

    func encode(to encoder: any Encoder) throws {
        try self.report.encode(to: encoder)
        try self.rest.encode(to: encoder)
    }

    private static func headers(_ letter: DeadLetter) -> [String: String] {
        var headers = Dictionary(
            letter.headers.map { ($0.name, "\($0.value)") },
            uniquingKeysWith: { first, _ in first }
        )
        headers["routing_key"] = letter.routingKey
        headers["content_type"] = letter.contentType.isEmpty ? nil : letter.contentType
        headers["timestamp"] = letter.published.map { "\($0.seconds)" }
        return headers
    }
}

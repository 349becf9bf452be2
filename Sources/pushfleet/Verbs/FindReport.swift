internal import APNs
internal import Push
internal import Store

/// What `pushfleet find` tells; its keys are a contract with scripts.
struct FindReport: Encodable, Equatable {
    enum Kind: String, Encodable {
        case messageID = "message_id"
        case token
    }

    /// What was looked for. A token as logs show it.
    let searched: String
    let foundBy: Kind
    /// The newest first.
    let messages: [Message]
    /// Whether there are older messages to the token.
    let hasMore: Bool
    let trail: Coverage
    /// Parts of the trail that could not be read.
    let unreadable: Int

    struct Message: Encodable, Equatable {
        let messageId: String
        /// Whether the id is longer than what is kept of it.
        let isCut: Bool
        let app: String?
        let lane: String?
        let publishedMs: Int64
        let broadcast: Bool
        let tokenCount: Int
        /// How many of its tokens are in each state.
        let states: [String: Int]
        let deliveries: [Delivery]
        let tokens: [Token]
    }

    struct Delivery: Encodable, Equatable {
        let worker: String?
        let receivedMs: Int64
        let endedMs: Int64
        /// `open`, `acknowledged`, `returned` or `lost`.
        let end: String
        let redelivered: Bool
        let attemptsBefore: Int
        let copies: Int
        /// Why it was no message of the contract: a dead-letter reason.
        let refusedAs: String?
    }

    struct Token: Encodable, Equatable {
        /// As logs show it.
        let token: String
        let state: String
        /// Only if the token was given: it is derived from it.
        let apnsId: String?
        let steps: [Step]
    }

    struct Step: Encodable, Equatable {
        /// Which of the deliveries, from 0.
        let delivery: Int
        let state: String
        let timeMs: Int64
        let dueMs: Int64?
        let reason: String?
        let cause: String?
        let invalidSinceMs: Int64?
        let returned: Bool
        let answers: [Answer]
    }

    struct Answer: Encodable, Equatable {
        let timeMs: Int64
        let latencyMs: Int64
        let attempt: Int
        let connection: Int
        /// Apple's; nil if there was no answer.
        let status: Int?
        let apnsReason: String?
        /// Why there was no answer.
        let unanswered: String?
        /// Whether Apple may have had it all the same.
        let mayBeSent: Bool?
    }

    struct Coverage: Encodable, Equatable {
        let sinceMs: Int64?
        let deliveredSinceMs: Int64?
        let othersSinceMs: Int64?
        let keepMs: Int64?
        let bytes: Int64
        let maxBytes: Int64
        let lost: Int64
        let lostAtMs: Int64?
    }

    /// - Parameter token: the one that is asked for, in lower case; others are left out.
    init(_ searched: String, _ kind: Kind, _ findings: TrailSearch.Findings, token: String?) {
        let isToken = kind == .token && Array(searched.utf8).withUnsafeBytes { DeviceToken.isValid($0) }
        self.searched = isToken ? DeviceToken.redacted(searched) : Shown.text(searched.utf8)
        self.foundBy = kind
        self.hasMore = findings.hasMore
        self.unreadable = findings.unreadable
        self.trail = Coverage(findings.coverage)
        self.messages = findings.stories.map { Message($0, token: token.map { Array($0.utf8) }) }
    }
}

/// Text from anywhere, fit for a terminal. Other than ``Quoted`` it shows message ids whole, which may be hexadecimal.
enum Shown {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case " "..."~": text.unicodeScalars.append(scalar)
            default: text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }
}

extension FindReport.Coverage {
    fileprivate init(_ coverage: TrailCoverage) {
        self.sinceMs = coverage.since?.milliseconds
        self.deliveredSinceMs = (coverage.plainSince ?? coverage.since)?.milliseconds
        self.othersSinceMs = (coverage.keptSince ?? coverage.since)?.milliseconds
        self.keepMs = coverage.keep?.milliseconds
        self.bytes = coverage.bytes
        self.maxBytes = coverage.limit
        self.lost = coverage.lost
        self.lostAtMs = coverage.lostAt?.milliseconds
    }
}

extension FindReport.Message {
    fileprivate init(_ story: MessageStory, token digits: [UInt8]?) {
        let wanted = digits.map { TrailToken($0) }
        self.messageId = Shown.text(story.id.text)
        self.isCut = story.id.isCut
        self.app = story.app.map { Shown.text($0.utf8) }
        self.lane = story.lane.map { Shown.text($0.utf8) }
        self.publishedMs = story.published.milliseconds
        self.broadcast = story.isBroadcast
        self.tokenCount = story.tokenCount
        self.states = Dictionary(uniqueKeysWithValues: story.counts.map { ($0.key.rawValue, $0.value) })
        self.deliveries = story.deliveries.map { FindReport.Delivery($0) }
        self.tokens = story.tokens.filter { wanted == nil || $0.identity == wanted }.map { token in
            let id = digits.flatMap { story.id.isCut ? nil : ApnsID(messageID: story.id.text, token: $0).string }
            return FindReport.Token(
                token: token.identity.redacted,
                state: token.state.rawValue,
                apnsId: id,
                steps: token.steps.map { FindReport.Step($0) }
            )
        }
    }
}

extension FindReport.Delivery {
    fileprivate init(_ delivery: MessageStory.Delivery) {
        self.worker = delivery.worker.map { Shown.text($0.utf8) }
        self.receivedMs = delivery.received.milliseconds
        self.endedMs = delivery.ended.milliseconds
        self.end = "\(delivery.end)"
        self.redelivered = delivery.isRedelivered
        self.attemptsBefore = delivery.attempts
        self.copies = delivery.copies
        self.refusedAs = delivery.refusal?.rawValue
    }
}

extension FindReport.Step {
    fileprivate init(_ step: MessageStory.Step) {
        self.delivery = step.delivery
        self.state = step.state.rawValue
        self.timeMs = step.time.milliseconds
        self.dueMs = step.due?.milliseconds
        self.reason = step.reason?.rawValue
        self.cause = step.cause.map { Shown.text($0.utf8) }
        self.invalidSinceMs = step.invalidSince?.milliseconds
        self.returned = step.isReturned
        self.answers = step.answers.map { FindReport.Answer($0) }
    }
}

extension FindReport.Answer {
    fileprivate init(_ answer: MessageStory.Answer) {
        self.timeMs = answer.time.milliseconds
        self.latencyMs = answer.latency.milliseconds
        self.attempt = answer.attempt
        self.connection = answer.connection
        switch answer.result {
        case .status(let status, let reason):
            (self.status, self.apnsReason) = (status, reason.map { Shown.text($0.utf8) })
            (self.unanswered, self.mayBeSent) = (nil, nil)
        case .none(let cause, let mayBeSent):
            (self.status, self.apnsReason) = (nil, nil)
            (self.unanswered, self.mayBeSent) = (Shown.text(cause.utf8), mayBeSent)
        case .unknown:
            (self.status, self.apnsReason, self.unanswered, self.mayBeSent) = (nil, nil, nil, nil)
        }
    }
}

internal import APNs
internal import Push
package import Store

/// What `pushfleet find` tells; its keys are a contract with scripts.
package struct FindReport: Encodable, Equatable {
    package enum Kind: String, Encodable {
        case messageID = "message_id"
        case token
    }

    /// What was looked for. A token as logs show it.
    package let searched: String
    package let foundBy: Kind
    /// The newest first.
    package let messages: [Message]
    /// Whether there are older messages to the token.
    package let hasMore: Bool
    package let trail: Coverage
    /// Parts of the trail that could not be read.
    package let unreadable: Int

    package struct Message: Encodable, Equatable {
        package let messageId: String
        /// Whether the id is longer than what is kept of it.
        package let isCut: Bool
        package let app: String?
        package let lane: String?
        package let publishedMs: Int64
        package let broadcast: Bool
        package let tokenCount: Int
        /// How many of its tokens are in each state.
        package let states: [String: Int]
        package let deliveries: [Delivery]
        package let tokens: [Token]
    }

    package struct Delivery: Encodable, Equatable {
        package let worker: String?
        package let receivedMs: Int64
        package let endedMs: Int64
        /// `open`, `acknowledged`, `returned` or `lost`.
        package let end: String
        package let redelivered: Bool
        package let attemptsBefore: Int
        package let copies: Int
        /// Why it was no message of the contract: a dead-letter reason.
        package let refusedAs: String?
    }

    package struct Token: Encodable, Equatable {
        /// As logs show it.
        package let token: String
        package let state: String
        /// Only if the token was given: it is derived from it.
        package let apnsId: String?
        package let steps: [Step]
    }

    package struct Step: Encodable, Equatable {
        /// Which of the deliveries, from 0.
        package let delivery: Int
        package let state: String
        package let timeMs: Int64
        package let dueMs: Int64?
        package let reason: String?
        package let cause: String?
        package let invalidSinceMs: Int64?
        package let returned: Bool
        package let answers: [Answer]
    }

    package struct Answer: Encodable, Equatable {
        package let timeMs: Int64
        package let latencyMs: Int64
        package let attempt: Int
        package let connection: Int
        /// Apple's; nil if there was no answer.
        package let status: Int?
        package let apnsReason: String?
        /// Why there was no answer.
        package let unanswered: String?
        /// Whether Apple may have had it all the same.
        package let mayBeSent: Bool?
    }

    package struct Coverage: Encodable, Equatable {
        package let sinceMs: Int64?
        package let deliveredSinceMs: Int64?
        package let othersSinceMs: Int64?
        package let keepMs: Int64?
        package let bytes: Int64
        package let maxBytes: Int64
        package let lost: Int64
        package let lostAtMs: Int64?
    }

    /// - Parameters:
    ///   - token: the one that is asked for, in lower case; others are left out.
    ///   - shown: how text from outside is written: fit for a terminal, unless it goes elsewhere.
    package init(
        _ searched: String,
        _ kind: Kind,
        _ findings: TrailSearch.Findings,
        token: String?,
        shown: ([UInt8]) -> String = { Shown.text($0) }
    ) {
        let isToken = kind == .token && Array(searched.utf8).withUnsafeBytes { DeviceToken.isValid($0) }
        self.searched = isToken ? DeviceToken.redacted(searched) : shown(Array(searched.utf8))
        self.foundBy = kind
        self.hasMore = findings.hasMore
        self.unreadable = findings.unreadable
        self.trail = Coverage(findings.coverage)
        self.messages = findings.stories.map { Message($0, token: token.map { Array($0.utf8) }, shown) }
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
    fileprivate init(_ story: MessageStory, token digits: [UInt8]?, _ shown: ([UInt8]) -> String) {
        let wanted = digits.map { TrailToken($0) }
        self.messageId = shown(Array(story.id.text))
        self.isCut = story.id.isCut
        self.app = story.app.map { shown(Array($0.utf8)) }
        self.lane = story.lane.map { shown(Array($0.utf8)) }
        self.publishedMs = story.published.milliseconds
        self.broadcast = story.isBroadcast
        self.tokenCount = story.tokenCount
        self.states = Dictionary(uniqueKeysWithValues: story.counts.map { ($0.key.rawValue, $0.value) })
        self.deliveries = story.deliveries.map { FindReport.Delivery($0, shown) }
        self.tokens = story.tokens.filter { wanted == nil || $0.identity == wanted }.map { token in
            let id = digits.flatMap { story.id.isCut ? nil : ApnsID(messageID: story.id.text, token: $0).string }
            return FindReport.Token(
                token: token.identity.redacted,
                state: token.state.rawValue,
                apnsId: id,
                steps: token.steps.map { FindReport.Step($0, shown) }
            )
        }
    }
}

extension FindReport.Delivery {
    fileprivate init(_ delivery: MessageStory.Delivery, _ shown: ([UInt8]) -> String) {
        self.worker = delivery.worker.map { shown(Array($0.utf8)) }
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
    fileprivate init(_ step: MessageStory.Step, _ shown: ([UInt8]) -> String) {
        self.delivery = step.delivery
        self.state = step.state.rawValue
        self.timeMs = step.time.milliseconds
        self.dueMs = step.due?.milliseconds
        self.reason = step.reason?.rawValue
        self.cause = step.cause.map { shown(Array($0.utf8)) }
        self.invalidSinceMs = step.invalidSince?.milliseconds
        self.returned = step.isReturned
        self.answers = step.answers.map { FindReport.Answer($0, shown) }
    }
}

extension FindReport.Answer {
    fileprivate init(_ answer: MessageStory.Answer, _ shown: ([UInt8]) -> String) {
        self.timeMs = answer.time.milliseconds
        self.latencyMs = answer.latency.milliseconds
        self.attempt = answer.attempt
        self.connection = answer.connection
        switch answer.result {
        case .status(let status, let reason):
            (self.status, self.apnsReason) = (status, reason.map { shown(Array($0.utf8)) })
            (self.unanswered, self.mayBeSent) = (nil, nil)
        case .none(let cause, let mayBeSent):
            (self.status, self.apnsReason) = (nil, nil)
            (self.unanswered, self.mayBeSent) = (shown(Array(cause.utf8)), mayBeSent)
        case .unknown:
            (self.status, self.apnsReason, self.unanswered, self.mayBeSent) = (nil, nil, nil, nil)
        }
    }
}

internal import APNs
internal import Push
internal import Registry
internal import SNS
internal import Store

/// All that Redis knows of one publish, or of one page of it.
struct MessageFacts: Sendable {
    /// How far the fan-out of a large topic has come.
    struct FanOut: Encodable, Equatable, Sendable {
        /// Chunks that are published; they have the numbers from 0.
        let chunks: Int
        let done: Bool
    }

    /// The one endpoint that is asked for.
    struct Wanted: Sendable {
        let arn: String
        /// Of its token now, in lower case.
        let digits: [UInt8]
    }

    let id: String
    /// What is told of a scheduled push: `planned`, `begun` or `cancelled`; nil for any other.
    var schedule: String?
    var fanOut: FanOut?
    /// Which chunk is looked at; 0 for what was not fanned out.
    var chunk = 0
    var wanted: Wanted?
    /// Of the messages that the chunk was published as.
    var stories: [MessageStory] = []
    var coverage = TrailCoverage([:])
    var unreadable = 0

    var isKnown: Bool { self.schedule != nil || self.fanOut != nil || !self.stories.isEmpty }
}

/// What `GET /pushfleet/messages/{id}` answers; its keys, in snake case, are a contract.
struct MessageReport: Encodable, Equatable {
    /// Closed.
    enum State: String, Encodable, CaseIterable {
        /// Its time lies ahead, and it can be cancelled.
        case scheduled
        case cancelled
        /// In RabbitMQ; no worker has told of it yet.
        case published
        /// Something is still to be sent or to be answered by Apple, or the fan-out is under way.
        case sending
        /// Apple's last word is known for every token that is told of.
        case done
    }

    /// What the counts and tokens are of.
    enum Scope: String, Encodable {
        case message, page, endpoint
    }

    let messageId: String
    let state: State
    let publishedAt: String?
    let fanOut: MessageFacts.FanOut?
    let scope: Scope
    /// By the tokens' states; `unknown`: the trail does not know them any more.
    let counts: [String: Int]
    let tokens: [Token]
    /// Why the fleet's workers could not read it: a dead-letter reason.
    let refusedAs: String?
    let next: String?
    let coverage: Coverage

    struct Token: Encodable, Equatable {
        /// As logs show it, such as `9f86…0a1b`.
        let token: String
        /// Tells it from others that look the same; stable.
        let name: String
        let state: String
        /// Both only for the endpoint that is asked for: the trail keeps no tokens.
        let endpointArn: String?
        let apnsId: String?
        /// The AMQP message that it is in.
        let message: String
        let attempts: [Attempt]
        /// When it is tried again, about, or its time.
        let due: String?
        /// Why it waits, or became a dead letter.
        let reason: String?
        /// Since when Apple knows that the token is gone.
        let invalidSince: String?
    }

    struct Attempt: Encodable, Equatable {
        let number: Int
        let at: String
        let latencyMs: Int64
        /// Apple's; nil without an answer.
        let status: Int?
        let reason: String?
        /// Why there was no answer, and whether Apple may have the push all the same.
        let unanswered: String?
        let mayBeSent: Bool?
    }

    struct Coverage: Encodable, Equatable {
        /// `on`, or `off`: there is no trail, since it is switched off or nothing was written for as long as it is
        /// kept.
        let trail: String
        /// Nothing older is known.
        let since: String?
        /// Nothing older is known of what went well at once, and of everything else: later than `since` if memory was
        /// short.
        let deliveredSince: String?
        let othersSince: String?
        /// Messages that workers could not write down.
        let lost: Int64
        let lostAt: String?
        /// Parts of the trail that could not be read.
        let unreadable: Int
    }

    /// - Returns: nil if nothing is known of the message.
    init?(_ facts: MessageFacts) {
        guard facts.isKnown else { return nil }
        let wanted = facts.wanted.map { TrailToken($0.digits) }
        var tokens: [Token] = []
        var states: [MessageStory.Token.State: Int] = [:]
        var unknown = 0
        for story in facts.stories {
            let shown = story.tokens.filter { wanted == nil || $0.identity == wanted }
            for token in shown { states[token.state, default: 0] += 1 }
            tokens += shown.map { Token($0, of: story, facts.wanted) }
            guard wanted == nil else { continue }
            let rest = max(0, story.tokenCount - story.tokens.count)
            if story.deliveries.last?.refusal != nil {
                states[.deadLetter, default: 0] += rest
            } else {
                unknown += rest
            }
        }
        self.messageId = facts.id
        self.state = Self.state(facts, states)
        self.publishedAt = facts.stories.map(\.published).min()?.iso8601
        self.fanOut = facts.fanOut
        let chunks = facts.fanOut?.chunks ?? 1
        let isWhole = chunks <= 1 && facts.fanOut?.done != false
        self.scope = wanted != nil ? .endpoint : isWhole ? .message : .page
        let counted = states.filter { $0.value > 0 }
        var counts = Dictionary(uniqueKeysWithValues: counted.map { ($0.key.rawValue, $0.value) })
        if unknown > 0 { counts["unknown"] = unknown }
        self.counts = counts
        self.tokens = tokens
        self.refusedAs = facts.stories.compactMap { $0.deliveries.last?.refusal?.rawValue }.first
        self.next = wanted == nil && facts.chunk + 1 < chunks ? PageToken.encode("\(facts.chunk + 1)") : nil
        self.coverage = Coverage(facts.coverage, unreadable: facts.unreadable)
    }

    private static func state(_ facts: MessageFacts, _ states: [MessageStory.Token.State: Int]) -> State {
        if facts.schedule == "cancelled" { return .cancelled }
        if facts.schedule == "planned" { return .scheduled }
        if let fanOut = facts.fanOut, !fanOut.done { return fanOut.chunks == 0 ? .published : .sending }
        guard !facts.stories.isEmpty else { return .published }
        let isSettled = states.allSatisfy { $0.value == 0 || Self.isSettled($0.key) }
        guard isSettled else { return .sending }
        // Without the schedule's own word: it is kept for a day, the trail maybe for longer.
        return !states.isEmpty && states.keys.allSatisfy { $0 == .cancelled } ? .cancelled : .done
    }

    private static func isSettled(_ state: MessageStory.Token.State) -> Bool {
        switch state {
        case .delivered, .deadLetter, .gone, .cancelled: true
        case .waiting, .sent, .retry, .held: false
        }
    }

    /// What is told when nothing is known.
    static func nothing(_ facts: MessageFacts) -> SNSError {
        let coverage = facts.coverage
        guard let since = coverage.since else {
            return .notFound("Nothing is known of this message: the trail is off, or no worker has written any yet")
        }
        var text = "Nothing is known of this message. The trail begins \(since.iso8601)"
        if let plain = coverage.plainSince { text += ", for what went well at once \(plain.iso8601)" }
        if let kept = coverage.keptSince { text += ", for everything else \(kept.iso8601)" }
        if coverage.lost > 0 { text += "; \(coverage.lost) messages could not be written" }
        return .notFound(text + "; what no worker has received yet is not known either")
    }
}

extension MessageReport.Token {
    init(_ token: MessageStory.Token, of story: MessageStory, _ wanted: MessageFacts.Wanted?) {
        let last = token.steps.last
        self.token = token.identity.redacted
        self.name = token.identity.name
        self.state = token.state.rawValue
        self.endpointArn = wanted?.arn
        self.apnsId = wanted.flatMap {
            story.id.isCut ? nil : ApnsID(messageID: story.id.text, token: $0.digits).string
        }
        self.message = String(decoding: story.id.text, as: UTF8.self)
        self.attempts = token.steps.flatMap(\.answers).map { MessageReport.Attempt($0) }
        self.due = last?.due?.iso8601
        self.reason = last?.reason?.rawValue ?? last?.cause
        self.invalidSince = last?.invalidSince?.iso8601
    }
}

extension MessageReport.Attempt {
    init(_ answer: MessageStory.Answer) {
        self.number = answer.attempt
        self.at = answer.time.iso8601
        self.latencyMs = answer.latency.milliseconds
        switch answer.result {
        case .status(let status, let reason):
            (self.status, self.reason, self.unanswered, self.mayBeSent) = (status, reason, nil, nil)
        case .none(let cause, let mayBeSent):
            (self.status, self.reason, self.unanswered, self.mayBeSent) = (nil, nil, cause, mayBeSent)
        case .unknown: (self.status, self.reason, self.unanswered, self.mayBeSent) = (nil, nil, nil, nil)
        }
    }
}

extension MessageReport.Coverage {
    init(_ coverage: TrailCoverage, unreadable: Int) {
        self.trail = coverage.since == nil ? "off" : "on"
        self.since = coverage.since?.iso8601
        self.deliveredSince = (coverage.plainSince ?? coverage.since)?.iso8601
        self.othersSince = (coverage.keptSince ?? coverage.since)?.iso8601
        self.lost = coverage.lost
        self.lostAt = coverage.lostAt?.iso8601
        self.unreadable = unreadable
    }
}

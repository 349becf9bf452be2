import Push
import SNS
import Testing

@testable import Gateway
@testable import Store

/// What is told of a publish, from what Redis knows of it.
@Suite struct MessageReportTests {
    private static let time = UnixTime(milliseconds: 1_767_225_600_000)
    private static let id = "5b1f2c3d-0a4e-4f6b-8c9d-0123456789ab"
    private static let digits = [Array("9f86d081884c7d65".utf8), Array("1a2b3c4d5e6f7081".utf8)]

    private static func token(
        _ number: Int,
        _ states: [MessageStory.Token.State],
        answers: [MessageStory.Answer] = [],
        due: UnixTime? = nil
    ) -> MessageStory.Token {
        MessageStory.Token(
            identity: TrailToken(Self.digits[number]),
            steps: states.enumerated().map { index, state in
                MessageStory.Step(
                    delivery: index,
                    state: state,
                    time: Self.time,
                    answers: index == 0 ? answers : [],
                    cause: nil,
                    due: due,
                    reason: state == .deadLetter ? .ageLimit : nil,
                    invalidSince: state == .gone ? Self.time : nil,
                    isReturned: false,
                    end: .acknowledged
                )
            }
        )
    }

    private static func story(
        _ tokens: [MessageStory.Token],
        id: String = Self.id,
        of count: Int? = nil,
        refusal: DeadLetterReason? = nil
    ) -> MessageStory {
        let delivery = MessageStory.Delivery(
            worker: nil,
            received: Self.time,
            ended: Self.time,
            end: .acknowledged,
            isRedelivered: false,
            deliveries: 0,
            attempts: 0,
            copies: 0,
            refusal: refusal
        )
        return MessageStory(
            id: TrailID(Array(id.utf8)),
            app: nil,
            lane: nil,
            published: Self.time,
            isBroadcast: false,
            tokenCount: count ?? tokens.count,
            deliveries: [delivery],
            tokens: tokens
        )
    }

    private static func facts(
        _ schedule: String? = nil,
        _ fanOut: MessageFacts.FanOut? = nil,
        _ stories: [MessageStory] = []
    ) -> MessageFacts {
        MessageFacts(id: Self.id, schedule: schedule, fanOut: fanOut, stories: stories)
    }

    @Test("the state follows the schedule, the fan-out and every token")
    func states() {
        typealias FanOut = MessageFacts.FanOut
        let delivered = [Self.story([Self.token(0, [.delivered])])]
        let held = [Self.story([Self.token(0, [.held])])]
        let table: [(MessageFacts, MessageReport.State?)] = [
            (Self.facts(), nil),
            (Self.facts("planned"), .scheduled), (Self.facts("planned", nil, held), .scheduled),
            (Self.facts("cancelled", nil, held), .cancelled), (Self.facts("begun"), .published),
            (Self.facts("begun", nil, delivered), .done), (Self.facts(nil, nil, held), .sending),
            (Self.facts(nil, FanOut(chunks: 0, done: false)), .published),
            (Self.facts(nil, FanOut(chunks: 2, done: false), delivered), .sending),
            (Self.facts(nil, FanOut(chunks: 2, done: true)), .published),
            (Self.facts(nil, FanOut(chunks: 2, done: true), delivered), .done),
            (Self.facts(nil, nil, [Self.story([Self.token(0, [.retry, .delivered])])]), .done),
            (Self.facts(nil, nil, [Self.story([Self.token(0, [.delivered]), Self.token(1, [.retry])])]), .sending),
            (Self.facts(nil, nil, [Self.story([Self.token(0, [.delivered]), Self.token(1, [.gone])])]), .done),
            (Self.facts(nil, nil, [Self.story([Self.token(0, [.held, .cancelled])])]), .cancelled),
            (Self.facts(nil, nil, [Self.story([], of: 3, refusal: .invalidJSON)]), .done),
        ]
        for (facts, state) in table { #expect(MessageReport(facts)?.state == state, "\(facts)") }
    }

    @Test("tokens that the trail has forgotten are counted, and a message that was refused whole says why")
    func counts() throws {
        let some = Self.story([Self.token(0, [.delivered]), Self.token(1, [.deadLetter])], of: 5)
        let report = try #require(MessageReport(Self.facts(nil, nil, [some])))
        #expect(report.counts == ["delivered": 1, "dead_letter": 1, "unknown": 3] && report.scope == .message)
        #expect(report.tokens.compactMap(\.reason) == ["age_limit"])
        let refused = try #require(MessageReport(Self.facts(nil, nil, [Self.story([], of: 2, refusal: .invalidJSON)])))
        #expect(refused.counts == ["dead_letter": 2] && refused.refusedAs == "invalid_json")
    }

    @Test("every attempt is told with Apple's word, and never a whole token")
    func attempts() throws {
        let answers: [MessageStory.Answer] = [
            (1, MessageStory.Answer.Result.status(503, "ServiceUnavailable")), (2, .none("timeout", mayBeSent: true)),
            (3, .status(200, nil)),
        ].map {
            MessageStory.Answer(time: Self.time, latency: .milliseconds(41), connection: 1, attempt: $0.0, result: $0.1)
        }
        var facts = Self.facts(nil, nil, [Self.story([Self.token(0, [.delivered], answers: answers)])])
        let token = try #require(MessageReport(facts)?.tokens.first)
        #expect(token.token == "9f86…7d65" && token.apnsId == nil && token.endpointArn == nil)
        #expect(token.attempts.map(\.status) == [503, nil, 200] && token.attempts.map(\.number) == [1, 2, 3])
        #expect(token.attempts.map(\.unanswered) == [nil, "timeout", nil] && token.attempts[1].mayBeSent == true)
        #expect(token.attempts.allSatisfy { $0.latencyMs == 41 && $0.at == "2026-01-01T00:00:00.000Z" })
        facts.wanted = MessageFacts.Wanted(arn: "arn", digits: Self.digits[0])
        let known = try #require(MessageReport(facts))
        #expect(known.scope == .endpoint && known.tokens.first?.endpointArn == "arn")
        #expect(known.tokens.first?.apnsId?.utf8.count == 36)
        let text = String(decoding: MessageLookUp.json(known), as: UTF8.self)
        #expect(!text.contains("9f86d081") && text.contains(#""latency_ms":41"#) && !text.contains("fan_out"))
        facts.wanted = MessageFacts.Wanted(arn: "arn", digits: Self.digits[1])
        #expect(MessageReport(facts)?.tokens == [])
    }

    @Test("pages lead to each other, and to no other")
    func pages() throws {
        let fanOut = MessageFacts.FanOut(chunks: 3, done: true)
        var facts = Self.facts(nil, fanOut)
        var seen = [0]
        while let next = MessageReport(facts)?.next {
            facts.chunk = try MessageLookUp.chunk(next, of: fanOut)
            seen.append(facts.chunk)
        }
        #expect(seen == [0, 1, 2] && MessageReport(facts)?.scope == .page)
        for next in ["zz", PageToken.encode("3"), PageToken.encode("-1"), PageToken.encode("x")] {
            #expect(throws: SNSError.self) { _ = try MessageLookUp.chunk(next, of: fanOut) }
        }
        #expect(throws: SNSError.self) { _ = try MessageLookUp.chunk(PageToken.encode("1"), of: nil) }
    }

    @Test("nothing found says since when the trail knows, or that there is none")
    func nothing() {
        var facts = Self.facts()
        #expect(MessageReport.nothing(facts).message.contains("the trail is off"))
        #expect(MessageReport.nothing(facts).status == 404)
        facts.coverage = TrailCoverage([
            "1767225600": .string(Array("1767225600000 1767225700000 10 10".utf8)),
            "plain_since": .string(Array("1767229200000".utf8)), "lost": .string(Array("7".utf8)),
        ])
        let text = MessageReport.nothing(facts).message
        #expect(text.contains("begins 2026-01-01T00:00:00.000Z") && text.contains("at once 2026-01-01T01:00:00.000Z"))
        #expect(text.contains("7 messages could not be written"))
        facts.schedule = "begun"
        #expect(MessageReport(facts)?.coverage.deliveredSince == "2026-01-01T01:00:00.000Z")
    }
}

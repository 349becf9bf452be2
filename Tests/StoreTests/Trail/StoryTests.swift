import Push
import TestRandom
import Testing

@testable import Store

@Suite struct StoryTests {
    private static let names: [UInt32: SessionNames] = [
        7: SessionNames([
            "worker": .string(Array("host:1".utf8)), "1": .string(Array("line now:com.example.shop".utf8)),
            "2": .string(Array("answer 503 ServiceUnavailable".utf8)), "3": .string(Array("reason age_limit".utf8)),
            "4": .string(Array("failure timeout maybe".utf8)), "5": .string(Array("cause TooManyRequests".utf8)),
            "6": .string(Array("answer 410 Unregistered".utf8)), "x": .string([1]), "9": .integer(3),
        ])
    ]

    /// The records of a log, as they would be found.
    private static func records(_ fill: (TrailLog) -> Void, session: UInt32 = 7) -> [TrailRecord] {
        let log = TrailLog()
        fill(log)
        return TrailRig.records(TrailRig.take(log, session: session))
    }

    private static func failed(_ number: Int, _ state: TrailState, name: UInt16, detail: UInt32) -> TokenTrace {
        var token = TrailRig.token(number, state)
        (token.isAnswered, token.sends, token.time, token.name, token.detail) = (true, 1, 50, name, detail)
        return token
    }

    /// A message of three tokens: one went well, one was tried again and then died, one is gone.
    private static var life: [TrailRecord] {
        let later = TrailRig.time + .seconds(10)
        return Self.records {
            TrailRig.append(
                TrailRig.message(),
                "m",
                [
                    TrailRig.token(1), Self.failed(2, .retry, name: 2, detail: 10_000),
                    Self.failed(3, .gone, name: 6, detail: 1_767_000_000),
                ],
                to: $0
            )
        }
            + Self.records {
                let message = TrailRig.message(later, attempts: 1, copies: 1)
                TrailRig.append(message, "m", [Self.failed(2, .deadLetter, name: 4, detail: 3)], to: $0)
            }
    }

    @Test func `A story tells who had the message, and of each token what became of it and why`() throws {
        let story = try #require(StoryTeller.story(of: Self.life, names: Self.names))
        #expect(story.app == "com.example.shop" && story.lane == "now" && story.tokenCount == 3)
        #expect(story.published == TrailRig.time - .milliseconds(5))
        #expect(story.deliveries.map(\.worker) == ["host:1", "host:1"] && story.deliveries.map(\.copies) == [0, 1])
        #expect(story.counts == [.delivered: 1, .deadLetter: 1, .gone: 1])
        let tokens = Dictionary(uniqueKeysWithValues: story.tokens.map { ($0.identity, $0) })
        let good = try #require(tokens[TrailToken(TrailRig.digits(1))])
        #expect(good.steps.map { $0.answers.map(\.result) } == [[.status(200, nil)]])
        #expect(good.steps[0].time == TrailRig.time + .milliseconds(40))
        let dead = try #require(tokens[TrailToken(TrailRig.digits(2))])
        #expect(dead.steps.map(\.state) == [.retry, .deadLetter])
        #expect(dead.steps[0].due == TrailRig.time + .milliseconds(10_050))
        #expect(dead.steps.flatMap(\.answers).map(\.attempt) == [1, 2])
        #expect(dead.steps[0].answers[0].result == .status(503, "ServiceUnavailable"))
        #expect(dead.steps[1].answers[0].result == .none("timeout", mayBeSent: true))
        #expect(dead.steps[1].reason == .ageLimit)
        let gone = try #require(tokens[TrailToken(TrailRig.digits(3))])
        #expect(gone.steps[0].invalidSince == UnixTime(seconds: 1_767_000_000))
        let text = String(decoding: TrailRig.digits(3), as: UTF8.self)
        #expect(gone.identity.redacted == DeviceToken.redacted(text))
    }

    @Test func `In whatever order records are found, and however often, the story is the same`() {
        let expected = StoryTeller.story(of: Self.life, names: Self.names)
        for seed in 0..<200 {
            var random = SeededRandom(spreading: UInt64(seed))
            var records = Self.life + Self.life.filter { _ in random.chance(0.5) }
            records.shuffle(using: &random)
            #expect(StoryTeller.story(of: records, names: Self.names) == expected)
        }
        #expect(StoryTeller.story(of: [], names: Self.names) == nil)
    }

    @Test func `What was written of a message that was not over gives way to what was written at its end`() throws {
        var waiting = TrailRig.token(1, .sent)
        (waiting.sends, waiting.time) = (1, 12)
        var early = TrailRig.message(end: .open)
        early.ended = TrailRig.time + .milliseconds(50)
        let open = Self.records { TrailRig.append(early, "m", [waiting], to: $0) }
        let first = try #require(StoryTeller.story(of: open, names: Self.names))
        #expect(first.deliveries[0].end == .open && first.tokens[0].state == .sent)
        #expect(first.tokens[0].steps[0].time == TrailRig.time + .milliseconds(12))
        let closed = Self.records { TrailRig.append(TrailRig.message(), "m", [TrailRig.token(1)], to: $0) }
        let both = try #require(StoryTeller.story(of: closed + open, names: Self.names))
        #expect(both.deliveries.count == 1 && both.deliveries[0].end == .acknowledged)
        #expect(both.tokens.map(\.state) == [.delivered] && both.tokens[0].steps.count == 1)
    }

    @Test func `Earlier answers of one delivery stand before the last one`() throws {
        var first = TrailRig.token(1, .waiting)
        (first.time, first.name, first.connection) = (5, 4, 1)
        var last = TrailRig.token(1)
        last.sends = 2
        let records = Self.records {
            TrailRig.append(TrailRig.message(), "m", [last], [EarlierAnswer(0, first)], to: $0)
        }
        let answers = try #require(StoryTeller.story(of: records, names: Self.names)).tokens[0].steps[0].answers
        #expect(answers.map(\.result) == [.none("timeout", mayBeSent: true), .status(200, nil)])
        #expect(answers.map(\.connection) == [1, 2])
    }

    @Test func `Without the session's names the story is told as far as it goes`() throws {
        let story = try #require(StoryTeller.story(of: Self.life, names: [:]))
        #expect(story.app == nil && story.deliveries.allSatisfy { $0.worker == nil } && story.tokens.count == 3)
        #expect(story.tokens.flatMap(\.steps).flatMap(\.answers).contains { $0.result == .unknown })
        #expect(story.counts == [.delivered: 1, .deadLetter: 1, .gone: 1])
    }

    @Test func `Pages of tokens are all of them, each once`() throws {
        let tokens = (0..<100).map { TrailRig.token($0) }
        let records = Self.records { TrailRig.append(TrailRig.message(), "m", tokens, to: $0) }
        let story = try #require(StoryTeller.story(of: records, names: Self.names))
        var seen: [TrailToken] = []
        while true {
            let page = story.tokens(after: seen.last?.name, limit: 7)
            if page.isEmpty { break }
            seen += page.map(\.identity)
        }
        #expect(seen == story.tokens.map(\.identity) && Set(seen).count == 100)
        #expect(story.tokens(after: "zzzz", limit: 7).isEmpty)
    }
}

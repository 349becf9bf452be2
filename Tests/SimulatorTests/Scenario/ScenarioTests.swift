import Testing

@testable import Simulator

@Suite struct ScenarioTests {
    private static func read(_ text: String) throws -> Scenario {
        try Scenario(text: text) { name throws(ScenarioProblem) in
            guard name == "key.pem" else { throw ScenarioProblem(path: "", text: "\(name) does not exist") }
            return TestKey.shared.key.pem
        }
    }

    /// What is wrong with a scenario: line, path and text of each problem.
    private static func problems(_ text: String) -> [ScenarioProblem] {
        do {
            _ = try Self.read(text)
            return []
        } catch let failure as ScenarioFailure {
            return failure.problems
        } catch {
            Issue.record("\(error)")
            return []
        }
    }

    @Test func `A scenario says how it starts, and what happens when`() throws {
        let scenario = try Self.read(
            """
            description: |
              An afternoon. With more to it.
              And more.
            seed: 7
            begins: first_request
            start:
              environment: sandbox
              bundle_ids: [com.example.shop]
              latency_ms: 20
              streams: 10
            keys:
              - {id: KEY1234567, team: TEAM123456, public_key_file: key.pem}
            tokens:
              - {token: 00ff, state: unregistered, at: 1700000000123}
              - {tokens: [0011, "1234"], state: other_topic, topic: a.b}
            rules:
              - {id: slow, match: {every: 10}, action: {type: pass}, delay_ms: 500}
            timeline:
              - at: 2s
                add_rule: {id: outage, action: {type: answer, status: 503, reason: ServiceUnavailable}}
                drop:
              - after: {requests: 500}
                repeat: {every: 1s, times: 20}
                goaway: {reason: Shutdown}
              - at: 5m
                remove_rule: outage
                revoke_key: KEY1234567
                set_token: {token: 00ff, state: active}
                settings: {initial_streams: 1}
                remove_rules:
            """
        )
        #expect(scenario.title == "An afternoon.")
        #expect(scenario.seed == 7)
        #expect(scenario.orders.map(\.name) == [.settings, .addKey, .setToken, .setToken, .addRule])
        guard case .setTokens(let tokens, let order) = scenario.orders[3] else {
            Issue.record("\(scenario.orders[3])")
            return
        }
        #expect(tokens == [[0x00, 0x11], [0x12, 0x34]] && order.topic == "a.b" && order.state == .otherTopic)
        #expect(scenario.timeline.origin == .firstRequest)
        let steps = scenario.timeline.steps
        #expect(steps.map(\.trigger) == [.time(.seconds(2)), .count(.requests, 500), .time(.seconds(300))])
        #expect(steps[0].orders.map(\.name) == [.addRule, .drop])
        #expect(steps[1].repetition == Timeline.Repetition(every: .seconds(1), times: 20))
        #expect(steps[2].orders.map(\.name) == [.removeRule, .revokeKey, .setToken, .settings, .removeRules])
    }

    /// Each with the line, the path, and a piece of the text of the only problem.
    static let bad: [(text: String, line: Int?, path: String, problem: String)] = [
        ("", nil, "", "must be a mapping"),
        ("- a", nil, "", "must be a mapping"),
        ("description: a\n b: [", 2, "", "is not YAML"),
        ("description: a\nseed: 1\nseed: 2", nil, "", "twice"),
        ("seed: 1", nil, "description", "is required"),
        ("description: a\nsed: 1", 2, "sed", "did you mean seed?"),
        ("description: a\nseed: -1", 2, "seed", "whole number"),
        ("description: a\nbegins: first_reqest", 2, "begins", "did you mean first_request?"),
        ("description: a\nstart:\n  latency: 5", 3, "start.latency", "is not known here"),
        ("description: a\nstart:\n  strems: 5", 3, "start.strems", "did you mean streams?"),
        ("description: a\nstart:\n  streams: many", 3, "start.streams", "whole number from 1"),
        ("description: a\nstart:\n  environment: sandbx", 3, "start.environment", "did you mean sandbox?"),
        ("description: a\ntokens:\n  - {token: 12, state: active}", 3, "tokens[0].token", "put it in quotes"),
        ("description: a\ntokens:\n  - {token: 0x12, state: active}", 3, "tokens[0].token", "hexadecimal"),
        ("description: a\ntokens:\n  - {token: ab, state: gone}", 3, "tokens[0].state", "must be one of active"),
        ("description: a\ntokens: {token: ab}", 2, "tokens", "must be a list"),
        ("description: a\nkeys:\n  - {id: a, team: b, public_key: c}", 3, "keys[0].public_key", "P-256"),
        (
            "description: a\nkeys:\n  - {id: a, team: b, public_key_file: c}", 3, "keys[0].public_key_file",
            "c does not exist"
        ),
        (
            "description: a\nrules:\n  - action: {type: drop}\n  - action:\n      type: explode", 5,
            "rules[1].action.type", "must be one of pass"
        ),
        (
            "description: a\nrules:\n  - match:\n      probablity: 0.5\n    action: {type: drop}", 4,
            "rules[0].match.probablity", "did you mean probability?"
        ),
        (
            "description: a\nrules:\n  - match:\n      probability: 2\n    action: {type: drop}", 4,
            "rules[0].match.probability", "from 0.0 to 1.0"
        ),
        ("description: a\ntimeline:\n  - drop:", 3, "timeline[0]", "needs at"),
        ("description: a\ntimeline:\n  - at: 5", nil, "timeline[0]", "does nothing"),
        ("description: a\ntimeline:\n  - at: 5\n    drop:", 3, "timeline[0].at", "such as 250ms"),
        ("description: a\ntimeline:\n  - at: -5s\n    drop:", 3, "timeline[0].at", "such as 250ms"),
        ("description: a\ntimeline:\n  - at: 31h\n    dorp:", 4, "timeline[0].dorp", "did you mean drop?"),
        ("description: a\ntimeline:\n  - at: 5s\n    fire:", 4, "timeline[0].fire", "the orders are add_rule"),
        (
            "description: a\ntimeline:\n  - at: 5s\n    after: {requests: 1}\n    drop:", 4, "timeline[0].after",
            "cannot stand beside at"
        ),
        ("description: a\ntimeline:\n  - after: {requsts: 1}\n    drop:", 3, "timeline[0].after.requsts", "requests?"),
        ("description: a\ntimeline:\n  - after: {}\n    drop:", 3, "timeline[0].after", "must hold one of"),
        (
            "description: a\ntimeline:\n  - at: 1s\n    repeat: {every: 0s}\n    drop:", 4,
            "timeline[0].repeat.every", "above zero"
        ),
        (
            "description: a\ntimeline:\n  - at: 1s\n    goaway:\n      code: NO_EROR", 5, "timeline[0].goaway.code",
            "HTTP/2 error code"
        ),
        (
            "description: a\nrules:\n  - {id: outage, action: {type: drop}}\ntimeline:\n  - at: 1s\n"
                + "    remove_rule: outgae", 6, "timeline[0].remove_rule", "did you mean outage?"
        ),
    ]

    @Test func `What is wrong is told with its line, its path and the fix`() {
        for (text, line, path, problem) in Self.bad {
            let problems = Self.problems(text)
            #expect(
                problems.contains { $0.path == path && $0.text.contains(problem) && (line == nil || $0.line == line) },
                "\(text): \(problems)"
            )
        }
    }

    @Test func `All that is wrong is told at once, by line`() {
        let problems = Self.problems(
            """
            descripton: a
            timeline:
              - at: 2x
                drop:
              - at: 2s
                add_rule: {action: {type: explode}}
            """
        )
        #expect(problems.compactMap(\.line) == problems.compactMap(\.line).sorted())
        #expect(problems.map(\.path).contains("timeline[0].at"))
        #expect(problems.map(\.path).contains("timeline[1].add_rule.action.type"))
        #expect(problems.map(\.path).contains("descripton") || problems.map(\.path).contains("description"))
    }

    @Test func `Aliases of aliases are not followed without end`() {
        let rows = (0..<20).map { "a\($0 + 1): &a\($0 + 1) [*a\($0), *a\($0), *a\($0), *a\($0)]" }
        let problems = Self.problems("description: a\na0: &a0 x\n" + rows.joined(separator: "\n"))
        #expect(problems.map(\.text) == ["holds more than 100000 values"])
    }

    @Test func `Whatever the file has become, it is a scenario or told what is wrong`() throws {
        let good = """
            description: a
            start: {latency_ms: [1, 2], bundle_ids: any}
            tokens: [{token: 00ff, state: unregistered, at: 1}]
            rules: [{id: r, match: {every: 2}, action: {type: goaway, reason: X, last_stream: zero}}]
            timeline:
              - {at: 2s, repeat: {every: 1s, times: 3}, drop: }
              - after: {requests: 5}
                remove_rule: r
                clock: {skew_ms: -5}
            """
        #expect(Self.problems(good).isEmpty)
        var random = SeededRandom(seed: 7)
        var refused = 0
        for _ in 0..<2000 {
            var bytes = Array(good.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = UInt8.random(in: 0..<128, using: &random)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                }
            }
            let problems = Self.problems(String(decoding: bytes, as: UTF8.self))
            if !problems.isEmpty { refused += 1 }
            #expect(problems.allSatisfy { !$0.text.isEmpty })
        }
        #expect(refused > 500)
    }
}

import Push
import Simulator
import TestServers
import Testing

/// What Apple says of tokens: which are gone, which are only suspect, and when it is the app that is wrong.
@Suite struct TokenScenarioTests {
    @Test func `Dirty tokens: gone ones are told once with Apple's time, suspects are kept apart`() async throws {
        try await Stage.play("dirty-tokens") { stage in
            try await stage.startWorker()
            try await stage.publish(640)
            let outcome = try await stage.finish()
            let tokens = (0..<640).map(Stage.token)
            func beginning(with first: String, _ second: String) -> Set<String> {
                Set(tokens.filter { $0.hasPrefix(first) || $0.hasPrefix(second) })
            }
            outcome.expectHonest("dirty-tokens", "\(outcome.hits("unregistered")) unregistered")
            #expect(outcome.hits("unregistered") == 40 && outcome.hits("bad") > 0)
            #expect(outcome.gone.count == 80 && Set(outcome.gone) == beginning(with: "0", "1"))
            #expect(outcome.goneTimes == [1_700_000_000_123, 1_700_000_000_456])
            #expect(outcome.suspects == beginning(with: "2", "30"))
            #expect(outcome.accepted.count == 517 && outcome.hits("foreign") == 3)
            #expect(outcome.summary?.afterGone == 0)
            // The connection's patience with Apple was used up, and its messages went elsewhere.
            #expect(outcome.summary?.connectionsOpened ?? 0 > 1)
        }
    }

    @Test func `Wrong environment: the app stops, and no token is told as gone`() async throws {
        try await Stage.play("wrong-environment-app") { stage in
            try await stage.startWorker()
            try await stage.publish(3000)
            try await eventually("the breaker opens") { stage.counters()["breaker_opened"] ?? 0 > 0 }
            let outcome = try await stage.count()
            outcome.expectHonest("wrong-environment-app", "\(outcome["breaker_opened"]) times stopped")
            #expect(outcome.count(of: "BadDeviceToken") > 0)
            #expect(outcome.gone.isEmpty && outcome.accepted.isEmpty)
            // What was under way when it opened is spent; the queue is not.
            #expect(outcome.waiting.count > 1500)
            #expect(outcome.suspects.count == 3000 - outcome.waiting.count)
        }
    }
}

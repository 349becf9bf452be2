import Push
import Simulator
import TestServers
import Testing

/// What Apple says of the sender, not of a message: everything waits, nothing is given up, no connects in a loop.
@Suite struct CredentialScenarioTests {
    @Test func `Key revoked: everything waits, and goes on by itself when the key is good again`() async throws {
        try await Stage.play("key-revoked") { stage in
            let outcome = try await Self.refusedAndBack(stage)
            let refused = outcome.count(of: "InvalidProviderToken")
            outcome.expectHonest("key-revoked", "\(refused) refused")
            #expect(refused > 0 && outcome["credential_pauses"] >= 1)
            // What was under way when the key went is refused once; then single probes.
            #expect(refused < 300)
            #expect(outcome.deadCount == 0 && outcome.gone.isEmpty)
            #expect(outcome.accepted.count == outcome.published)
        }
    }

    @Test func `Certificate of the wrong environment: the GOAWAY is believed, and connects stay few`() async throws {
        try await Stage.play("wrong-environment-certificate") { stage in
            try await stage.startWorker()
            try await stage.publish(200)
            try await eventually("the certificate is refused") { stage.counters()["credential_pauses"] ?? 0 > 0 }
            let accepted = try await stage.simulator.summary().accepted
            #expect(accepted == 0)
            let outcome = try await stage.finish()
            outcome.expectHonest("wrong-environment-certificate", "\(outcome["credential_pauses"]) pauses")
            #expect(outcome["credential_pauses"] >= 1)
            #expect(outcome.deadCount == 0 && outcome.gone.isEmpty && outcome.duplicates == 0)
            #expect(outcome.accepted.count == 200)
            #expect(outcome.summary?.connectionsOpened ?? .max < 10)
        }
    }

    @Test func `Expired provider token: one new token, then everything waits until the clocks agree`() async throws {
        try await Stage.play("expired-provider-token") { stage in
            let outcome = try await Self.refusedAndBack(stage)
            let expired = outcome.count(of: "ExpiredProviderToken")
            outcome.expectHonest("expired-provider-token", "\(expired) refused")
            // Not each message is refused: what is wrong is believed.
            #expect(expired > 0 && expired < 50)
            // The one of the start, and at most one more: Apple's 20 minutes are not over.
            #expect(outcome.summary?.providerTokens.count ?? .max <= 2)
            #expect(outcome.count(of: "TooManyProviderTokenUpdates") == 0)
            #expect(outcome.deadCount == 0 && outcome.gone.isEmpty)
            #expect(outcome.accepted.count == outcome.published)
        }
    }

    /// Publishes before and during the time in which the credential is refused, and waits for the end.
    private static func refusedAndBack(_ stage: Stage) async throws -> Outcome {
        try await stage.startWorker()
        var next = 0
        // One push after the other, so that the fault meets pushes whenever it comes.
        try await eventually("the credential is refused") {
            try await stage.publish((next..<next + 20).map(Stage.token))
            next += 20
            return try await stage.simulator.summary().verdicts.contains { $0.status == 403 }
        }
        try await stage.publish((next..<next + 200).map(Stage.token))
        return try await stage.finish()
    }
}

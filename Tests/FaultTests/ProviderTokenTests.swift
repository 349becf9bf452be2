import Foundation
import Push
import Simulator
import TestRandom
import TestServers
import Testing

extension FaultTests {
    /// Apple asks that a provider token be renewed no more often than every 20 minutes.
    @Suite("Provider tokens of a fleet")
    struct ProviderTokens {
        @Test("Eight workers restarted ten times in a row use exactly one provider token per key")
        func restarted() async throws {
            try await Fleet.run(latency: .milliseconds(100), worker: ["prefetch_per_connection: 20"]) { fleet in
                let seed = Seed()
                var random = seed.random
                fleet.maxConnections = 16
                let news = AppID("com.example.news")!
                try await fleet.add([
                    Fleet.Credential(name: "second", key: SigningKey(id: "KEY7654321"), connections: 16, apps: [news])
                ])
                var ends: [Int32: Int] = [:]
                var atRisk = 0
                for round in 0...10 {
                    let workers = try (0..<8).map { _ in try fleet.startWorker() }
                    for worker in workers { try await worker.isReady() }
                    let accepted = try await fleet.simulator.summary().accepted
                    try await fleet.publish(100)
                    try await fleet.publish(100, to: news)
                    try await eventually("pushes go through") {
                        try await fleet.simulator.summary().accepted >= accepted + 100
                    }
                    guard round < 10 else { break }
                    let signals = workers.map { _ in random.chance(0.5) ? SIGKILL : SIGTERM }
                    atRisk += signals.count { $0 == SIGKILL } > 0 ? 200 : 0
                    for (worker, signal) in zip(workers, signals) {
                        worker.signal(signal)
                        ends[signal, default: 0] += 1
                    }
                    for worker in workers { try await worker.waitForEnd() }
                }
                let verdict = try await fleet.finish()
                let summary = try await fleet.simulator.summary()
                let tokens = summary.providerTokens.sorted { $0.keyID < $1.keyID }
                verdict.show(
                    "8 workers restarted 10 times",
                    "\(seed), \(ends[SIGKILL] ?? 0) by kill -9 and \(ends[SIGTERM] ?? 0) by SIGTERM, "
                        + "\(summary.connectionsOpened) connections; \(tokens.count) provider tokens: "
                        + tokens.map { "\($0.keyID) on \($0.requests) requests" }.joined(separator: ", ")
                )
                verdict.expectNothingLost(duplicates: atRisk, budgets: 2)
                #expect(tokens.map(\.keyID) == ["KEY1234567", "KEY7654321"], "one token per key")
                #expect(tokens.allSatisfy { $0.requests >= 1000 })
                #expect(verdict.deadLettered == 0)
                #expect((ends[SIGKILL] ?? 0) > 0 && (ends[SIGTERM] ?? 0) > 0)
                #expect(summary.connectionsOpened >= 88, "every process had connections of its own")
            }
        }
    }
}

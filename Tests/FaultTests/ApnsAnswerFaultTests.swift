import Broker
import Foundation
import Push
import Simulator
import Store
import TestFleet
import TestServers
import Testing

extension FaultTests {
    @Suite("What Apple answers")
    struct ApnsAnswerFaults {
        @Test("F56: half a minute of 503 opens the circuit, the queue grows, and all flows soon after")
        func unavailable() async throws {
            try await Fleet.run(latency: .milliseconds(50)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(1000)
                try await fleet.waitForAccepted(500)
                try await fleet.simulator.addRule(
                    .init(id: "outage", action: .answer(status: 503, reason: "ServiceUnavailable", body: nil))
                )
                try await fleet.publish(6000)
                try await worker.logs("Paused: Apple answers with 5xx")
                let opened = ContinuousClock.now
                let refused = LedgerFilter(status: 503, limit: 1_000_000)
                // What was on its way when it opened.
                try await eventually("everything sent is answered") { try await fleet.inFlight() == 0 }
                let before = try await fleet.simulator.requests(refused).count
                try await fleet.publish(2000)
                try await Task.sleep(for: .seconds(32))
                let waiting = try await fleet.ready()
                let probes = try await fleet.simulator.requests(refused).count - before
                let open = ContinuousClock.now - opened
                #expect(waiting >= 2000, "the queue grows")
                #expect(probes >= 2, "it did probe")
                #expect(probes <= Int(open.components.seconds), "at most one a second")
                try await fleet.simulator.removeRules()
                let recovery = try await worker.logs("Resumed: Apple answers again", within: .seconds(30))
                let verdict = try await fleet.finish()
                verdict.show(
                    "F56 503 for \(open.seconds) (shortened from 10 min)",
                    "\(before) attempts spent before it opened, \(probes) probes, \(waiting) waiting, flowing again "
                        + "after \(recovery.seconds)"
                )
                verdict.expectNothingLost()
                #expect(verdict.deadLettered == 0)
                #expect(recovery < .seconds(30))
                #expect(before <= Fleet.mostHeld, "only what was on its way spent an attempt")
            }
        }

        @Test("F57: a revoked key pauses the app; nothing is dead-lettered, an alert is counted")
        func revoked() async throws {
            try await Fleet.run(latency: .milliseconds(20)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(1000)
                try await fleet.waitForAccepted(500)
                try await fleet.simulator.revokeKey("KEY1234567")
                try await fleet.publish(2000)
                try await self.expectPause(
                    of: worker,
                    fleet,
                    reason: "InvalidProviderToken",
                    heal: { try await fleet.registerKey() },
                    name: "F57 InvalidProviderToken"
                )
            }
        }

        @Test("F57: a provider token called expired is asked for once more, then the app pauses")
        func expired() async throws {
            try await Fleet.run(latency: .milliseconds(20)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(1000)
                try await fleet.waitForAccepted(500)
                try await fleet.simulator.addRule(
                    .init(id: "expired", action: .answer(status: 403, reason: "ExpiredProviderToken", body: nil))
                )
                try await fleet.publish(2000)
                try await self.expectPause(
                    of: worker,
                    fleet,
                    reason: "ExpiredProviderToken",
                    heal: { try await fleet.simulator.removeRules() },
                    name: "F57 ExpiredProviderToken"
                )
                // Younger than 20 minutes, it must not be replaced: Apple would answer TooManyProviderTokenUpdates.
                #expect(try await fleet.simulator.summary().providerTokens.count <= 2)
            }
        }

        private func expectPause(
            of worker: WorkerProcess,
            _ fleet: Fleet,
            reason: String,
            heal: () async throws -> Void,
            name: String
        ) async throws {
            try await worker.logs("Paused: Apple refuses the credential")
            let refused = LedgerFilter(reason: reason, limit: 1_000_000)
            try await eventually("everything sent is answered, and the rest is back") {
                guard try await fleet.inFlight() == 0 else { return false }
                return try await fleet.ready() >= 1500
            }
            let spent = try await fleet.simulator.requests(refused)
            #expect(spent.count > 0)
            let connections = Set(spent.map(\.connection))
            try await eventually("the connections that were refused are closed") {
                let open = try await fleet.simulator.connections(limit: 10_000).filter { $0.closedAt == nil }
                return connections.isDisjoint(with: open.map(\.number))
            }
            // Nothing but probes from here on.
            try await Task.sleep(for: .seconds(2))
            #expect(try await fleet.simulator.requests(refused).count == spent.count)
            #expect(try await fleet.dead() == 0)
            let counters = Keys.counters(app: Fleet.app.name, lane: "now")
            try await eventually("the alert is counted") {
                (Int(try fleet.redis.cli("HGET", counters, "credential_pauses")) ?? 0) >= 1
            }
            try await heal()
            let resumed = try await worker.logs("Resumed: Apple takes pushes of this app again", within: .seconds(60))
            let verdict = try await fleet.finish()
            verdict.show(name, "\(spent.count) requests refused, flowing again after \(resumed.seconds)")
            verdict.expectNothingLost()
            #expect(verdict.deadLettered == 0)
        }
    }
}

extension Fleet {
    /// The fleet's key is good again.
    func registerKey() async throws { try await self.simulator.addKey(TestFleet.key()) }
}

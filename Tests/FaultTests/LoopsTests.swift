import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("A worker process that follows its configuration, with several loops")
    struct Loops {
        @Test("Two loops share the budget, SIGTERM drains both, and nothing is lost or sent twice")
        func twoLoops() async throws {
            try await Fleet.run(latency: .milliseconds(500)) { fleet in
                let worker = try fleet.startWorker(["--loops", "2"])
                try await worker.isReady()
                try await fleet.publish(6000)
                try await eventually("each loop has half of the budget") {
                    try await fleet.topUp()
                    return try fleet.grants().sorted() == [2, 2]
                }
                try await fleet.waitForInFlight(200)
                let inFlight = try await fleet.inFlight()
                worker.signal(SIGTERM)
                let (end, drain) = try await worker.waitForEnd()
                #expect(end == .exit(0))
                for loop in 1...2 {
                    #expect(worker.lines("Ready: a connection").count { $0.contains("loop=\(loop)") } == 1)
                    #expect(worker.lines("Drained: everything").count { $0.contains("loop=\(loop)") } == 1)
                }
                #expect(try fleet.grants().allSatisfy { $0 == 0 }, "both leases are given back")
                _ = try fleet.startWorker(["--loops", "2"])
                let verdict = try await fleet.finish()
                verdict.show("Two loops, SIGTERM", "\(inFlight) in flight, exit 0 after \(drain.seconds)")
                verdict.expectNothingLost()
            }
        }

        @Test("The configuration file is followed under load; what is wrong or needs a restart is told once")
        func followed() async throws {
            try await Fleet.run(latency: .milliseconds(100)) { fleet in
                let news = AppID("com.example.news")!
                fleet.moreApps = [news.name]
                try await fleet.declareEmpty()
                let worker = try fleet.startWorker(["--loops", "2"])
                try await worker.isReady()
                try await fleet.publish(6000)
                // Until the second loop has come, the first one may have all connections, and closes some for it.
                try await eventually("each loop has half of the budget") {
                    try await fleet.topUp()
                    return try fleet.grants().sorted() == [2, 2]
                }
                let before = try await fleet.closedConnections()
                try fleet.writeConfiguration()
                try await worker.logs("An app was added", count: 2)
                let tokens = (0..<300).map { String(repeating: "f", count: 58) + "\(100_000 + $0)" }
                _ = try await fleet.session.publish(
                    tokens.map { token in
                        Message(
                            exchange: FleetTopology.exchange,
                            routingKey: FleetTopology.routingKey(app: news, lane: .now),
                            properties: MessageProperties(messageID: Array(token.utf8)),
                            body: Array(#"{"app":"\#(news.name)","tokens":["\#(token)"],"payload":{"aps":{}}}"#.utf8)
                        )
                    }
                )
                try await eventually("the new app's pushes") {
                    let pushes = try await fleet.simulator.requests(LedgerFilter(accepted: true, limit: 1_000_000))
                    return pushes.count { $0.topic == news.name } == tokens.count
                }
                let good = try String(contentsOfFile: fleet.configuration, encoding: .utf8)
                try (good + "\n    lint: sometimes\n").write(
                    toFile: fleet.configuration,
                    atomically: true,
                    encoding: .utf8
                )
                let errors = "has errors; nothing is changed"
                try await worker.logs(errors)
                let restart = good.replacing("quantum: 1s", with: "quantum: 2s")
                try restart.write(toFile: fleet.configuration, atomically: true, encoding: .utf8)
                try await worker.logs("These changes need a restart")
                #expect(worker.lines(errors).count == 1)
                #expect(worker.lines("These changes need a restart")[0].contains("budget.quantum"))
                fleet.moreApps = []
                try fleet.writeConfiguration()
                worker.signal(SIGHUP)
                try await worker.logs("An app was removed", count: 2)
                let closed = try await fleet.closedConnections() - before
                #expect(closed == 0, "no connection to Apple was replaced")
                let verdict = try await fleet.finish()
                #expect(worker.lines("RabbitMQ connection lost").isEmpty)
                verdict.show(
                    "Configuration followed",
                    "an app added and removed under load, \(closed) connections closed"
                )
                verdict.expectNothingLost()
            }
        }
    }
}

extension Fleet {
    fileprivate func closedConnections() async throws -> Int {
        try await self.simulator.connections(limit: 10_000).count { $0.closedAt != nil }
    }
}

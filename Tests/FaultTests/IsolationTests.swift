import Foundation
import Push
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// What happens to one app is nothing to the others.
    @Suite("Isolation of apps")
    struct Isolation {
        private static let healthy = [Fleet.app, AppID("com.example.news")!, AppID("com.example.chat")!]
        private static let window = Duration.seconds(12)
        // Few streams and a fixed latency: what goes through is bounded by 4 · 10 / 0.2 s, not by this machine.
        private static let streams: UInt32 = 10
        private static let worker = [
            "streams_per_connection: 10", "prefetch_per_connection: 60", "request_timeout: 5s", "ping_interval: 5s",
            "ping_timeout: 3s",
        ]

        @Test("One app whose key is revoked and one whose Apple is a black hole take nothing from three others")
        func otherCredentials() async throws {
            try await Fleet.run(latency: .milliseconds(200), streams: Self.streams, worker: Self.worker) { fleet in
                fleet.moreApps = Self.healthy.dropFirst().map(\.name)
                let hole = try await Fleet.startSimulator(latency: .milliseconds(200))
                let (revoked, swallowed) = (AppID("com.example.revoked")!, AppID("com.example.hole")!)
                let keys = [SigningKey(id: "KEYREVOKED"), SigningKey(id: "KEYINAHOLE")]
                try await hole.addKey(keys[1].provider)
                try await hole.addRule(.init(id: "hole", on: .request, action: .blackHole(reads: true)))
                try await fleet.add([
                    Fleet.Credential(name: "revoked", key: keys[0], apps: [revoked]),
                    Fleet.Credential(name: "hole", key: keys[1], port: hole.port, apps: [swallowed]),
                ])
                _ = try (0..<2).map { _ in try fleet.startWorker() }
                let alone = try await fleet.throughput(of: Self.healthy, for: Self.window)
                #expect(try await fleet.simulator.revokeKey(keys[0].id))
                for app in [revoked, swallowed] { try await fleet.publish(3000, to: app) }
                let together = try await fleet.throughput(of: Self.healthy, for: Self.window)

                let refused = try await fleet.simulator.requests(LedgerFilter(status: 403, limit: 10_000)).count
                let silent = try await hole.summary()
                let open = silent.requests - silent.answered
                let waiting = (try await fleet.ready(revoked), try await fleet.ready(swallowed))
                print(
                    "FAULT isolation: three healthy apps \(alone.perSecond) pushes/s alone, \(together.perSecond) beside "
                        + "a revoked key and a black hole: \(together.percent(of: alone)) %; hit: \(refused) refused, "
                        + "\(open) swallowed on \(silent.connectionsOpened) connections, still waiting \(waiting)"
                )
                #expect(together.percent(of: alone) >= 90)
                #expect(together.least * 5 >= together.count, "each of the three has its share: \(together)")
                #expect(refused > 0 && open > 0)
                #expect(waiting.0 > 2500 && waiting.1 > 1000, "what cannot be sent waits in RabbitMQ")

                // Apple takes the key again, and answers.
                try await fleet.simulator.addKey(keys[0].provider)
                for rule in try await hole.rules() { try await hole.removeRule(rule.rule.id) }
                try await hole.dropAllConnections()
                for worker in fleet.workers { worker.signal(SIGTERM) }
                for worker in fleet.workers { #expect(try await worker.waitForEnd().end == .exit(0)) }
                let lost = try await fleet.lostWithoutWaiting(beside: hole)
                #expect(lost == 0)
                await hole.stop()
            }
        }

        @Test("On one credential, an app whose topic Apple refuses takes nothing from four others")
        func sameCredential() async throws {
            try await Fleet.run(latency: .milliseconds(200), streams: Self.streams, worker: Self.worker) { fleet in
                let (more, refused) = (AppID("com.example.more")!, AppID("com.example.refused")!)
                let healthy = Self.healthy + [more]
                fleet.moreApps = healthy.dropFirst().map(\.name) + [refused.name]
                try await fleet.add([])
                var match = FaultRule.Match()
                match.topic = refused.name
                let action = FaultRule.Action.answer(status: 400, reason: "TopicDisallowed", body: nil)
                try await fleet.simulator.addRule(.init(id: "topic", match: match, action: action))
                _ = try (0..<2).map { _ in try fleet.startWorker() }
                let alone = try await fleet.throughput(of: healthy, for: Self.window)
                try await fleet.publish(3000, to: refused)
                let together = try await fleet.throughput(of: healthy, for: Self.window)
                let hits = try await fleet.simulator.rules().reduce(0) { $0 + $1.hits }
                try await fleet.simulator.removeRules()
                print(
                    "FAULT isolation, one credential: four healthy apps \(alone.perSecond) pushes/s alone, "
                        + "\(together.perSecond) beside one whose topic is refused: \(together.percent(of: alone)) %; "
                        + "hit: \(hits) refused"
                )
                #expect(together.percent(of: alone) >= 90)
                #expect(hits > 0)
            }
        }
    }
}

/// What Apple accepted within a time.
struct Throughput {
    let byApp: [AppID: Int]
    let time: Duration

    var count: Int { self.byApp.values.reduce(0, +) }
    var least: Int { self.byApp.values.min() ?? 0 }
    var perSecond: Int { self.count * 1000 / Int(self.time.milliseconds) }
    func percent(of other: Throughput) -> Int { other.count == 0 ? 0 : self.count * 100 / other.count }
}

extension Fleet {
    /// Keeps the queues of these apps filled, waits until all connections are in use, and then counts.
    fileprivate func throughput(of apps: [AppID], for time: Duration) async throws -> Throughput {
        func load(_ what: String, _ isTrue: () async throws -> Bool) async throws {
            try await eventually(what) {
                for app in apps { try await self.topUp(app) }
                return try await isTrue()
            }
        }
        try await load("all connections are in use") {
            try await self.simulator.summary().connectionsByKey["KEY1234567"]?.open == self.maxConnections
        }
        let full = ContinuousClock.now
        try await load("the flow is even") { ContinuousClock.now - full > .seconds(2) }
        let (start, begin) = (Self.now, ContinuousClock.now)
        try await load("the time is over") { ContinuousClock.now - begin >= time }
        let span = start...start + time.milliseconds
        let records = try await self.simulator.requests(LedgerFilter(accepted: true, limit: 1_000_000))
        let topics = Dictionary(grouping: records.filter { span.contains($0.arrival) }, by: \.topic)
        let byApp = apps.map { ($0, topics[$0.name]?.count ?? 0) }
        return Throughput(byApp: Dictionary(uniqueKeysWithValues: byApp), time: time)
    }

    /// Messages that neither this fleet's simulator nor the other one has accepted, and that wait in no queue.
    fileprivate func lostWithoutWaiting(beside other: Simulator) async throws -> Int {
        let there = try await other.requests(LedgerFilter(accepted: true, limit: 1_000_000)).compactMap {
            Int($0.token)
        }
        var verdict = try await self.count(deliveredElsewhere: Set(there))
        // Two of the credentials have their Apple here.
        verdict.budget *= 2
        verdict.show("isolation", "\(verdict.stillQueued) messages of the two sick apps still wait")
        return verdict.lost
    }
}

import Broker
import Foundation
import Push
import Simulator
import Store
import TestFleet
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// Broadcasts with a host, connections and a budget of their own.
    @Suite struct BroadcastHosts {
        private static let channel = "dHN0LXNyY2gtY2hubA=="
        private static let pool = "production.\(Fleet.teamID).\(Fleet.keyID)"

        private static var options: Fleet.Options {
            var options = Fleet.Options()
            options.hasBroadcastHost = true
            return options
        }

        private static func publish(_ count: Int, from first: Int = 0, to fleet: Fleet) async throws {
            let body =
                #"{"app":"\#(Fleet.app)","channel":"\#(Self.channel)","expires_at":0,"#
                + #""payload":{"aps":{"timestamp":1767220000,"event":"update","content-state":{"n":1}}}}"#
            let messages = (first..<first + count).map { number in
                Message(
                    exchange: FleetTopology.exchange,
                    routingKey: "\(Fleet.app).now",
                    properties: MessageProperties(messageID: Array("goal-\(number)".utf8), timestamp: .now),
                    body: Array(body.utf8)
                )
            }
            let outcomes = try await fleet.session.publish(messages)
            try #require(outcomes.allSatisfy { $0 == .confirmed })
        }

        /// The simulator that stands for the host of broadcasts, with the channel in it.
        private static func host(of fleet: Fleet) async throws -> Simulator {
            let host = try #require(fleet.broadcastSimulator)
            try await host.addChannel(Self.channel, storage: .none, bundleID: Fleet.app)
            return host
        }

        private static func accepted(_ count: Int, at host: Simulator) async throws {
            try await eventually("\(count) broadcasts are accepted") { try await host.summary().accepted >= count }
        }

        private static func status(_ fleet: Fleet) async throws -> FleetStatus {
            let redis = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(fleet.redis.port)))
            defer { redis.close() }
            return try await CounterReader(redis).read(pools: fleet.settings.credentials.map(\.pool))
        }

        @Test func `Broadcasts go to their host and all else to the other, each inside its budget`() async throws {
            try await Fleet.run(Self.options) { fleet in
                let host = try await Self.host(of: fleet)
                try await fleet.startWorker()
                try await Self.publish(30, to: fleet)
                try await fleet.publishAll((0..<30).map { Draft(Draft.token($0)) })
                try await fleet.accepted(30)
                try await Self.accepted(30, at: host)
                #expect(try await host.requests(LedgerFilter(limit: 1000)).allSatisfy { $0.channel == Self.channel })
                #expect(try await fleet.simulator.requests(LedgerFilter(limit: 1000)).allSatisfy { $0.channel == nil })
                let (own, other) = (try await host.summary(), try await fleet.simulator.summary())
                #expect(own.accepted == 30 && own.connectionsPeak == 1)
                #expect(other.accepted == 30 && other.connectionsPeak <= fleet.options.connections)
                // One key has one provider token, whichever host it is shown to.
                #expect(own.providerTokens.map(\.issuedAt) == other.providerTokens.map(\.issuedAt))
                #expect(own.providerTokens.count == 1)
                let pools = try await Self.status(fleet).pools
                #expect(pools.map(\.name).sorted() == [Self.pool, "\(Self.pool).broadcast"])
                let budgets = Dictionary(uniqueKeysWithValues: pools.map { ($0.name, $0) })
                #expect(budgets["\(Self.pool).broadcast"]?.budget == 1 && budgets["\(Self.pool).broadcast"]?.held == 1)
                #expect(budgets[Self.pool]?.budget == fleet.options.connections)
                try await fleet.expectNothingLeft()
                #expect(try await Self.status(fleet).pools.allSatisfy { $0.held == 0 })
            }
        }

        @Test func `Another key takes both over, and no connection with the old one stays`() async throws {
            try await Fleet.run(Self.options) { fleet in
                let host = try await Self.host(of: fleet)
                let worker = try await fleet.startWorker()
                try await Self.publish(5, to: fleet)
                try await fleet.publishAll([Draft(Draft.token(0))])
                try await Self.accepted(5, at: host)
                try await fleet.accepted(1)
                let second = "KEY7654321"
                for simulator in [fleet.simulator, host] { try await simulator.addKey(TestFleet.key(second)) }
                for credential in fleet.settings.credentials {
                    var next = credential
                    next.kind = .token(
                        SigningKeySettings(
                            teamID: Fleet.teamID,
                            keyID: second,
                            file: TestCertificates.shared.signingKey
                        )
                    )
                    worker.use(try LoadedCredential.load(next, at: .now))
                }
                for simulator in [fleet.simulator, host] {
                    try await eventually("the old key has no connection left, and there is one") {
                        let summary = try await simulator.summary()
                        return summary.connectionsByKey[Fleet.keyID]?.open == 0 && summary.connectionsOpen > 0
                    }
                }
                try await Self.publish(5, from: 5, to: fleet)
                try await fleet.publishAll([Draft(Draft.token(1))])
                try await Self.accepted(10, at: host)
                try await fleet.accepted(2)
                for simulator in [fleet.simulator, host] {
                    let keys = try await simulator.summary().connectionsByKey
                    #expect(keys[second]?.open == 1 && keys[Fleet.keyID]?.open == 0)
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `With fewer connections than workers, the one whose turn it is sends the others' broadcasts`()
            async throws
        {
            try await Fleet.run(Self.options) { fleet in
                let host = try await Self.host(of: fleet)
                for _ in 0..<2 { try await fleet.startWorker { $0.budget.quantum = .seconds(600) } }
                try await eventually("both workers take messages") {
                    try await Self.status(fleet).pools.first { $0.name == Self.pool }?.leases.count == 2
                }
                for round in 0..<5 { try await Self.publish(20, from: round * 20, to: fleet) }
                try await Self.accepted(100, at: host)
                let summary = try await host.summary()
                #expect(summary.accepted == 100 && summary.connectionsPeak == 1 && summary.connectionsOpened == 1)
                try await fleet.expectNothingLeft()
                #expect(try await Self.status(fleet).totals["given_back"] ?? 0 > 0, "the other worker had some of them")
            }
        }

        @Test func `A host that cannot be reached holds up broadcasts only, and none is lost`() async throws {
            try await Fleet.run(Self.options) { fleet in
                await fleet.broadcastSimulator?.stop()
                // Far fewer than there are broadcasts before the push.
                try await fleet.startWorker { $0.worker.prefetchPerConnection = 16 }
                let count = 200
                try await Self.publish(count, to: fleet)
                let token = Draft.token(1)
                try await fleet.publish(Draft(token), messageID: "behind")
                _ = try await fleet.delivered(token)
                #expect(try await fleet.simulator.requests().allSatisfy { $0.channel == nil })
                #expect(try await fleet.depth(fleet.dead) == 0)
                await fleet.stopWorkers()
                try await eventually("every broadcast is in RabbitMQ") { try await fleet.waiting() == count }
                #expect(try await Self.status(fleet).totals["retried.notConnected"] ?? 0 > 0)
            }
        }
    }
}

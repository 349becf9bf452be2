import Broker
import Foundation
import Push
import Registry
import Simulator
import Store
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// Apps that bring their credentials along through Redis, as those of the gateway do.
    @Suite struct SealedCredentials {
        private static let news = "com.example.news"
        private static let master = String(repeating: "3d", count: 32)

        @Test func `A worker takes up an app with its sealed credential, and one without the master key says so`()
            async throws
        {
            let folder = try Repository.makeTemporaryDirectory("sealed")
            defer { Repository.remove(folder) }
            var options = Fleet.Options()
            options.apps = [Fleet.app, Self.news]
            options.hasKeyPerApp = true
            try await Fleet.run(options) { fleet in
                func configuration(_ master: String?) throws -> String {
                    try fleet.writeConfiguration(in: folder) { text in
                        let file = String(text[..<text.range(of: "  \(Self.news):")!.lowerBound])
                        guard let master else { return file }
                        return file.replacing("redis:\n", with: "redis:\n  master_key: \(master)\n")
                    }
                }
                let blind = try WorkerBinary(["worker", "--config", try configuration(nil)], in: folder)
                try await eventually("the worker without a key is ready") { blind.isReady }

                var credential = StoredCredential(
                    environment: "production",
                    proof: .token(
                        teamID: Fleet.teamID,
                        keyID: Fleet.keyID(1),
                        key: try String(contentsOfFile: TestCertificates.shared.signingKey, encoding: .utf8)
                    )
                )
                credential.maxConnections = 2
                credential.host = "localhost"
                credential.port = Int(fleet.simulator.port)
                credential.caFile = TestCertificates.shared.authority
                let sealed = try SealingKeys(Self.master).seal(credential, for: Self.news)
                try fleet.redis.cli("HSET", Keys.appCredentials, Self.news, sealed.text)
                // The delay queues that the fleet has.
                let retry = #"{"min_backoff":"1s","max_backoff":"4s","max_doublings":2,"age_limit":"600s"}"#
                let app = #"{"credential":"\#(Self.news)","retry":\#(retry)}"#
                try fleet.redis.cli("HSET", Keys.apps, Self.news, app)
                try fleet.redis.cli("INCR", Keys.appsVersion)
                try await eventually("it says what it lacks") {
                    blind.output.contains("apps.\(Self.news).credential")
                        && blind.output.contains("no master key to open it")
                }
                let worker = try WorkerBinary(["worker", "--config", try configuration(Self.master)], in: folder)
                try await eventually("the other one is ready") { worker.isReady }
                let messages = (0..<20).map { number in
                    Message(
                        exchange: FleetTopology.exchange,
                        routingKey: "\(Self.news).now",
                        properties: MessageProperties(messageID: Array("news-\(number)".utf8)),
                        body: Draft(Draft.token(number, prefix: "bbbb"), app: Self.news).body
                    )
                }
                let outcomes = try await fleet.session.publish(messages)
                #expect(outcomes.allSatisfy { $0 == .confirmed })
                try await eventually("its pushes arrive") {
                    let filter = LedgerFilter(accepted: true, answered: true, limit: 1000)
                    return try await fleet.simulator.requests(filter).count { $0.topic == Self.news } == 20
                }
                let keys = try await fleet.simulator.summary().connectionsByKey
                #expect(keys[Fleet.keyID(1)]?.open ?? 0 > 0, "\(keys)")
                // The first app goes on with both workers.
                let before = try await fleet.pushes(of: Fleet.app)
                try await fleet.publish(0..<20, of: Fleet.app)
                try await eventually("its pushes go on") { try await fleet.pushes(of: Fleet.app) == before + 20 }
                for one in [blind, worker] {
                    #expect(!one.output.contains(Self.master) && !one.output.contains("PRIVATE KEY"))
                    #expect(!one.output.contains(sealed.text.split(separator: " ")[2]))
                }
                // It goes with its app.
                try fleet.redis.cli("HSET", Keys.apps, Self.news, "removed 1700000000000")
                try fleet.redis.cli("HDEL", Keys.appCredentials, Self.news)
                try fleet.redis.cli("INCR", Keys.appsVersion)
                try await eventually("the credential is gone") {
                    worker.output.contains("credential redis.production.\(Fleet.teamID).\(Fleet.keyID(1)) removed")
                }
                for one in [blind, worker] {
                    one.signal(SIGTERM)
                    #expect(try await one.end().status == 0)
                }
            }
        }
    }
}

import Broker
import Foundation
import Push
import Simulator
import Store
import TestServers
import Testing
import Wire
import Worker

extension EndToEnd {
    @Suite struct CertificateMode {
        private static func kind(_ client: TestCertificates.Client) -> CredentialSettings.Kind {
            let files = TestCertificates.shared
            let source = CertificateSettings.Source.pem(
                certificate: files.certificate(client),
                privateKey: files.key(client)
            )
            return .certificate(CertificateSettings(source: source))
        }

        @Test func `A worker with a certificate sends without provider tokens, and tells when it ends`() async throws {
            var options = Fleet.Options()
            options.isKeyRegistered = false
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker { $0.credentials[0].kind = Self.kind(.standard) }
                let count = 200
                try await fleet.publishAll((0..<count).map { Draft(Draft.token($0)) })
                try await fleet.accepted(count)
                let summary = try await fleet.simulator.summary()
                #expect(summary.accepted == count && summary.duplicates == 0)
                #expect(summary.providerTokens.isEmpty)
                #expect(Set(try await fleet.simulator.requests().map(\.topic)) == ["com.example.shop"])
                let redis = try await RedisSession.open(
                    RedisAddress(host: "127.0.0.1", port: UInt16(fleet.redis.port))
                )
                defer { redis.close() }
                let pool = "production.com.example.shop"
                try await eventually("the heartbeat says when the certificate ends") {
                    let status = try await CounterReader(redis).read(pools: [pool])
                    guard let end = status.workers.first?.certificatesExpireAt[pool] else { return false }
                    return end > status.time + .seconds(300 * 86_400)
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `What the certificate does not cover is a dead letter that says so, and stops nothing else`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.startWorker { $0.credentials[0].kind = Self.kind(.standard) }
                let activity = Draft(Draft.token(0)).with(#""push_type":"liveactivity""#)
                let other = Draft(Draft.token(1)).with(#""topic":"com.example.other""#)
                try await fleet.publishAll([activity, other, Draft(Draft.token(2))])
                try await fleet.accepted(1)
                let letters = try await fleet.take(2, from: fleet.dead)
                #expect(Set(letters.map(\.field)) == ["push_type", "topic"])
                #expect(letters.allSatisfy { $0.reason == "invalid_field" })
                #expect(try await fleet.simulator.summary().requests == 1)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A certificate for the wrong environment pauses the app, and no message is lost or spent`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.startWorker {
                    $0.credentials[0].environment = .sandbox
                    $0.credentials[0].kind = Self.kind(.sandbox)
                }
                let count = 20
                try await fleet.publishAll((0..<count).map { Draft(Draft.token($0)) })
                try await eventually("Apple has refused, and all messages are in RabbitMQ") {
                    guard try await fleet.simulator.summary().connectionsOpened > 0 else { return false }
                    return try await fleet.waiting() == count
                }
                #expect(try await fleet.depth(fleet.dead) == 0)
                #expect(try await fleet.simulator.summary().accepted == 0)
                await fleet.stopWorkers()
                try await fleet.startWorker { $0.credentials[0].kind = Self.kind(.standard) }
                try await fleet.accepted(count)
                #expect(try await fleet.simulator.summary().duplicates == 0)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A certificate that cannot be used ends the start with one line, 78 and no connect to Apple`()
            async throws
        {
            let folder = try Repository.makeTemporaryDirectory("bad-certificates")
            defer { Repository.remove(folder) }
            let files = TestCertificates.shared
            let cases: [(lines: String, says: String)] = [
                (
                    "certificate_file: \(files.certificate(.expired))\n    private_key_file: \(files.key(.expired))",
                    "expired on 2021-01-31"
                ),
                (
                    "certificate_file: \(files.certificate(.sandbox))\n    private_key_file: \(files.key(.sandbox))",
                    "is for sandbox only"
                ),
                (
                    "certificate_file: \(files.certificate(.standard))\n    private_key_file: \(files.key(.renewed))",
                    "does not belong to the certificate"
                ),
                ("pkcs12_file: \(files.pkcs12(.standard))\n    passphrase: s3cr3t", "with this passphrase"),
            ]
            try await Fleet.run { fleet in
                for (lines, says) in cases {
                    let path = try fleet.writeConfiguration(in: folder) { text in
                        text.replacing("team_id: \(Fleet.teamID)", with: lines)
                            .replacing("    key_id: \(Fleet.keyID)\n", with: "")
                            .replacing("    key_file: \(files.signingKey)\n", with: "")
                    }
                    let outcome = try await WorkerBinary.run(["worker", "--config", path], in: folder)
                    #expect(outcome.status == 78, "\(outcome.output)")
                    #expect(outcome.output.contains(says), "\(outcome.output)")
                    let problems = outcome.output.split(separator: "\n").filter { !$0.contains("warning") }
                    #expect(problems.count == 1, "\(outcome.output)")
                    #expect(!outcome.output.contains("s3cr3t"))
                }
                #expect(try await fleet.simulator.summary().connectionsOpened == 0)
            }
        }

        @Test func `Pushes go through a proxy, and a proxy that refuses is tried again in its time`() async throws {
            try await Fleet.run { fleet in
                let proxy = try ConnectProxy(.tunnel)
                defer { proxy.stop() }
                try await fleet.startWorker {
                    $0.credentials[0].proxy = try? Proxy("http://fleet:secret@127.0.0.1:\(proxy.port)")
                }
                try await fleet.publishAll((0..<50).map { Draft(Draft.token($0)) })
                try await fleet.accepted(50)
                #expect(proxy.requests.allSatisfy { $0.hasPrefix("CONNECT localhost:\(fleet.simulator.port) ") })
                #expect(!proxy.requests.isEmpty && proxy.carriedBytes > 50 * 100)
                try await fleet.expectNothingLeft()
            }
        }
    }
}

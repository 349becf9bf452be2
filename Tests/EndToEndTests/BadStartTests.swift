import Broker
import Foundation
import Push
import Simulator
import TestFleet
import TestServers
import Testing
import Worker

extension EndToEnd {
    @Suite struct BadStarts {
        @Test func `A worker that cannot work says so in one line, exits with an error and touches no message`()
            async throws
        {
            let folder = try Repository.makeTemporaryDirectory("bad-starts")
            defer { Repository.remove(folder) }
            let certificates = TestCertificates.shared
            try Repository.run([
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out",
                "\(folder)/p384.p8",
            ])
            try Repository.run(["openssl", "genpkey", "-algorithm", "ED25519", "-out", "\(folder)/ed25519.p8"])
            try "nothing\n".write(toFile: "\(folder)/text.p8", atomically: true, encoding: .utf8)
            try await Fleet.run { fleet in
                try await fleet.publish(Draft(Draft.token(1)), messageID: "untouched")
                let key = certificates.signingKey
                let cases: [(name: String, says: String, change: (String) -> String)] = [
                    ("missing key file", "nowhere.p8", { $0.replacing(key, with: "\(folder)/nowhere.p8") }),
                    ("a P-384 key", "P-256", { $0.replacing(key, with: "\(folder)/p384.p8") }),
                    ("an Ed25519 key", "P-256", { $0.replacing(key, with: "\(folder)/ed25519.p8") }),
                    ("a public key", "P-256", { $0.replacing(key, with: certificates.signingPublicKey) }),
                    ("a key file of text", "P-256", { $0.replacing(key, with: "\(folder)/text.p8") }),
                    ("a key file that is a folder", folder, { $0.replacing(key, with: folder) }),
                    ("no YAML", "pushfleet-", { _ in "amqp: [\n" }),
                    (
                        "an unknown key", "kee_file",
                        { $0.replacing("    key_id", with: "    kee_file: none\n    key_id") }
                    ),
                    ("an unknown credential", "maim", { $0.replacing("credential: main", with: "credential: maim") }),
                    (
                        "a lease too short for its heartbeat", "budget.lease",
                        { $0.replacing("lease: 3s", with: "lease: 1s") }
                    ),
                    (
                        "a lease of five heartbeats", "budget.lease",
                        { $0.replacing("lease: 3s", with: "lease: 2500ms") }
                    ),
                ]
                for (name, says, change) in cases {
                    let path = try fleet.writeConfiguration(in: folder, change)
                    let outcome = try await WorkerBinary.run(["worker", "--config", path], in: folder)
                    Self.expect(outcome, name, says)
                }
                let unreadable = try await WorkerBinary.run(
                    ["worker", "--config", "\(folder)/nowhere.yaml"],
                    in: folder
                )
                Self.expect(unreadable, "an unreadable configuration", "nowhere.yaml")
                #expect(try await fleet.simulator.summary().connectionsOpened == 0)
                let delivery = try #require(await fleet.session.get(queue: "pushfleet.\(Fleet.app).now"))
                #expect(!delivery.redelivered)
                #expect(delivery.headers.deliveryCount == 0)
                try await fleet.session.ack(delivery.id)
                try await fleet.expectNothingLeft()
            }
        }

        private static func expect(_ outcome: WorkerBinary.Outcome, _ name: String, _ says: String) {
            let lines = outcome.output.split(separator: "\n").filter { !$0.contains("warning") }
            #expect(outcome.status > 0, "\(name): status \(outcome.status)")
            #expect(lines.count == 1, "\(name): \(outcome.output)")
            #expect(outcome.output.contains(says), "\(name): \(outcome.output)")
            #expect(!outcome.output.contains("PRIVATE KEY"), "\(name)")
        }

        @Test func `The binary does the work, drains at SIGTERM and loses nothing at SIGKILL`() async throws {
            let folder = try Repository.makeTemporaryDirectory("binary")
            defer { Repository.remove(folder) }
            var options = Fleet.Options()
            options.latency = .milliseconds(300)
            try await Fleet.run(options) { fleet in
                let path = try fleet.writeConfiguration(in: folder)
                let victim = try WorkerBinary(["worker", "--config", path], in: folder)
                try await eventually("the first worker is ready") { victim.isReady }
                let count = 400
                try await fleet.publishAll((0..<count).map { Draft(Draft.token($0)) })
                try await eventually("pushes are in flight") { try await fleet.simulator.summary().requests > 50 }
                victim.signal(SIGKILL)
                #expect(try await victim.end().status == -SIGKILL)
                try await eventually("the victim's connections are gone") {
                    try await fleet.simulator.summary().connectionsOpen == 0
                }
                let cut = try await fleet.simulator.requests(LedgerFilter(answered: false, limit: 10_000)).count
                #expect(cut > 0, "the kill hit nothing")
                let heir = try WorkerBinary(["worker", "--config", path], in: folder)
                try await eventually("every token has its push") {
                    try await fleet.answeredTokens() == count
                }
                heir.signal(SIGTERM)
                #expect(try await heir.end().status == 0, "\(heir.output)")
                let summary = try await fleet.simulator.summary()
                #expect(summary.connectionsPeak <= fleet.options.connections)
                #expect(summary.duplicates <= count)
                #expect(summary.repeated > 0, "what was in flight is sent again")
                try await fleet.expectNothingLeft(afterRounds: 5)
            }
        }

        @Test func `A key that Apple refuses costs no message, and work goes on by itself once it is known`()
            async throws
        {
            var options = Fleet.Options()
            options.isKeyRegistered = false
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                let count = 30
                for number in 0..<count {
                    try await fleet.publish(Draft(Draft.token(number)), messageID: "refused-\(number)")
                }
                try await eventually("Apple refuses the key, and all messages are back in RabbitMQ") {
                    let refused = try await fleet.simulator.requests(LedgerFilter(reason: "InvalidProviderToken"))
                    guard !refused.isEmpty else { return false }
                    return try await fleet.waiting() == count
                }
                #expect(try await fleet.depth(fleet.dead) == 0)
                let tried = try await fleet.simulator.summary().requests
                #expect(tried < 2 * count, "a refused key is not hammered with")
                try await fleet.simulator.addKey(TestFleet.key())
                try await fleet.accepted(count)
                let summary = try await fleet.simulator.summary()
                #expect(summary.duplicates == 0)
                #expect(summary.accepted == count)
                try await fleet.expectNothingLeft()
            }
        }
    }
}

extension Fleet {
    /// How many tokens have had an answer that was sent.
    func answeredTokens() async throws -> Int {
        let records = try await self.simulator.requests(LedgerFilter(answered: true, limit: 10_000))
        return Set(records.map(\.token)).count
    }

    /// Publishes many at once and waits for all confirms. Message ids are `message-<n>`.
    func publishAll(_ drafts: [Draft]) async throws {
        let messages = drafts.enumerated().map { index, draft in
            Message(
                exchange: FleetTopology.exchange,
                routingKey: draft.routingKey,
                properties: MessageProperties(messageID: Array("message-\(index)".utf8), timestamp: .now),
                body: draft.body
            )
        }
        let outcomes = try await self.session.publish(messages)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
    }
}

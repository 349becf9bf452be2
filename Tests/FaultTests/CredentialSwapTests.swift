import Crypto
import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// Another key in the middle of the work.
    @Suite("Credential swap")
    struct CredentialSwaps {
        @Test("SIGHUP with another key id: a second sender takes over under a budget of its own")
        func otherKey() async throws {
            try await Fleet.run(latency: .milliseconds(200)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.publish(4000)
                try await fleet.waitForInFlight(300)
                let second = SigningKey(id: "KEY7654321")
                try await fleet.simulator.addKey(second.provider)
                try fleet.use(second)
                worker.signal(SIGHUP)
                let time = try await eventually("the new key is used") {
                    try await fleet.topUp()
                    return try await fleet.simulator.summary().connectionsByKey[second.id] != nil
                }
                try await worker.logs("The last connection with the old credential is closed")
                #expect(try fleet.grants().allSatisfy { $0 == 0 }, "the old lease is given back")
                #expect(try fleet.grants(of: fleet.currentPoolKey).reduce(0, +) > 0)
                try await fleet.publish(1000)
                let verdict = try await fleet.finish()
                let summary = try await fleet.simulator.summary()
                let counters = try fleet.counters()
                verdict.show(
                    "Key swapped by SIGHUP",
                    "in use after \(time.seconds), connections by key "
                        + "\(summary.connectionsByKey.mapValues(\.peak)), \(counters["resent"] ?? 0) resent"
                )
                verdict.expectNothingLost(budgets: 2)
                #expect(counters.possibleDuplicates <= 0)
                #expect(counters["retried"] ?? 0 == 0)
                #expect(counters["credential_swaps"] == 1)
                #expect(summary.connectionsByKey.values.allSatisfy { $0.peak <= Fleet.budget })
                #expect(summary.connectionsByKey.count == 2)
            }
        }

        @Test("SIGHUP with another key id: the connections that broadcasts have to themselves go over to it too")
        func otherKeyForBroadcasts() async throws {
            try await Fleet.run(latency: .milliseconds(20)) { fleet in
                fleet.credentialSettings = ["broadcast_port: \(fleet.simulator.port)"]
                try fleet.writeConfiguration()
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                let second = SigningKey(id: "KEY7654321")
                try await fleet.simulator.addKey(second.provider)
                try fleet.use(second)
                worker.signal(SIGHUP)
                let closed = "The last connection with the old credential is closed"
                try await worker.logs(closed, count: 2)
                #expect(worker.lines(closed).count { $0.contains("main.broadcast") } == 1)
                for pool in [fleet.currentPoolKey, "\(fleet.currentPoolKey.dropLast()).broadcast}"] {
                    #expect(try fleet.grants(of: pool).reduce(0, +) > 0, "\(pool)")
                }
                try await fleet.publish(200)
                let verdict = try await fleet.finish()
                verdict.show("Key of broadcasts swapped by SIGHUP", "both senders went over")
                verdict.expectNothingLost(budgets: 3)
                #expect(try fleet.counters()["credential_swaps"] == 2)
            }
        }

        @Test("A renewed certificate: connections are replaced one by one while pushes flow on those there are")
        func renewedCertificate() async throws {
            try await Fleet.run(latency: .milliseconds(200)) { fleet in
                let certificates = TestCertificates.shared
                let files = (file: "\(fleet.directory)/client.pem", key: "\(fleet.directory)/client.key")
                func install(_ client: TestCertificates.Client) throws {
                    for (from, to) in [
                        (certificates.certificate(client), files.file), (certificates.key(client), files.key),
                    ] {
                        try Data(contentsOf: URL(fileURLWithPath: from)).write(to: URL(fileURLWithPath: to))
                    }
                }
                try install(.standard)
                fleet.certificate = files
                try fleet.writeConfiguration()
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                let before = try await fleet.useAllConnections()
                try install(.renewed)
                let time = try await fleet.connectionsAreReplaced(before)
                let verdict = try await fleet.finish()
                let counters = try fleet.counters()
                verdict.show("Certificate renewed", "all connections replaced after \(time.seconds)")
                verdict.expectNothingLost()
                #expect(worker.lines("A changed credential is in use").count == 1)
                #expect(counters["credential_swaps"] == 1)
                #expect(counters["retried"] ?? 0 == 0)
                #expect(counters.possibleDuplicates <= 0)
                #expect(counters["answered.MissingProviderToken"] ?? 0 == 0)
            }
        }

        @Test("A corrected key file: connections are replaced one by one, inside the budget")
        func correctedFile() async throws {
            try await Fleet.run(latency: .milliseconds(100)) { fleet in
                let (wrong, right) = (SigningKey(id: "KEY1234567"), SigningKey(id: "KEY1234567"))
                try await fleet.simulator.addKey(wrong.provider)
                try fleet.use(wrong)
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                let before = try await fleet.useAllConnections()
                // From now on Apple takes the new one only, and what is still sent with the old one is refused.
                try await fleet.simulator.addKey(right.provider)
                try right.text.write(toFile: fleet.keyFile, atomically: true, encoding: .utf8)
                try await worker.logs("A changed credential is in use")
                let time = try await fleet.connectionsAreReplaced(before)
                try await fleet.publish(500)
                let verdict = try await fleet.finish()
                let counters = try fleet.counters()
                let refused = counters["answered.InvalidProviderToken"] ?? 0
                verdict.show(
                    "Key file corrected",
                    "\(refused) refusals counted, all connections replaced after \(time.seconds)"
                )
                verdict.expectNothingLost()
                #expect(verdict.deadLettered == 0)
                #expect(counters["credential_swaps"] == 1)
            }
        }

        @Test("F58: a key revoked in the middle pauses the app, and another key resumes it: nothing is dead-lettered")
        func revoked() async throws {
            try await Fleet.run(latency: .milliseconds(100)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.publish(4000)
                try await fleet.waitForInFlight(100)
                #expect(try await fleet.simulator.revokeKey("KEY1234567"))
                try await fleet.simulator.goAwayAll(reason: "InvalidProviderToken")
                try await worker.logs("Paused: Apple refuses the credential")
                let second = SigningKey(id: "KEY7654321")
                try await fleet.simulator.addKey(second.provider)
                try fleet.use(second)
                worker.signal(SIGHUP)
                try await worker.logs("A changed credential is in use")
                let verdict = try await fleet.finish()
                let refused = try fleet.counters()["answered.InvalidProviderToken"] ?? 0
                verdict.show("F58 key revoked", "\(refused) answers that refused it")
                verdict.expectNothingLost(budgets: 2)
                #expect(verdict.deadLettered == 0)
                #expect(worker.lines("Resumed: Apple takes").count > 0)
            }
        }

        @Test("A key file that cannot be used is told and counted once, and the old key goes on")
        func brokenFile() async throws {
            try await Fleet.run(latency: .milliseconds(20)) { fleet in
                let key = SigningKey(id: "KEY1234567")
                try await fleet.simulator.addKey(key.provider)
                try fleet.use(key)
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                try String(key.text.prefix(90)).write(toFile: fleet.keyFile, atomically: true, encoding: .utf8)
                try await worker.logs("A changed credential cannot be used; the old one goes on")
                try await fleet.publish(500)
                try await fleet.waitForAccepted(510)
                try key.text.write(toFile: fleet.keyFile, atomically: true, encoding: .utf8)
                try await Task.sleep(for: .seconds(5))
                #expect(worker.lines("A changed credential is in use").isEmpty, "the same key again is no change")
                let verdict = try await fleet.finish()
                verdict.show("Key file cut short", "\(worker.lines("A changed credential cannot be used").count) error")
                verdict.expectNothingLost()
                #expect(worker.lines("A changed credential cannot be used").count == 1)
                #expect(try fleet.counters()["credentials_refused"] == 1)
            }
        }
    }
}

/// A key as Apple would hand it out, and as Apple knows it.
struct SigningKey {
    let id: String
    private let key = P256.Signing.PrivateKey()

    init(id: String) {
        self.id = id
    }

    var text: String { self.key.pemRepresentation }
    var provider: ProviderKey {
        ProviderKey(id: self.id, team: "TEAM123456", pem: self.key.publicKey.pemRepresentation)
    }
}

extension Fleet {
    /// Writes the key to a file of its own and names it in the configuration.
    func use(_ key: SigningKey) throws {
        self.keyID = key.id
        self.keyFile = "\(self.directory)/\(key.id).p8"
        try key.text.write(toFile: self.keyFile, atomically: true, encoding: .utf8)
        try self.writeConfiguration()
    }

    /// Publishes until the whole budget is in use.
    /// - Returns: the numbers of the connections.
    func useAllConnections() async throws -> [Int] {
        try await self.publish(4000)
        try await eventually("all connections") {
            try await self.topUp()
            return try await self.connections() == Fleet.budget
        }
        return try await self.simulator.connections().map(\.number)
    }

    /// Publishes until none of these connections is left.
    /// - Returns: how long that took.
    func connectionsAreReplaced(_ old: [Int]) async throws -> Duration {
        try await eventually("no old connection is left") {
            try await self.topUp()
            return try await self.simulator.connections().allSatisfy {
                $0.closedAt != nil || !old.contains($0.number)
            }
        }
    }
}

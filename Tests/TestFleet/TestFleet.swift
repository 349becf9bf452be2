package import Broker
import Foundation
import Push
package import Simulator
import Store
import TestServers
package import Worker

/// What all tests of whole fleets set up alike: a key, a simulator that knows it, settings with short times, and what
/// an operator declares.
package enum TestFleet {
    package static let app = "com.example.shop"
    package static let teamID = "TEAM123456"
    package static let keyID = "KEY1234567"

    /// The tests' signing key as Apple knows it, under any id.
    package static func key(_ id: String = TestFleet.keyID) throws -> ProviderKey {
        let pem = try String(contentsOfFile: TestCertificates.shared.signingPublicKey, encoding: .utf8)
        return ProviderKey(id: id, team: self.teamID, pem: pem)
    }

    /// A simulator that workers trust; without a control port.
    package static func simulator() throws -> Simulator.Settings {
        let certificates = TestCertificates.shared
        var settings = Simulator.Settings(
            certificate: certificates.serverCertificate,
            privateKey: certificates.serverKey
        )
        settings.controlPort = nil
        settings.keys = [try self.key()]
        return settings
    }

    /// Settings of workers with one credential and no app yet.
    /// - Parameters:
    ///   - amqp: the broker's address.
    ///   - redis: its port.
    ///   - apns: the simulator's port.
    ///   - connections: the budget.
    package static func settings(amqp: String, redis: Int, apns: UInt16, connections: Int) -> FleetSettings {
        var settings = FleetSettings(
            amqp: ServerSettings(url: amqp),
            redis: ServerSettings(url: "redis://127.0.0.1:\(redis)/0")
        )
        var credential = CredentialSettings(
            name: "main",
            environment: .production,
            teamID: self.teamID,
            keyID: self.keyID,
            keyFile: TestCertificates.shared.signingKey,
            maxConnections: connections
        )
        credential.host = "localhost"
        credential.port = apns
        credential.caFile = TestCertificates.shared.authority
        settings.credentials = [credential]
        settings.budget.lease = .seconds(3)
        settings.budget.heartbeat = .milliseconds(500)
        settings.budget.quantum = .seconds(3)
        settings.worker.drainTimeout = .seconds(5)
        return settings
    }

    /// Declares the queues and the budgets, as an operator does for a new fleet.
    ///
    /// Without the budgets the first worker would wait for one lease time, as with a Redis that lost its data.
    /// - Parameter redis: its port.
    /// - Returns: a session with the broker.
    package static func declare(
        _ settings: FleetSettings,
        redis: Int,
        deliveryLimit: Int = FleetTopology.deliveryLimit
    ) async throws -> BrokerSession {
        let session = try await BrokerSession.connect(
            BrokerSettings(address: AMQPAddress(parsing: settings.amqp.url), connectionName: "test"),
            timeout: .seconds(60)
        )
        let topology = FleetTopology.make(
            apps: settings.apps.compactMap { AppID($0.id) },
            delays: DelayLadder(schedules: settings.apps.map(\.retry)).levels,
            deliveryLimit: deliveryLimit
        )
        let differences = try await session.declare(topology)
        guard differences.isEmpty else { throw NeverHappened(description: "declared: \(differences)") }
        let store = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis)))
        defer { store.close() }
        guard let server = await store.server() else { throw NeverHappened(description: "a Redis to talk to") }
        for credential in settings.credentials {
            let budget = Budget(pool: credential.pool, connections: credential.maxConnections)
            _ = try await store.run(budget.initialize(on: server))
        }
        return session
    }
}

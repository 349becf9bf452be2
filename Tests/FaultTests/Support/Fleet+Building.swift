import APNs
import Broker
import Foundation
import Push
import Simulator
import Store
import TestFleet
import TestServers
import Testing

/// What a fleet is built of: the simulator, the session with the broker, the budget and the configuration.
extension Fleet {
    static func startSimulator(latency: Duration, port: UInt16 = 0) async throws -> Simulator {
        var settings = try TestFleet.simulator()
        settings.port = port
        settings.latency = latency
        settings.certificates["expired"] = CertificateFiles(
            certificate: TestCertificates.shared.expiredCertificate,
            privateKey: TestCertificates.shared.expiredKey
        )
        return try await Simulator.start(settings)
    }

    static func connect() async throws -> BrokerSession {
        let address = try AMQPAddress(parsing: Self.rabbit.url() + "?heartbeat=60")
        return try await BrokerSession.connect(
            BrokerSettings(address: address, connectionName: "FaultTests"),
            timeout: .seconds(30)
        )
    }

    /// Declares what workers need, as an operator does.
    func declare() async throws {
        let differences = try await self.session.declare(Self.topology)
        try #require(differences.isEmpty)
    }

    /// Declares that no worker is running, as an operator does for a new Redis.
    func initializeBudget() async throws {
        let session = try await RedisSession.open(RedisAddress("redis://localhost:\(self.redis.port)"))
        if let server = await session.server() {
            _ = try await session.run(Budget(pool: self.pool, connections: Self.budget).initialize(on: server))
        }
        session.close()
    }

    private var pool: String { "production.TEAM123456.KEY1234567" }
    var poolKey: String { Keys.budget(pool: self.pool) }
    /// The budget of the key that the configuration names now.
    var currentPoolKey: String { Keys.budget(pool: "production.TEAM123456.\(self.keyID)") }
    var configuration: String { "\(self.directory)/pushfleet.yaml" }

    /// The configuration's lines for what the credential is.
    private var proof: String {
        let lines =
            if let certificate = self.certificate {
                ["certificate_file: \(certificate.file)", "private_key_file: \(certificate.key)"]
            } else {
                ["team_id: TEAM123456", "key_id: \(self.keyID)", "key_file: \(self.keyFile)"]
            }
        return lines.joined(separator: "\n    ")
    }

    func writeConfiguration() throws {
        let certificates = TestCertificates.shared
        let text = """
            amqp:
              url: \(Self.rabbit.url())
              heartbeat: 5s
            redis:
              url: redis://\(self.login)localhost:\(self.redis.port)
            budget:
              lease: \(Self.lease.components.seconds)s
              heartbeat: 500ms
              quantum: 1s
            \(self.budgetSettings.map { "  \($0)\n" }.joined())
            worker:
              drain_timeout: \(self.drainTimeout.components.seconds)s
            \(self.workerSettings.map { "  \($0)\n" }.joined())
            credentials:
              main:
                environment: production
                \(self.proof)
                max_connections: \(self.maxConnections)
                host: localhost
                port: \(self.proxy?.port ?? Int(self.simulator.port))
                ca_file: \(certificates.authority)
            \(self.credentialSettings.map { "    \($0)\n" }.joined())
            apps:
              \(Self.app.name):
                credential: main
            \(self.appSettings.map { "    \($0)\n" }.joined())
                retry:
                  min_backoff: 1s
                  max_backoff: 2s
                  max_doublings: 1
                  age_limit: 10m
            \(self.moreApps.map { "  \($0):\n    credential: main\n    retry: {min_backoff: 1s, max_backoff: 1s}\n" }.joined())
            """
        try text.write(toFile: self.configuration, atomically: true, encoding: .utf8)
    }
}

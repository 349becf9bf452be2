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
    static func startSimulator(
        latency: Duration,
        streams: UInt32 = 1000,
        port: UInt16 = 0
    ) async throws -> Simulator {
        var settings = try TestFleet.simulator()
        settings.port = port
        settings.latency = latency
        settings.streams = streams
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
        let differences = try await self.session.declare(self.topology)
        try #require(differences.isEmpty)
    }

    /// The same, and takes out what tests before have left there.
    func declareEmpty() async throws {
        try await self.declare()
        for queue in self.topology.queues { try await self.session.purge(queue: queue.name) }
    }

    /// Declares that no worker is running, as an operator does for a new Redis.
    func initializeBudget() async throws {
        let session = try await RedisSession.open(RedisAddress("redis://localhost:\(self.redis.port)"))
        if let server = await session.server() {
            for pool in [self.pool] + self.moreCredentials.map(\.pool) {
                _ = try await session.run(Budget(pool: pool, connections: Self.budget).initialize(on: server))
            }
        }
        session.close()
    }

    /// Adds credentials with apps of their own, as an operator does: their queues and budgets are declared, and the
    /// configuration names them. Their Apple knows their keys.
    func add(_ credentials: [Credential]) async throws {
        self.moreCredentials += credentials
        for credential in credentials where credential.port == nil {
            try await self.simulator.addKey(credential.key.provider)
        }
        try await self.declareEmpty()
        try await self.initializeBudget()
        try self.writeConfiguration()
    }

    /// Everything that there is to publish to.
    var topology: Topology {
        FleetTopology.make(
            apps: [Self.app] + self.moreApps.compactMap { AppID($0) } + self.moreCredentials.flatMap(\.apps),
            delays: Self.delays
        )
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
              lease: \(Self.written(self.times.lease))
              heartbeat: \(Self.written(self.times.heartbeat))
              quantum: \(Self.written(self.times.quantum))
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
            \(self.moreCredentials.map(self.lines).joined())
            apps:
              \(Self.app.name):
                credential: main
            \(self.appSettings.map { "    \($0)\n" }.joined())
                retry:
                  min_backoff: 1s
                  max_backoff: 2s
                  max_doublings: 1
                  age_limit: 10m
            \(self.moreApps.map { Self.lines(ofApp: $0, credential: "main") }.joined())
            \(self.moreCredentials.flatMap { credential in
                credential.apps.map { Self.lines(ofApp: $0.name, credential: credential.name) }
            }.joined())
            """
        try text.write(toFile: self.configuration, atomically: true, encoding: .utf8)
        for credential in self.moreCredentials {
            try credential.key.text.write(toFile: self.file(of: credential), atomically: true, encoding: .utf8)
        }
    }

    private static func written(_ time: Duration) -> String {
        let milliseconds = time.nanoseconds / 1_000_000
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }

    private func file(of credential: Credential) -> String { "\(self.directory)/\(credential.name).p8" }

    private func lines(of credential: Credential) -> String {
        """
          \(credential.name):
            environment: production
            team_id: TEAM123456
            key_id: \(credential.key.id)
            key_file: \(self.file(of: credential))
            max_connections: \(credential.connections)
            host: localhost
            port: \(credential.port ?? self.simulator.port)
            ca_file: \(TestCertificates.shared.authority)

        """
    }

    private static func lines(ofApp app: String, credential: String) -> String {
        "  \(app):\n    credential: \(credential)\n    retry: {min_backoff: 1s, max_backoff: 1s}\n"
    }
}

extension Fleet.Credential {
    /// The name of its budget.
    var pool: String { "production.TEAM123456.\(self.key.id)" }
    var poolKey: String { Keys.budget(pool: self.pool) }
}

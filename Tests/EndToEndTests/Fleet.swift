import Broker
import Foundation
import Logging
import Push
import Simulator
import Store
import Synchronization
import TestServers
import Testing
import Worker

/// A whole fleet in one process: real RabbitMQ (a virtual host of its own), a real Redis of its own, a simulator on
/// real TLS and HTTP/2, and as many workers as a test starts.
///
/// What tests judge is what the simulator's ledger and the queues say, never what a worker says of itself.
final class Fleet: Sendable {
    static let app = "com.example.shop"
    static let keyID = "KEY1234567"
    static let teamID = "TEAM123456"

    /// What a test may have otherwise.
    struct Options: Sendable {
        var apps: [String] = [Fleet.app]
        var retry = Schedule()
        var connections = 2
        var deliveryLimit = FleetTopology.deliveryLimit
        /// Whether the simulator knows the fleet's key from the beginning.
        var isKeyRegistered = true
        var latency: Duration = .zero
        var requestTimeout: Duration = .seconds(20)
        var keptBodies = 20_000
        var breaker = BreakerSettings()
        /// Whether each app has a key, and so a budget and connections, of its own.
        var hasKeyPerApp = false
        /// Whether broadcasts go to a simulator of their own, over one connection.
        var hasBroadcastHost = false
    }

    struct Schedule: Sendable {
        var minBackoff: Duration = .seconds(1)
        var maxBackoff: Duration = .seconds(4)
        var maxDoublings = 2
        var ageLimit: Duration = .seconds(600)
        var retryLimit: Int?
    }

    let options: Options
    let settings: FleetSettings
    let simulator: Simulator
    /// Where broadcasts go, if not to the other one.
    let broadcastSimulator: Simulator?
    let redis: PrivateRedis
    let vhost: String
    let session: BrokerSession
    let ladder: DelayLadder
    private let workers = Mutex<[Worker]>([])

    /// Starts a fleet without workers, runs `body`, and ends everything, also after an error.
    static func run(_ options: Options = Options(), _ body: (Fleet) async throws -> Void) async throws {
        let fleet = try await Fleet(options)
        do {
            try await body(fleet)
        } catch {
            await fleet.stop()
            throw error
        }
        await fleet.stop()
    }

    private init(_ options: Options) async throws {
        self.options = options
        let certificates = TestCertificates.shared
        var play = Simulator.Settings(
            certificate: certificates.serverCertificate,
            privateKey: certificates.serverKey
        )
        play.controlPort = nil
        play.latency = options.latency
        play.keptBodies = options.keptBodies
        play.initialStreams = 1
        if options.isKeyRegistered { play.keys = [try Self.key()] }
        if options.hasKeyPerApp { play.keys += try options.apps.indices.map { try Self.key(Self.keyID($0)) } }
        self.simulator = try await Simulator.start(play)
        self.broadcastSimulator = options.hasBroadcastHost ? try await Simulator.start(play) : nil
        self.redis = try PrivateRedis(volatile: true)
        let rabbit = PrivateRabbitMQ.shared
        self.vhost = try rabbit.makeVhost()
        var settings = try Self.settings(
            options,
            amqp: rabbit.url(vhost: self.vhost),
            redis: self.redis.port,
            apns: self.simulator.port
        )
        if let port = self.broadcastSimulator?.port {
            settings.credentials[0].broadcast = BroadcastHost(host: nil, port: port)
            settings.deriveBroadcastCredentials()
        }
        self.settings = settings
        self.ladder = DelayLadder(schedules: settings.apps.map(\.retry))
        self.session = try await BrokerSession.connect(
            BrokerSettings(
                address: AMQPAddress(parsing: settings.amqp.url),
                connectionName: "end-to-end test"
            ),
            timeout: .seconds(60)
        )
        let topology = FleetTopology.make(
            apps: settings.apps.compactMap { AppID($0.id) },
            delays: self.ladder.levels,
            deliveryLimit: options.deliveryLimit
        )
        let differences = try await self.session.declare(topology)
        try #require(differences.isEmpty, "\(differences)")
        try await self.declareBudget()
    }

    private static func settings(
        _ options: Options,
        amqp: String,
        redis: Int,
        apns: UInt16
    ) throws -> FleetSettings {
        var settings = FleetSettings(
            amqp: ServerSettings(url: amqp),
            redis: ServerSettings(url: "redis://127.0.0.1:\(redis)/0")
        )
        var credential = CredentialSettings(
            name: "main",
            environment: .production,
            teamID: Self.teamID,
            keyID: Self.keyID,
            keyFile: TestCertificates.shared.signingKey,
            maxConnections: options.connections
        )
        credential.host = "localhost"
        credential.port = apns
        credential.caFile = TestCertificates.shared.authority
        settings.credentials = [credential]
        if options.hasKeyPerApp {
            settings.credentials = options.apps.indices.map { index in
                var own = credential
                own.name = "key-\(index)"
                own.kind = .token(
                    SigningKeySettings(
                        teamID: Self.teamID,
                        keyID: Self.keyID(index),
                        file: TestCertificates.shared.signingKey
                    )
                )
                return own
            }
        }
        let schedule = try RetrySchedule(
            minBackoff: options.retry.minBackoff,
            maxBackoff: options.retry.maxBackoff,
            maxDoublings: options.retry.maxDoublings,
            ageLimit: options.retry.ageLimit,
            retryLimit: options.retry.retryLimit
        )
        settings.apps = options.apps.enumerated().map { index, name in
            let key = options.hasKeyPerApp ? "key-\(index)" : "main"
            var app = AppSettings(id: name, bundleID: name, credential: key, retry: schedule)
            app.breaker = options.breaker
            return app
        }
        settings.budget.lease = .seconds(3)
        settings.budget.heartbeat = .milliseconds(500)
        settings.budget.quantum = .seconds(3)
        settings.worker.drainTimeout = .seconds(5)
        settings.worker.requestTimeout = options.requestTimeout
        return settings
    }

    /// The key of one app, if each has its own.
    static func keyID(_ index: Int) -> String { "KEYNUMBER\(Character(UnicodeScalar(UInt8(65 + index))))" }

    static func key(_ id: String = Fleet.keyID) throws -> ProviderKey {
        let pem = try String(contentsOfFile: TestCertificates.shared.signingPublicKey, encoding: .utf8)
        return ProviderKey(id: id, team: Self.teamID, pem: pem)
    }

    /// Without it the first worker would wait for one lease time, as with a Redis that lost its data.
    private func declareBudget() async throws {
        let redis = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(self.redis.port)))
        defer { redis.close() }
        let server = try #require(await redis.server())
        for credential in self.settings.credentials {
            let budget = Budget(pool: credential.pool, connections: credential.maxConnections)
            _ = try await redis.run(budget.initialize(on: server))
        }
    }

    // MARK: Workers

    /// Starts a worker in this process; returns when it holds a lease.
    @discardableResult
    func startWorker(_ change: (inout FleetSettings) -> Void = { _ in }) async throws -> Worker {
        var settings = self.settings
        change(&settings)
        let (ready, announce) = AsyncStream.makeStream(of: Void.self)
        var logger = Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        if ProcessInfo.processInfo.environment["PUSHFLEET_TEST_LOG"] != nil { logger = Logger(label: "worker") }
        let worker = try Worker.start(
            settings,
            version: "test",
            host: "here",
            processID: ProcessInfo.processInfo.processIdentifier,
            logger: logger,
            onReady: { announce.finish() }
        )
        self.workers.withLock { $0.append(worker) }
        try await within(.seconds(30), "a worker is ready") { for await _ in ready {} }
        return worker
    }

    /// Drains all workers, so that what they held is back in the queues.
    func stopWorkers() async {
        let workers = self.workers.withLock { workers in
            defer { workers = [] }
            return workers
        }
        for worker in workers { await worker.drain() }
    }

    private func stop() async {
        await self.stopWorkers()
        await self.session.close()
        await self.simulator.stop()
        await self.broadcastSimulator?.stop()
        self.redis.stop()
    }
}

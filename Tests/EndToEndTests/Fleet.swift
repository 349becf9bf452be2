import Broker
import Foundation
import Logging
import Push
import Simulator
import Synchronization
import TestFleet
import TestServers
import Testing
import Worker

/// A whole fleet in one process: real RabbitMQ (a virtual host of its own), a real Redis of its own, a simulator on
/// real TLS and HTTP/2, and as many workers as a test starts.
///
/// What tests judge is what the simulator's ledger and the queues say, never what a worker says of itself.
final class Fleet: Sendable {
    static let app = TestFleet.app
    static let keyID = TestFleet.keyID
    static let teamID = TestFleet.teamID

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
        var play = try TestFleet.simulator()
        play.latency = options.latency
        play.keptBodies = options.keptBodies
        play.initialStreams = 1
        if !options.isKeyRegistered { play.keys = [] }
        if options.hasKeyPerApp { play.keys += try options.apps.indices.map { try TestFleet.key(Self.keyID($0)) } }
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
        self.session = try await TestFleet.declare(
            settings,
            redis: self.redis.port,
            deliveryLimit: options.deliveryLimit
        )
    }

    private static func settings(
        _ options: Options,
        amqp: String,
        redis: Int,
        apns: UInt16
    ) throws -> FleetSettings {
        var settings = TestFleet.settings(amqp: amqp, redis: redis, apns: apns, connections: options.connections)
        if options.hasKeyPerApp {
            settings.credentials = options.apps.indices.map { index in
                var own = settings.credentials[0]
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
        settings.worker.requestTimeout = options.requestTimeout
        return settings
    }

    /// The key of one app, if each has its own.
    static func keyID(_ index: Int) -> String { "KEYNUMBER\(Character(UnicodeScalar(UInt8(65 + index))))" }

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

import APNs
import Broker
import Foundation
import Push
import Simulator
import Store
import TestServers
import Testing
import Worker

/// Real servers and real workers: RabbitMQ, a Redis per test, a simulator in this process, and workers as processes.
///
/// Every message is for one token, and message number n is for token number n, so that the simulator's ledger and the
/// queues tell what became of each.
final class Fleet {
    static let budget = 4
    static let lease = Duration.seconds(3)
    /// Messages that one worker holds at most: the largest prefetch, and for a while after a change as much again.
    static let mostHeld = 4000
    static let app = AppID("com.example.shop")!
    static let queue = FleetTopology.workQueue(app: Fleet.app, lane: .now)

    /// One for all tests, which run one after the other: a test that hurts it heals it.
    static let rabbit: PrivateRabbitMQ = {
        do {
            return try PrivateRabbitMQ(vhosts: 0)
        } catch {
            fatalError("RabbitMQ does not start: \(error)")
        }
    }()

    /// How the fleet shares its connections.
    struct Times {
        var lease = Fleet.lease
        var heartbeat: Duration = .milliseconds(500)
        var quantum: Duration = .seconds(1)

        static let standard = Times(lease: .seconds(20), heartbeat: .seconds(3), quantum: .seconds(30))
    }

    /// A signing key with a budget of its own.
    struct Credential {
        let name: String
        let key: SigningKey
        var connections = Fleet.budget
        /// Where its Apple is; nil for the simulator of the fleet.
        var port: UInt16?
        let apps: [AppID]
    }

    private static let retry = try! RetrySchedule(
        minBackoff: .seconds(1),
        maxBackoff: .seconds(2),
        maxDoublings: 1,
        ageLimit: .seconds(600),
        retryLimit: nil
    )
    static let delays = DelayLadder(schedules: [Fleet.retry]).levels

    let redis: PrivateRedis
    /// Between the workers and the simulator, for a test that asks for one.
    let proxy: FaultProxy?
    private(set) var simulator: Simulator
    private(set) var session: BrokerSession
    let directory: String
    let login: String
    let workerSettings: [String]
    /// What the configuration names from the next `writeConfiguration` on.
    var keyID = "KEY1234567"
    /// More lines of the app.
    var appSettings: [String] = []
    var maxConnections = Fleet.budget
    var times = Times()
    /// Apps beside the one of the test, with its credential.
    var moreApps: [String] = []
    /// Credentials beside the first one, each with apps of its own.
    var moreCredentials: [Credential] = []
    /// More lines of the section `budget`.
    var budgetSettings: [String] = []
    /// More lines of the credential.
    var credentialSettings: [String] = []
    var keyFile = TestCertificates.shared.signingKey
    /// Files of a certificate, to be used in place of the key.
    var certificate: (file: String, key: String)?
    let drainTimeout: Duration
    private(set) var workers: [WorkerProcess] = []
    private(set) var published: Set<Int> = []
    private var next = 0
    /// How often each token was accepted by simulators that are gone.
    private(set) var acceptedBefore: [Int: Int] = [:]
    /// What they have answered.
    private(set) var answeredBefore: Set<Int> = []
    private(set) var peakBefore = 0

    /// - Parameter login: stands before the host in the workers' Redis address.
    private init(
        redis: PrivateRedis?,
        login: String,
        latency: Duration,
        streams: UInt32,
        drainTimeout: Duration,
        worker: [String],
        isProxied: Bool
    ) async throws {
        self.redis = try redis ?? PrivateRedis()
        self.drainTimeout = drainTimeout
        self.login = login
        self.workerSettings = worker
        self.directory = try Repository.makeTemporaryDirectory("faults")
        let simulator = try await Self.startSimulator(latency: latency, streams: streams)
        self.simulator = simulator
        self.proxy = isProxied ? try FaultProxy(to: Int(simulator.port)) : nil
        self.session = try await Self.connect()
        try await self.declareEmpty()
        try await self.initializeBudget()
        try self.writeConfiguration()
    }

    /// Runs a test on a fleet of its own, and ends all of it however the test ends.
    /// - Parameters:
    ///   - streams: what Apple allows on a connection.
    ///   - worker: lines for the configuration's section `worker`.
    ///   - isProxied: whether the workers reach the simulator through `proxy`.
    static func run(
        redis: PrivateRedis? = nil,
        login: String = "",
        latency: Duration,
        streams: UInt32 = 1000,
        drainTimeout: Duration = .seconds(20),
        worker: [String] = [],
        isProxied: Bool = false,
        _ test: (Fleet) async throws -> Void
    ) async throws {
        let fleet = try await Fleet(
            redis: redis,
            login: login,
            latency: latency,
            streams: streams,
            drainTimeout: drainTimeout,
            worker: worker,
            isProxied: isProxied
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(fleet))
        } catch {
            await fleet.explain()
            result = .failure(error)
        }
        await fleet.stop()
        try result.get()
    }

    /// Prints what helps to find out why a test failed.
    func explain() async {
        if let summary = try? await self.simulator.summary() {
            print(
                "\(summary.requests) requests, \(summary.answered) answered, \(summary.accepted) accepted, "
                    + "\(summary.connectionsOpen) connections; \(self.published.count) published, "
                    + "\((try? await self.waiting()) ?? -1) waiting"
            )
        }
        if let pool = try? self.redis.cli("HGETALL", self.poolKey) { print(pool) }
        for worker in self.workers { print("The worker's log:\n\(worker.log.suffix(4000))") }
    }

    private func stop() async {
        for worker in self.workers where worker.end == nil { worker.signal(SIGKILL) }
        for worker in self.workers { _ = try? await worker.waitForEnd() }
        await self.session.close()
        self.proxy?.stop()
        await self.simulator.stop()
        self.redis.stop()
        Repository.remove(self.directory)
    }

    // MARK: Workers and servers

    /// - Parameter arguments: beside the configuration.
    func startWorker(_ arguments: [String] = []) throws -> WorkerProcess {
        let worker = try WorkerProcess(
            arguments,
            configuration: self.configuration,
            directory: self.directory,
            name: "worker-\(self.workers.count)"
        )
        self.workers.append(worker)
        return worker
    }

    /// After the broker was away.
    func reconnect() async throws {
        try await eventually("RabbitMQ takes connections again") {
            do {
                self.session = try await Self.connect()
                return try await self.session.queueDepths([Self.queue]).count == 1
            } catch is BrokerError {
                return false
            }
        }
    }

    /// Ends the simulator in the middle of what it does, and starts another in its place.
    ///
    /// What is under way when it ends stays without an answer, and nothing is answered that its ledger does not tell.
    /// - Returns: how many requests had no answer.
    func restartSimulator(latency: Duration) async throws -> Int {
        try await self.simulator.setLatency(.seconds(15))
        // Answers that are still due from before come within the old latency.
        var last = try await self.simulator.summary()
        try await eventually("no answers are due") {
            try await Task.sleep(for: .milliseconds(500))
            let now = try await self.simulator.summary()
            defer { last = now }
            return now.answered == last.answered && now.requests - now.answered > 0
        }
        for (token, count) in try await self.accepted() { self.acceptedBefore[token, default: 0] += count }
        self.peakBefore = max(self.peakBefore, last.connectionsPeak)
        self.answeredBefore.formUnion(try await self.accepted(answered: true).keys)
        await self.simulator.stop()
        self.simulator = try await Self.startSimulator(latency: latency, port: self.simulator.port)
        return last.requests - last.answered
    }

    // MARK: Load

    /// Publishes so many messages and remembers those that the broker has confirmed.
    func publish(_ count: Int, to app: AppID = Fleet.app) async throws {
        let numbers = self.next..<self.next + count
        self.next += count
        let outcomes = try await self.session.publish(numbers.map { Self.message($0, to: app) })
        for (number, outcome) in zip(numbers, outcomes) where outcome == .confirmed { self.published.insert(number) }
    }

    private static func message(_ number: Int, to app: AppID) -> Message {
        let token = String(repeating: "0", count: 64 - "\(number)".count) + "\(number)"
        let body =
            #"{"app":"\#(app.name)","tokens":["\#(token)"],"payload":{"aps":{"alert":"Number \#(number)"}}}"#
        return Message(
            exchange: FleetTopology.exchange,
            routingKey: FleetTopology.routingKey(app: app, lane: .now),
            properties: MessageProperties(messageID: Array("fault-\(number)".utf8)),
            body: Array(body.utf8)
        )
    }

    /// Publishes more whenever little waits, so that the fleet always wants all of its budget.
    func topUp(_ app: AppID = Fleet.app) async throws {
        if try await self.ready(app) < 1500 { try await self.publish(500, to: app) }
    }
}

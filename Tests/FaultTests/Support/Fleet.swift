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

    private static let retry = try! RetrySchedule(
        minBackoff: .seconds(1),
        maxBackoff: .seconds(2),
        maxDoublings: 1,
        ageLimit: .seconds(600),
        retryLimit: nil
    )
    private static let topology = FleetTopology.make(
        apps: [Fleet.app],
        delays: DelayLadder(schedules: [Fleet.retry]).levels
    )

    let redis: PrivateRedis
    /// Between the workers and the simulator, for a test that asks for one.
    let proxy: FaultProxy?
    private(set) var simulator: Simulator
    private(set) var session: BrokerSession
    let directory: String
    private let login: String
    private let workerSettings: [String]
    /// What the configuration names from the next `writeConfiguration` on.
    var keyID = "KEY1234567"
    /// More lines of the credential.
    var credentialSettings: [String] = []
    var keyFile = TestCertificates.shared.signingKey
    /// Files of a certificate, to be used in place of the key.
    var certificate: (file: String, key: String)?
    private let drainTimeout: Duration
    private var workers: [WorkerProcess] = []
    private var published: Set<Int> = []
    private var next = 0
    /// How often each token was accepted by simulators that are gone.
    private var acceptedBefore: [Int: Int] = [:]
    /// What they have answered.
    private var answeredBefore: Set<Int> = []
    private var peakBefore = 0

    /// - Parameter login: stands before the host in the workers' Redis address.
    private init(
        redis: PrivateRedis?,
        login: String,
        latency: Duration,
        drainTimeout: Duration,
        worker: [String],
        isProxied: Bool
    ) async throws {
        self.redis = try redis ?? PrivateRedis()
        self.drainTimeout = drainTimeout
        self.login = login
        self.workerSettings = worker
        self.directory = try Repository.makeTemporaryDirectory("faults")
        let simulator = try await Self.startSimulator(latency: latency)
        self.simulator = simulator
        self.proxy = isProxied ? try FaultProxy(to: Int(simulator.port)) : nil
        self.session = try await Self.connect()
        try await self.declare()
        for queue in Self.topology.queues { try await self.session.purge(queue: queue.name) }
        try await self.initializeBudget()
        try self.writeConfiguration()
    }

    /// Runs a test on a fleet of its own, and ends all of it however the test ends.
    /// - Parameters:
    ///   - worker: lines for the configuration's section `worker`.
    ///   - isProxied: whether the workers reach the simulator through `proxy`.
    static func run(
        redis: PrivateRedis? = nil,
        login: String = "",
        latency: Duration,
        drainTimeout: Duration = .seconds(20),
        worker: [String] = [],
        isProxied: Bool = false,
        _ test: (Fleet) async throws -> Void
    ) async throws {
        let fleet = try await Fleet(
            redis: redis,
            login: login,
            latency: latency,
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
    private func explain() async {
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

    // MARK: Building

    private static func startSimulator(latency: Duration, port: UInt16 = 0) async throws -> Simulator {
        let certificates = TestCertificates.shared
        var settings = Simulator.Settings(
            certificate: certificates.serverCertificate,
            privateKey: certificates.serverKey
        )
        settings.port = port
        settings.controlPort = nil
        settings.latency = latency
        settings.keys = [try Self.providerKey()]
        return try await Simulator.start(settings)
    }

    static func providerKey() throws -> ProviderKey {
        ProviderKey(
            id: "KEY1234567",
            team: "TEAM123456",
            pem: try String(contentsOfFile: TestCertificates.shared.signingPublicKey, encoding: .utf8)
        )
    }

    private static func connect() async throws -> BrokerSession {
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
    private func initializeBudget() async throws {
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
    private var configuration: String { "\(self.directory)/pushfleet.yaml" }

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
            worker:
              drain_timeout: \(self.drainTimeout.components.seconds)s
            \(self.workerSettings.map { "  \($0)\n" }.joined())
            credentials:
              main:
                environment: production
                \(self.proof)
                max_connections: \(Self.budget)
                host: localhost
                port: \(self.proxy?.port ?? Int(self.simulator.port))
                ca_file: \(certificates.authority)
            \(self.credentialSettings.map { "    \($0)\n" }.joined())
            apps:
              \(Self.app.name):
                credential: main
                retry:
                  min_backoff: 1s
                  max_backoff: 2s
                  max_doublings: 1
                  age_limit: 10m
            """
        try text.write(toFile: self.configuration, atomically: true, encoding: .utf8)
    }

    func startWorker() throws -> WorkerProcess {
        let worker = try WorkerProcess(
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
    func publish(_ count: Int) async throws {
        let numbers = self.next..<self.next + count
        self.next += count
        let outcomes = try await self.session.publish(numbers.map(Self.message))
        for (number, outcome) in zip(numbers, outcomes) where outcome == .confirmed { self.published.insert(number) }
    }

    private static func message(_ number: Int) -> Message {
        let token = String(repeating: "0", count: 64 - "\(number)".count) + "\(number)"
        let body =
            #"{"app":"\#(Self.app.name)","tokens":["\#(token)"],"payload":{"aps":{"alert":"Number \#(number)"}}}"#
        return Message(
            exchange: FleetTopology.exchange,
            routingKey: FleetTopology.routingKey(app: Self.app, lane: .now),
            properties: MessageProperties(messageID: Array("fault-\(number)".utf8)),
            body: Array(body.utf8)
        )
    }

    /// Publishes more whenever little waits, so that the fleet always wants all of its budget.
    func topUp() async throws {
        if try await self.ready() < 1500 { try await self.publish(500) }
    }

    // MARK: Watching

    /// Messages in the work queue that no worker holds.
    func ready() async throws -> Int {
        try await self.session.queueDepths([Self.queue])[Self.queue]?.messages ?? 0
    }

    /// Queues where nothing is still to be done.
    private static let ends = [
        FleetTopology.dead, FleetTopology.feedback, FleetTopology.suspect, FleetTopology.receipts,
    ]

    /// Messages in all queues where something is still to be done.
    func waiting() async throws -> Int {
        let names = Self.topology.queues.map(\.name).filter { !Self.ends.contains($0) }
        return try await self.session.queueDepths(names).values.reduce(0) { $0 + $1.messages }
    }

    func dead() async throws -> Int {
        try await self.session.queueDepths([FleetTopology.dead])[FleetTopology.dead]?.messages ?? 0
    }

    /// Requests without an answer.
    func inFlight() async throws -> Int {
        let summary = try await self.simulator.summary()
        return summary.requests - summary.answered
    }

    func connections() async throws -> Int { try await self.simulator.summary().connectionsOpen }

    /// Requests on connections that are closed, which therefore never got an answer: what may be sent once more.
    /// - Parameter connections: how many stay open; waits until the others are closed.
    func cutOff(connections: Int? = nil) async throws -> Int {
        if let connections {
            try await eventually("connections are closed") { try await self.connections() <= connections }
        }
        let closed = try await self.simulator.connections(limit: 10_000).filter { $0.closedAt != nil }.map(\.number)
        var count = 0
        for connection in closed {
            let filter = LedgerFilter(connection: connection, accepted: true, answered: false, limit: 1_000_000)
            count += try await self.simulator.requests(filter).count
        }
        return count
    }

    func waitForInFlight(_ count: Int) async throws {
        do {
            try await eventually("\(count) requests in flight") { try await self.inFlight() >= count }
        } catch {
            let summary = try await self.simulator.summary()
            let logs = self.workers.map { $0.log.suffix(3000) }.joined(separator: "\n")
            throw NeverHappened(
                description: "\(error); \(summary.requests) requests, \(summary.answered) answered, "
                    + "\(summary.connectionsOpen) connections, verdicts \(summary.verdicts)\n\(logs)"
            )
        }
    }

    func waitForAccepted(_ count: Int) async throws {
        try await eventually("\(count) pushes accepted") { try await self.simulator.summary().accepted >= count }
    }

    /// Connections that Redis counts, by worker.
    /// - Parameter poolKey: of which budget; nil for that of the first key.
    func grants(of poolKey: String? = nil) throws -> [Int] {
        let fields = try self.redis.cli("HGETALL", poolKey ?? self.poolKey).split(separator: "\n")
        return stride(from: 0, to: fields.count - 1, by: 2).compactMap { index in
            fields[index] == "meta" ? nil : fields[index + 1].split(separator: " ").first.flatMap { Int($0) }
        }
    }

    /// What the workers have counted for the one lane that there is, by field.
    func counters() throws -> [String: Int] {
        let text = try self.redis.cli("HGETALL", Keys.counters(app: Self.app.name, lane: Lane.now.rawValue))
        let fields = text.split(separator: "\n").map(String.init)
        return stride(from: 0, to: fields.count - 1, by: 2).reduce(into: [:]) { $0[fields[$1]] = Int(fields[$1 + 1]) }
    }

    /// Whether Redis lets no grant grow because it may have lost some.
    func isQuarantined() throws -> Bool {
        let meta = try self.redis.cli("HGET", self.poolKey, "meta").split(separator: " ")
        guard meta.count == 3, let now = Int(meta[1]), let end = Int(meta[2]) else { return false }
        return end > now
    }

    // MARK: The end

    /// Waits until everything that was published is settled.
    func settled(within limit: Duration = .seconds(90)) async throws {
        try await eventually("everything is settled", within: limit) {
            guard try await self.waiting() == 0 else { return false }
            // Between two queues a message is in none: only its answer tells that it is done.
            let answered = try await self.accepted(answered: true).keys
            let done = self.answeredBefore.union(answered).count + (try await self.dead())
            return done >= self.published.count
        }
    }

    /// Waits until everything is settled, ends the workers that still run, and counts.
    func finish() async throws -> Verdict {
        try await self.settled()
        for worker in self.workers where worker.end == nil { worker.signal(SIGTERM) }
        for worker in self.workers { try await worker.waitForEnd() }
        let verdict = try await self.count()
        if verdict.lost > 0 || verdict.stillQueued > 0 { await self.explain() }
        return verdict
    }

    private func count() async throws -> Verdict {
        var accepted = try await self.accepted()
        for (token, count) in self.acceptedBefore { accepted[token, default: 0] += count }
        let dead = try await self.numbers(in: FleetTopology.dead)
        var queued: Set<Int> = []
        for queue in Self.topology.queues.map(\.name) where !Self.ends.contains(queue) {
            queued.formUnion(try await self.numbers(in: queue))
        }
        var verdict = Verdict()
        verdict.published = self.published.count
        verdict.delivered = accepted.count
        verdict.duplicates = accepted.values.reduce(0) { $0 + $1 - 1 }
        verdict.deadLettered = dead.count
        verdict.lost = self.published.count { accepted[$0] == nil && !dead.contains($0) && !queued.contains($0) }
        verdict.stillQueued = queued.count
        verdict.peak = max(self.peakBefore, try await self.simulator.summary().connectionsPeak)
        return verdict
    }

    /// How often each token was accepted.
    private func accepted(answered: Bool? = nil) async throws -> [Int: Int] {
        let filter = LedgerFilter(accepted: true, answered: answered, limit: 1_000_000)
        let records = try await self.simulator.requests(filter)
        return Dictionary(records.compactMap { Int($0.token).map { ($0, 1) } }, uniquingKeysWith: +)
    }

    /// Takes everything out of a queue.
    private func numbers(in queue: String) async throws -> Set<Int> {
        var numbers: Set<Int> = []
        while let delivery = try await self.session.get(queue: queue) {
            let id = String(decoding: delivery.messageID, as: UTF8.self)
            if let number = Int(id.dropFirst("fault-".count)) { numbers.insert(number) }
            try await self.session.ack(delivery.id)
        }
        return numbers
    }
}

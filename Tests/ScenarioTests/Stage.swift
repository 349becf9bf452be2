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

/// A fleet and a simulator that plays one of the shipped scenarios: real RabbitMQ (a virtual host of its own), a real
/// Redis of its own, real TLS and HTTP/2, and the real worker.
///
/// Every message is for one token. What became of them is read from the simulator's ledger and the queues; the
/// worker's own counters are only compared with them.
final class Stage: Sendable {
    static let app = TestFleet.app

    let simulator: Simulator
    let redis: PrivateRedis
    private let session: BrokerSession
    private let settings: FleetSettings
    private let ladder: DelayLadder
    private let worker = Mutex<Worker?>(nil)
    private let published = Mutex<Set<String>>([])
    let log = WorkerLog()

    /// Plays `deploy/simulator/scenarios/<name>.yaml`, and ends everything however `body` ends.
    static func play(
        _ name: String,
        _ change: (inout FleetSettings) -> Void = { _ in },
        _ body: (Stage) async throws -> Void
    ) async throws {
        let stage = try await Stage(name, change)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(stage))
        } catch {
            await stage.explain(name)
            result = .failure(error)
        }
        await stage.stop()
        try result.get()
    }

    private init(_ name: String, _ change: (inout FleetSettings) -> Void) async throws {
        var part = try TestFleet.simulator()
        part.play(try Self.scenario(name))
        self.simulator = try await Simulator.start(part)
        self.redis = try PrivateRedis(volatile: true)
        let rabbit = PrivateRabbitMQ.shared
        var settings = TestFleet.settings(
            amqp: rabbit.url(vhost: try rabbit.makeVhost()),
            redis: self.redis.port,
            apns: self.simulator.port,
            connections: 2
        )
        let retry = try RetrySchedule(
            minBackoff: .seconds(1),
            maxBackoff: .seconds(2),
            maxDoublings: 1,
            ageLimit: .seconds(600),
            retryLimit: nil
        )
        settings.apps = [AppSettings(id: Self.app, bundleID: Self.app, credential: "main", retry: retry)]
        settings.worker.requestTimeout = .seconds(3)
        change(&settings)
        self.settings = settings
        self.ladder = DelayLadder(schedules: settings.apps.map(\.retry))
        self.session = try await TestFleet.declare(settings, redis: self.redis.port)
    }

    static func scenario(_ name: String) throws -> Scenario {
        let path = "\(Repository.root)/deploy/simulator/scenarios/\(name).yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try Scenario(text: text) { name throws(ScenarioProblem) in
            throw ScenarioProblem(text: "a shipped scenario needs no file \(name)")
        }
    }

    private func stop() async {
        await self.drain()
        await self.session.close()
        await self.simulator.stop()
        self.redis.stop()
    }

    /// Prints what helps to find out why a test failed.
    private func explain(_ name: String) async {
        let summary = try? await self.simulator.summary()
        let waiting = (try? await self.waiting()) ?? -1
        print("SCENARIO \(name) failed: \(String(describing: summary)); \(waiting) waiting; \(self.counters())")
        print(self.log.lines.suffix(40).joined(separator: "\n"))
    }

    // MARK: The worker

    func startWorker() async throws {
        let (ready, announce) = AsyncStream.makeStream(of: Void.self)
        let log = self.log
        let worker = try Worker.start(
            self.settings,
            version: "test",
            host: "here",
            processID: ProcessInfo.processInfo.processIdentifier,
            logger: Logger(label: "worker") { _ in log },
            onReady: { announce.finish() }
        )
        self.worker.withLock { $0 = worker }
        for await _ in ready {}
    }

    func drain() async {
        let worker = self.worker.withLock { $0.take() }
        await worker?.drain()
    }

    /// The counters of the app's lane, as Redis has them; up to half a second old.
    func counters() -> [String: Int] {
        let fields = (try? self.redis.cli("HGETALL", "pf:{counters}:of:now:\(Self.app)"))?.split(separator: "\n") ?? []
        let pairs = stride(from: 0, to: fields.count - 1, by: 2).compactMap { index in
            Int(fields[index + 1]).map { (String(fields[index]), $0) }
        }
        return Dictionary(pairs) { _, last in last }
    }

    // MARK: Messages

    /// Publishes one message to each token.
    func publish(_ tokens: [String]) async throws {
        let messages = tokens.map { token in
            Message(
                exchange: FleetTopology.exchange,
                routingKey: "\(Self.app).now",
                properties: MessageProperties(messageID: Array("message-\(token)".utf8)),
                body: Array(#"{"app":"\#(Self.app)","tokens":["\#(token)"],"payload":{"aps":{"badge":1}}}"#.utf8)
            )
        }
        let outcomes = try await self.session.publish(messages)
        self.published.withLock { published in
            for (token, outcome) in zip(tokens, outcomes) where outcome == .confirmed { published.insert(token) }
        }
    }

    /// Publishes to so many tokens whose first digits are spread evenly.
    func publish(_ count: Int) async throws {
        try await self.publish((0..<count).map(Self.token))
    }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        let padded = String(repeating: "0", count: 8 - digits.count) + digits
        return String(padded.reversed()) + String(repeating: "7", count: 56)
    }

    /// Messages that wait in work and delay queues; those that a worker holds do not count.
    func waiting() async throws -> Int {
        let names = self.ladder.levels.map(\.queueName) + Lane.allCases.map { "pushfleet.\(Self.app).\($0.rawValue)" }
        return try await self.session.queueDepths(names).values.reduce(0) { $0 + $1.messages }
    }

    func depth(_ queue: String) async throws -> Int {
        try await self.session.queueDepths([queue])[queue]?.messages ?? 0
    }

    /// Takes everything out of a queue.
    func take(from queue: String) async throws -> [Delivery] {
        var taken: [Delivery] = []
        while let delivery = try await self.session.get(queue: queue) {
            try await self.session.ack(delivery.id)
            taken.append(delivery)
        }
        return taken
    }

    // MARK: The end

    /// Waits until every message has an end, ends the worker, and counts.
    func finish(within limit: Duration = .seconds(60)) async throws -> Outcome {
        let published = self.published.withLock { $0.count }
        try await eventually("all messages have an end", within: limit) {
            guard try await self.waiting() == 0 else { return false }
            let answered = Set(try await self.accepted(answered: true).map(\.token)).count
            let ended = try await self.depth(FleetTopology.dead) + self.depth(FleetTopology.feedback)
            return answered + ended >= published
        }
        return try await self.count()
    }

    /// Ends the worker and counts, whatever still waits.
    func count() async throws -> Outcome {
        await self.drain()
        var outcome = Outcome()
        outcome.summary = try await self.simulator.summary()
        let published = self.published.withLock { $0 }
        outcome.published = published.count
        for record in try await self.accepted() { outcome.accepted[record.token, default: 0] += 1 }
        for delivery in try await self.take(from: FleetTopology.dead) {
            outcome.dead[delivery.text("x-pushfleet-reason") ?? "?", default: []] += delivery.tokens
        }
        for delivery in try await self.take(from: FleetTopology.feedback) {
            guard let json = delivery.json, let token = json["token"] as? String else { continue }
            outcome.gone.append(token)
            if let time = json["invalid_since"] as? Int { outcome.goneTimes.insert(time) }
        }
        for queue in self.ladder.levels.map(\.queueName) + Lane.allCases.map({ "pushfleet.\(Self.app).\($0.rawValue)" })
        {
            for delivery in try await self.take(from: queue) { outcome.waiting.formUnion(delivery.tokens) }
        }
        outcome.suspects = Set(outcome.dead["suspect_token"] ?? [])
        let settled = Set(outcome.accepted.keys).union(outcome.dead.values.joined()).union(outcome.gone)
        outcome.lost = published.subtracting(settled).subtracting(outcome.waiting)
        outcome.counters = self.counters()
        outcome.rules = try await self.simulator.rules()
        return outcome
    }

    func accepted(answered: Bool? = nil) async throws -> [LedgerRecord] {
        try await self.simulator.requests(LedgerFilter(accepted: true, answered: answered, limit: 1_000_000))
    }

    /// Waits until so many requests came in.
    func requests(_ count: Int) async throws {
        try await eventually("\(count) requests") { try await self.simulator.summary().requests >= count }
    }
}

/// What became of everything that the broker confirmed.
struct Outcome {
    var published = 0
    /// By token, how often.
    var accepted: [String: Int] = [:]
    /// Tokens by the reason of their dead letter.
    var dead: [String: [String]] = [:]
    var gone: [String] = []
    /// Apple's times of these.
    var goneTimes: Set<Int> = []
    /// Tokens that Apple says do not fit, wherever the worker keeps them.
    var suspects: Set<String> = []
    var waiting: Set<String> = []
    var lost: Set<String> = []
    var counters: [String: Int] = [:]
    var rules: [FaultRuleUse] = []
    var summary: LedgerSummary?

    var duplicates: Int { self.accepted.values.reduce(0) { $0 + $1 - 1 } }
    var deadCount: Int { self.dead.values.reduce(0) { $0 + $1.count } }

    subscript(counter: String) -> Int { self.counters[counter] ?? 0 }

    /// Where more were counted as possible duplicates than there were: why.
    private var doubts: String {
        guard self["possible_duplicates"] > self.duplicates else { return "" }
        let causes = self.counters.filter { name, _ in
            name.hasPrefix("unanswered.") || ["redelivered", "given_back"].contains(name)
        }
        return "; doubts: \(causes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
    }

    /// Requests that were answered with this reason.
    func count(of reason: String) -> Int {
        self.summary?.verdicts.reduce(0) { $0 + ($1.reason == reason ? $1.count : 0) } ?? 0
    }

    func hits(_ rule: String) -> Int { self.rules.first { $0.rule.id == rule }?.hits ?? 0 }

    /// What holds in every scenario; and one line that says what happened.
    func expectHonest(_ scenario: String, _ hit: String = "", sourceLocation: SourceLocation = #_sourceLocation) {
        print(
            "SCENARIO \(scenario): \(self.published) published, \(self.accepted.count) accepted, "
                + "\(self.duplicates) duplicates (\(self["possible_duplicates"]) possible), \(self.deadCount) dead, "
                + "\(self.gone.count) gone, \(self.waiting.count) waiting, \(self.lost.count) lost; "
                + "\(self.summary?.requests ?? 0) requests on \(self.summary?.connectionsOpened ?? 0) connections"
                + (hit.isEmpty ? "" : "; \(hit)") + self.doubts
        )
        #expect(self.published > 0, sourceLocation: sourceLocation)
        #expect(self.lost.isEmpty, sourceLocation: sourceLocation)
        #expect(self.duplicates <= self["possible_duplicates"], sourceLocation: sourceLocation)
        #expect(self.summary?.connectionsPeak ?? 0 <= 2, sourceLocation: sourceLocation)
    }
}

extension Delivery {
    /// A header's value as text; nil if it is not there.
    func text(_ name: String) -> String? {
        self.headers.all.first { $0.name == name }?.value.description
    }

    var json: [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(self.body)) as? [String: Any]
    }

    var tokens: [String] { self.json?["tokens"] as? [String] ?? [] }
}

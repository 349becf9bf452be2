import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing
import Worker

/// What backends and operators do with the fleet: publish, and look into queues.
extension Fleet {
    // MARK: Publishing

    /// Publishes with confirm.
    func publish(
        _ body: [UInt8],
        to routingKey: String = "\(Fleet.app).now",
        messageID: String,
        timestamp: UnixTime? = .now,
        headers: [Header] = []
    ) async throws {
        let properties = MessageProperties(
            messageID: Array(messageID.utf8),
            timestamp: timestamp,
            headers: headers
        )
        try await self.publish(
            Message(
                exchange: FleetTopology.exchange,
                routingKey: routingKey,
                properties: properties,
                body: body
            )
        )
    }

    func publish(_ draft: Draft, messageID: String, headers: [Header] = []) async throws {
        try await self.publish(
            draft.body,
            to: draft.routingKey,
            messageID: messageID,
            headers: headers
        )
    }

    /// Publishes messages with one token each to an app, and waits until they are in its queue.
    func publish(_ numbers: Range<Int>, of app: String) async throws {
        let messages = numbers.map { number in
            Message(
                exchange: FleetTopology.exchange,
                routingKey: "\(app).now",
                properties: MessageProperties(messageID: Array("\(app)-\(number)".utf8)),
                body: Draft(Draft.token(number, prefix: app == Fleet.app ? "aaaa" : "bbbb"), app: app).body
            )
        }
        let outcomes = try await self.session.publish(messages)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
    }

    /// Pushes that were accepted and answered.
    func pushes(of app: String) async throws -> Int {
        let filter = LedgerFilter(accepted: true, answered: true, limit: 100_000)
        return try await self.simulator.requests(filter).count { $0.topic == app }
    }

    func publish(_ message: Message) async throws {
        let outcome = try await self.session.publish(message)
        try #require(outcome == .confirmed)
    }

    // MARK: Queues

    var dead: String { FleetTopology.dead }
    var feedback: String { FleetTopology.feedback }
    var suspects: String { FleetTopology.suspect }
    var receipts: String { FleetTopology.receipts }

    func depth(_ queue: String) async throws -> Int {
        try await self.session.queueDepths([queue])[queue]?.messages ?? 0
    }

    /// Work and delay queues: where everything waits that still has to be done.
    private var queues: [String] {
        let work = self.settings.apps.flatMap { app in Lane.allCases.map { "pushfleet.\(app.id).\($0.rawValue)" } }
        return work + self.ladder.levels.map(\.queueName) + [FleetTopology.unrouted]
    }

    /// How many messages are ready there; those that a worker holds do not count.
    func waiting() async throws -> Int {
        try await self.session.queueDepths(self.queues).values.reduce(0) { $0 + $1.messages }
    }

    /// Takes what waits, to tell what it is.
    private func leftovers() async throws -> [String] {
        var texts: [String] = []
        for queue in self.queues {
            while texts.count < 20, let delivery = try await self.session.get(queue: queue) {
                texts.append("\(delivery.messageText) in \(queue), attempt \(delivery.attempt ?? 0)")
            }
        }
        return texts
    }

    /// Takes messages from a queue until there are so many.
    func take(
        _ count: Int,
        from queue: String,
        within limit: Duration = .seconds(60)
    ) async throws -> [Delivery] {
        var taken: [Delivery] = []
        try await eventually("\(count) messages are in \(queue)", within: limit) {
            while taken.count < count, let delivery = try await self.session.get(queue: queue) {
                try await self.session.ack(delivery.id)
                taken.append(delivery)
            }
            return taken.count == count
        }
        return taken
    }

    /// Takes the one message that comes to a queue.
    func takeOne(from queue: String, within limit: Duration = .seconds(60)) async throws -> Delivery {
        try await #require(self.take(1, from: queue, within: limit).first)
    }

    // MARK: Apple

    /// Makes the simulator answer so to tokens with this prefix, or to all.
    /// - Parameter limit: how often; nil for always.
    func answer(
        _ status: Int,
        _ reason: String?,
        body: String? = nil,
        to prefix: String? = nil,
        limit: Int? = nil
    ) async throws {
        var rule = FaultRule(action: .answer(status: status, reason: reason, body: body))
        rule.match.tokenPrefix = prefix
        rule.match.limit = limit
        try await self.simulator.addRule(rule)
    }

    // MARK: Ledger

    /// All requests for a token, the oldest first.
    func requests(to token: String) async throws -> [LedgerRecord] {
        try await self.simulator.requests(LedgerFilter(token: token, limit: 10_000)).reversed()
    }

    /// Waits for the push to a token that Apple accepted; with its body.
    func delivered(_ token: String, within limit: Duration = .seconds(60)) async throws -> LedgerRecord {
        try await eventually("a push to \(DeviceToken.redacted(token)) is accepted", within: limit) {
            try await self.simulator.lastPush(to: token)
        }
    }

    /// Waits until so many pushes were accepted.
    func accepted(_ count: Int, within limit: Duration = .seconds(60)) async throws {
        try await eventually("\(count) pushes are accepted", within: limit) {
            try await self.simulator.summary().accepted >= count
        }
    }

    /// Ends the workers and sees that nothing is left anywhere but what the test has not taken from these two.
    ///
    /// A push whose answer was lost is under way once more when its test has seen it accepted, and a worker that drains
    /// gives it back: then another worker finishes the work.
    func expectNothingLeft(
        dead: Int = 0,
        feedback: Int = 0,
        suspects: Int = 0,
        receipts: Int = 0,
        afterRounds rounds: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for round in 1...rounds {
            if rounds > 1 { try await eventually("nothing waits") { try await self.waiting() == 0 } }
            await self.stopWorkers()
            guard try await self.waiting() > 0, round < rounds else { break }
            try await self.startWorker()
        }
        if try await self.waiting() > 0 {
            let leftovers = try await self.leftovers()
            Issue.record("left in work and delay queues: \(leftovers)", sourceLocation: sourceLocation)
        }
        #expect(try await self.depth(self.dead) == dead, "dead letters", sourceLocation: sourceLocation)
        #expect(try await self.depth(self.feedback) == feedback, "feedback", sourceLocation: sourceLocation)
        #expect(try await self.depth(self.suspects) == suspects, "suspects", sourceLocation: sourceLocation)
        #expect(try await self.depth(self.receipts) == receipts, "receipts", sourceLocation: sourceLocation)
    }
}

extension Delivery {
    /// A header's value as text; nil if it is not there.
    func header(_ name: String) -> String? {
        self.headers.all.first { $0.name == name }?.value.description
    }

    var reason: String? { self.header("x-pushfleet-reason") }
    var field: String? { self.header("x-pushfleet-field") }
    var attempt: Int? { self.header("x-pushfleet-attempt").flatMap { Int($0) } }
    var messageText: String { String(decoding: self.messageID, as: UTF8.self) }
    var json: [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(self.body)) as? [String: Any]
    }
    var tokens: [String] { self.json?["tokens"] as? [String] ?? [] }
}

extension UnixTime {
    static var now: UnixTime { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}

import Broker
import Push
import TestServers
import Testing

@testable import Desk

/// A real RabbitMQ's virtual host with the fleet's queues, and letters as workers leave them.
struct DeadQueue {
    static let app = "com.example.shop"

    let settings: BrokerSettings
    let session: BrokerSession
    var desk: DeadLetterDesk { DeadLetterDesk(self.settings, timeout: .seconds(30)) }

    init() async throws {
        let rabbit = PrivateRabbitMQ.shared
        let address = try AMQPAddress(parsing: rabbit.url(vhost: rabbit.makeVhost()))
        self.settings = BrokerSettings(address: address, connectionName: "test")
        self.session = try await BrokerSession.connect(self.settings, timeout: .seconds(60))
        let topology = FleetTopology.make(apps: [AppID(Self.app)!], delays: [])
        #expect(try await self.session.declare(topology) == [])
    }

    /// A letter as a worker writes it.
    static func letter(
        _ number: Int,
        app: String = Self.app,
        lane: String = "now",
        reason: String = "apns_rejected",
        diedAt: Int64 = 1_790_000_000_000,
        body: String? = nil,
        more: [Header] = []
    ) -> Message {
        let headers = [
            Header("x-pushfleet-attempt", .integer(3)), Header("x-pushfleet-copy", .integer(4)),
            Header("x-pushfleet-first-seen", .integer(diedAt - 60_000)), Header("x-pushfleet-reason", .string(reason)),
            Header("x-pushfleet-apns-reason", .string("BadTopic")), Header("x-pushfleet-detail", .string("Because.")),
            Header("x-pushfleet-died-at", .integer(diedAt + Int64(number))),
            Header("traceparent", .string("00-\(number)")),
        ]
        return Message(
            exchange: FleetTopology.dead,
            routingKey: "\(app).\(lane)",
            properties: MessageProperties(
                messageID: Array("order-\(number)".utf8),
                timestamp: UnixTime(seconds: diedAt / 1000 - 60),
                headers: headers + more
            ),
            body: Array((body ?? Self.body(number, app: app)).utf8)
        )
    }

    static func body(_ number: Int, app: String = Self.app) -> String {
        let token = String(repeating: "0", count: 64 - String(number).count) + String(number)
        return #"{"app":"\#(app)","tokens":["\#(token)"],"payload":{"aps":{"alert":"Hello"}}}"#
    }

    func publish(_ messages: [Message]) async throws {
        let outcomes = try await self.session.publish(messages)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
    }

    func depth(_ queue: String = FleetTopology.dead) async throws -> Int {
        try await self.session.queueDepths([queue])[queue]?.messages ?? 0
    }

    /// Takes everything that is in a queue.
    func drain(_ queue: String) async throws -> [Delivery] {
        var deliveries: [Delivery] = []
        while let delivery = try await self.session.get(queue: queue) {
            try await self.session.ack(delivery.id)
            deliveries.append(delivery)
        }
        return deliveries
    }
}

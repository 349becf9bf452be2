import Broker
import Foundation
import Push
import TestServers
import Testing

@testable import Gateway

/// A report of the fleet's is done when what follows from it is confirmed, and no sooner.
@Suite struct FeedbackLossTests {
    private static let id = "94f20ce6-13c5-43a0-9a9e-ca52d816e90b"

    private static func now() -> UnixTime { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    private static func report(_ kind: String, to exchange: String, _ members: String) -> Message {
        let body = #"{"token":"cc01","app":"\#(TestGateway.app)","environment":"production",\#(members)"#
        return Message(
            exchange: exchange,
            routingKey: "\(TestGateway.app).\(kind)",
            body: Array((body + #","message_id":"\#(Self.id)"}"#).utf8)
        )
    }

    /// Has RabbitMQ refuse whatever comes for the queue.
    private static func refuse(_ queue: String, _ session: BrokerSession) async throws {
        try await session.delete(queue: queue)
        let none = [Header("x-max-length", .integer(0)), Header("x-overflow", .string("reject-publish"))]
        let topology = Topology(
            queues: [.init(queue, arguments: none)],
            bindings: [.init(queue: queue, exchange: queue, routingKey: "#")]
        )
        #expect(try await session.declare(topology).isEmpty)
    }

    /// Publishes the report while nothing takes what follows from it; then that gateway ends, and another begins.
    private static func passOn(
        _ report: Message,
        while queue: String,
        _ attributes: [String: String],
        _ body: (TestGateway, BrokerSession) async throws -> Void
    ) async throws {
        let first = try await TestGateway.start()
        let topic = try await first.call("CreateTopic", ["Name": "events"]).element("TopicArn") ?? ""
        let application = try await first.makeApplication(attributes.mapValues { $0 == "topic" ? topic : $0 })
        _ = try await first.makeEndpoint("cc01", of: application)
        let session = try await first.session()
        try await Self.refuse(queue, session)
        #expect(try await session.publish(report) == .confirmed)
        try await eventually("RabbitMQ has refused what follows") {
            try await first.get("/metrics").text.contains(#"publishes_total{outcome="failed"}"#)
        }
        await first.gateway.stop()
        try await session.delete(queue: queue)
        let second = try await TestGateway.start(beside: first)
        try await body(second, session)
        await session.close()
        await second.gateway.stop()
    }

    /// What the queue gets, until there is something of each kind.
    private static func taken(_ queue: String, _ session: BrokerSession, _ kinds: Set<String>) async throws {
        var seen = Set<String>()
        try await eventually("\(kinds) in \(queue)") {
            while let delivery = try await session.get(queue: queue) {
                let text = String(decoding: delivery.body, as: UTF8.self)
                seen.formUnion(kinds.filter { text.contains($0) })
                try await session.ack(delivery.id)
            }
            return seen == kinds
        }
    }

    @Test("a delivery status that RabbitMQ refuses is published by whoever comes next")
    func status() async throws {
        let report = Self.report(
            "delivered",
            to: FleetTopology.receipts,
            #""outcome":"delivered","attempts":1,"latency_ms":41,"apns_latency_ms":12"#
        )
        let attributes = ["SuccessFeedbackRoleArn": "arn:aws:iam::123456789012:role/any"]
        try await Self.passOn(report, while: GatewayTopology.status, attributes) { _, session in
            try await Self.taken(GatewayTopology.status, session, [#""status":"SUCCESS""#])
        }
    }

    @Test("that an endpoint was disabled is told by whoever comes next, though it is not disabled a second time")
    func disabled() async throws {
        let since = Self.now() + .seconds(60)
        let report = Self.report(
            "gone",
            to: FleetTopology.feedback,
            #""reason":"Unregistered","invalid_since":\#(since.milliseconds)"#
        )
        let attributes = ["EventEndpointUpdated": "topic", "EventDeliveryFailure": "topic"]
        try await Self.passOn(report, while: GatewayTopology.events, attributes) { _, session in
            try await Self.taken(GatewayTopology.events, session, ["EndpointUpdated", "DeliveryFailure"])
        }
    }
}

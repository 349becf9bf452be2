import Broker
import Foundation
import Push
import TestServers
import Testing

@testable import Gateway

/// Delivery status of pushes that went to a topic.
@Suite struct TopicStatusTests {
    private static func set(_ topic: String, _ name: String, _ value: String, _ test: TestGateway) async throws {
        let answer = try await test.call(
            "SetTopicAttributes",
            ["TopicArn": topic, "AttributeName": name, "AttributeValue": value]
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// What a worker says of the message's only token.
    private static func receipt(_ message: TakenMessage, _ outcome: String, _ members: String) -> Message {
        let body =
            #"{"token":"\#(message.tokens[0])","app":"\#(TestGateway.app)","outcome":"\#(outcome)",\#(members)"#
            + #","attempts":2,"latency_ms":50,"apns_latency_ms":20,"message_id":"\#(message.id)"}"#
        return Message(
            exchange: FleetTopology.receipts,
            routingKey: "\(TestGateway.app).\(outcome)",
            body: Array(body.utf8)
        )
    }

    private static func record(_ session: BrokerSession) async throws -> [String: Any] {
        let delivery: Delivery = try await eventually("a delivery status") {
            try await session.get(queue: GatewayTopology.status)
        }
        try await session.ack(delivery.id)
        #expect(delivery.routingKey == TestGateway.app)
        return try JSONSerialization.jsonObject(with: Data(delivery.body)) as? [String: Any] ?? [:]
    }

    @Test("a topic's own attributes log pushes to it, with the topic, and pushes to endpoints go on without a receipt")
    func logs() async throws {
        let test = try await TestGateway.start()
        let application = try await test.makeApplication()
        let session = try await test.session()
        let topic = try await test.makeTopic("status", tokens: ["dd01"])
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "before"])
        let before = try await test.take(tokens: 1, from: session)
        #expect(before.allSatisfy { !$0.body.contains("receipt") })

        let role = "arn:aws:iam::123456789012:role/any"
        try await Self.set(topic, "ApplicationSuccessFeedbackRoleArn", role, test)
        try await Self.set(topic, "ApplicationSuccessFeedbackSampleRate", "100", test)
        try await Self.set(topic, "ApplicationFailureFeedbackRoleArn", role, test)
        let published = try await test.call("Publish", ["TopicArn": topic, "Message": "logged"])
        let id = try #require(published.element("MessageId"))
        let message = try #require(try await test.take(tokens: 1, from: session).first)
        #expect(message.body.contains(#""receipt":true"#) && message.id == "\(id).0.0.0")
        _ = try await session.publish(Self.receipt(message, "delivered", #""apns_id":"x""#))
        let success = try await Self.record(session)
        let notification = success["notification"] as? [String: Any] ?? [:]
        let delivery = success["delivery"] as? [String: Any] ?? [:]
        let endpoint = try await test.makeEndpoint("dd01", of: application)
        #expect(success["status"] as? String == "SUCCESS" && notification["topicArn"] as? String == topic)
        #expect(notification["messageId"] as? String == id && delivery["destination"] as? String == endpoint)
        #expect(delivery["attempts"] as? Int == 2 && delivery["dwellTimeMs"] as? Int == 30)
        #expect(delivery["statusCode"] as? Int == 200 && delivery["token"] as? String == "dd01")

        let death = #""reason":"payload_too_large","apns_reason":"PayloadTooLarge""#
        _ = try await session.publish(Self.receipt(message, "dead_lettered", death))
        let failure = try await Self.record(session)
        #expect(failure["status"] as? String == "FAILURE")
        let answer = (failure["delivery"] as? [String: Any])?["providerResponse"] as? String
        #expect(answer == "PayloadTooLarge")

        // Nobody wants the good ones any more: only what comes behind them is told.
        try await Self.set(topic, "ApplicationSuccessFeedbackSampleRate", "0", test)
        _ = try await session.publish(Self.receipt(message, "delivered", #""apns_id":"x""#))
        _ = try await session.publish(Self.receipt(message, "token_gone", #""reason":"Unregistered""#))
        #expect(try await Self.record(session)["status"] as? String == "FAILURE")

        _ = try await test.call("Publish", ["TargetArn": endpoint, "Message": "direct"])
        let direct = try await test.take(tokens: 1, from: session)
        #expect(direct.allSatisfy { !$0.body.contains("receipt") })
        await session.close()
        await test.gateway.stop()
    }
}

import Broker
import Foundation
import Push
import TestServers
import Testing

@testable import Gateway

@Suite struct FeedbackTests {
    private static func feedback(_ token: String, since: UnixTime?, id: String = "x") -> Message {
        let time = since.map { ",\"invalid_since\":\($0.milliseconds)" } ?? ""
        let body =
            #"{"token":"\#(token)","app":"\#(TestGateway.app)","environment":"production","reason":"Unregistered""#
            + "\(time),\"message_id\":\"\(id)\"}"
        return Message(
            exchange: FleetTopology.feedback,
            routingKey: "\(TestGateway.app).gone",
            body: Array(body.utf8)
        )
    }

    private static func isEnabled(_ endpoint: String, _ test: TestGateway) async throws -> Bool {
        let answer = try await test.call("GetEndpointAttributes", ["EndpointArn": endpoint])
        return answer.text.contains("<key>Enabled</key><value>true</value>")
    }

    @Test("a token that is gone disables its endpoint, but not one that was registered since, nor without a time")
    func timestampRule() async throws {
        let test = try await TestGateway.start()
        let application = try await test.makeApplication()
        let old = try await test.makeEndpoint("aa01", of: application)
        let new = try await test.makeEndpoint("aa02", of: application)
        let timeless = try await test.makeEndpoint("aa03", of: application)
        let session = try await test.session()
        let now = UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        try await eventually("feedback is taken") { try await test.get("/readyz").status == 200 }
        let outcomes = try await session.publish([
            Self.feedback("aa02", since: now - .seconds(3600)), Self.feedback("aa03", since: nil),
            Self.feedback("AA01", since: now + .seconds(60)),
        ])
        #expect(outcomes.allSatisfy { $0 == .confirmed })
        // They are taken in their order, so the last one tells that the others were.
        try await eventually("the old one is disabled") { try await Self.isEnabled(old, test) == false }
        #expect(try await Self.isEnabled(new, test))
        #expect(try await Self.isEnabled(timeless, test))
        let refused = try await test.call("Publish", ["TargetArn": old, "Message": "x"])
        #expect(refused.status == 400 && refused.element("Code") == "EndpointDisabled")
        await session.close()
        await test.gateway.stop()
    }

    @Test("events go to the topic that the application names: made, changed, failed, deleted")
    func events() async throws {
        let test = try await TestGateway.start()
        let topic = try await test.call("CreateTopic", ["Name": "events"]).element("TopicArn") ?? ""
        let names = ["EndpointCreated", "EndpointUpdated", "EndpointDeleted", "DeliveryFailure"]
        let application = try await test.makeApplication(
            Dictionary(uniqueKeysWithValues: names.map { ("Event\($0)", topic) })
        )
        let endpoint = try await test.makeEndpoint("bb01", of: application)
        let session = try await test.session()
        let now = UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let id = "94f20ce6-13c5-43a0-9a9e-ca52d816e90b"
        _ = try await session.publish(Self.feedback("bb01", since: now + .seconds(60), id: id))
        try await eventually("it is disabled") { try await Self.isEnabled(endpoint, test) == false }
        _ = try await test.call("DeleteEndpoint", ["EndpointArn": endpoint])
        var seen: [String: [String: Any]] = [:]
        try await eventually("all four events") {
            while let delivery = try await session.get(queue: GatewayTopology.events) {
                let envelope = try JSONSerialization.jsonObject(with: Data(delivery.body)) as? [String: Any] ?? [:]
                #expect(envelope["Type"] as? String == "Notification" && envelope["TopicArn"] as? String == topic)
                let text = envelope["Message"] as? String ?? ""
                let event = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
                #expect(event["EndpointArn"] as? String == endpoint && event["Resource"] as? String == application)
                seen[event["EventType"] as? String ?? ""] = event
                try await session.ack(delivery.id)
            }
            return Set(seen.keys) == Set(names)
        }
        #expect(seen["DeliveryFailure"]?["FailureType"] as? String == "InvalidPlatformToken")
        #expect(seen["DeliveryFailure"]?["MessageId"] as? String == id)
        await session.close()
        await test.gateway.stop()
    }
}

import Broker
import Foundation
import FoundationNetworking
import Push
import TestServers
import Testing

@testable import Gateway

/// Subscriptions over HTTP, beyond what boto3 asks for in gateway.test.
@Suite struct SubscriptionTests {
    private static func queue(_ name: String) -> String { "arn:aws:sqs:eu-west-1:123456789012:\(name)" }

    private static func attributes(_ attributes: [String: String]) -> [String: String] {
        var parameters: [String: String] = [:]
        for (index, attribute) in attributes.enumerated() {
            parameters["Attributes.entry.\(index + 1).key"] = attribute.key
            parameters["Attributes.entry.\(index + 1).value"] = attribute.value
        }
        return parameters
    }

    private static func take(_ queue: String, _ session: BrokerSession) async throws -> Delivery {
        let delivery: Delivery = try await eventually("a message in \(queue)") { try await session.get(queue: queue) }
        try await session.ack(delivery.id)
        return delivery
    }

    @Test(
        "a queue that is not there leaves its messages to the dead-letter queue; raw or not is up to the subscription"
    )
    func queues() async throws {
        let test = try await TestGateway.start()
        let session = try await test.session()
        #expect(try await session.declare(Topology(queues: [.init("dead-orders")])).isEmpty)
        let topic = try await test.makeTopic("orders", tokens: [])
        let call = ["TopicArn": topic, "Protocol": "sqs", "Endpoint": Self.queue("orders")]
        let policy = #"{"deadLetterTargetArn":"\#(Self.queue("dead-orders"))"}"#
        let subscribed = try await test.call(
            "Subscribe",
            call.merging(Self.attributes(["RedrivePolicy": policy])) { $1 }
        )
        let arn = try #require(subscribed.element("SubscriptionArn"))
        let publish = [
            "TopicArn": topic, "Message": "Gr\u{FC}\u{DF}e", "Subject": "s", "MessageAttributes.entry.1.Name": "kind",
            "MessageAttributes.entry.1.Value.DataType": "String", "MessageAttributes.entry.1.Value.StringValue": "big",
        ]
        #expect(try await test.call("Publish", publish).status == 200)
        let dead = try await Self.take("dead-orders", session)
        #expect(dead.headers.foreign.contains { $0.name == "ErrorCode" && $0.value == .string("queue") })
        let text = String(decoding: dead.body, as: UTF8.self)
        #expect(text.contains(#""Type":"Notification""#) && text.contains(#""TopicArn":"\#(topic)""#), "\(text)")

        #expect(try await session.declare(Topology(queues: [.init("orders")])).isEmpty)
        #expect(try await test.call("Publish", publish).status == 200)
        let enveloped = try await Self.take("orders", session)
        let envelope = try JSONSerialization.jsonObject(with: Data(enveloped.body)) as? [String: Any] ?? [:]
        #expect(envelope["Message"] as? String == "Gr\u{FC}\u{DF}e" && envelope["Subject"] as? String == "s")
        #expect((envelope["MessageAttributes"] as? [String: Any])?["kind"] != nil)

        let raw = ["SubscriptionArn": arn, "AttributeName": "RawMessageDelivery", "AttributeValue": "true"]
        #expect(try await test.call("SetSubscriptionAttributes", raw).status == 200)
        let shown = try await test.call("GetSubscriptionAttributes", ["SubscriptionArn": arn]).text
        #expect(shown.contains("<key>RawMessageDelivery</key><value>true</value>") && shown.contains("RedrivePolicy"))
        #expect(try await test.call("Publish", publish).status == 200)
        let bare = try await Self.take("orders", session)
        #expect(String(decoding: bare.body, as: UTF8.self) == "Gr\u{FC}\u{DF}e")
        #expect(bare.headers.foreign.contains { $0.name == "kind" && $0.value == .string("big") })
        #expect(try await session.get(queue: "dead-orders") == nil)

        // A policy that leads nowhere is refused, and the one before goes on.
        for wrong in [#"{"deadLetterTargetArn":"x"}"#, "{", "[]"] {
            let set = ["SubscriptionArn": arn, "AttributeName": "RedrivePolicy", "AttributeValue": wrong]
            let answer = try await test.call("SetSubscriptionAttributes", set)
            #expect(answer.status == 400 && answer.element("Code") == "InvalidParameter", "\(answer.text)")
        }
        try await session.delete(queue: "orders")
        #expect(try await test.call("Publish", publish).status == 200)
        #expect(String(decoding: try await Self.take("dead-orders", session).body, as: UTF8.self) == "Gr\u{FC}\u{DF}e")
        await session.close()
        await test.gateway.stop()
    }

    @Test("a queue that takes nothing for a while gets its message when it does, and the dead-letter queue does not")
    func patience() async throws {
        let test = try await TestGateway.start()
        let session = try await test.session()
        let queues = [Topology.Queue("orders"), .init("dead-orders")]
        #expect(try await session.declare(Topology(queues: queues)).isEmpty)
        let none = #"{"max-length":0,"overflow":"reject-publish"}"#
        let rabbitMQ = PrivateRabbitMQ.shared
        try rabbitMQ.rabbitmqctl("set_policy", "-p", test.vhost, "none", "^orders$", none, "--apply-to", "queues")
        let topic = try await test.makeTopic("orders", tokens: [])
        let call = ["TopicArn": topic, "Protocol": "sqs", "Endpoint": Self.queue("orders")]
        let policy = #"{"deadLetterTargetArn":"\#(Self.queue("dead-orders"))"}"#
        _ = try await test.call("Subscribe", call.merging(Self.attributes(["RedrivePolicy": policy])) { $1 })
        #expect(try await test.call("Publish", ["TopicArn": topic, "Message": "patient"]).status == 200)
        try await eventually("it is tried again and again") {
            let metrics = try await test.get("/metrics").text
            let line = metrics.split(separator: "\n").first { $0.contains(#"publishes_total{outcome="failed"}"#) }
            return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0 >= 3
        }
        try rabbitMQ.rabbitmqctl("clear_policy", "-p", test.vhost, "none")
        let found = try await Self.take("orders", session)
        #expect(String(decoding: found.body, as: UTF8.self).contains("patient"))
        #expect(try await session.get(queue: "dead-orders") == nil)
        await session.close()
        await test.gateway.stop()
    }

    @Test("permissions show in the topic's policy by their label, and go again")
    func permissions() async throws {
        let test = try await TestGateway.start()
        let topic = try await test.makeTopic("shared", tokens: [])
        func policy() async throws -> String {
            try await test.call("GetTopicAttributes", ["TopicArn": topic]).text
                .replacingOccurrences(of: "&quot;", with: "\"").replacingOccurrences(of: "&#34;", with: "\"")
        }
        let add = [
            "TopicArn": topic, "Label": "partner", "AWSAccountId.member.1": "111122223333",
            "AWSAccountId.member.2": "444455556666", "ActionName.member.1": "Publish",
        ]
        #expect(try await test.call("AddPermission", add).status == 200)
        let shared = try await policy()
        #expect(shared.contains(#""Sid":"partner""#) && shared.contains("arn:aws:iam::444455556666:root"), "\(shared)")
        #expect(shared.contains("__default_statement_ID"))
        let again = try await test.call("AddPermission", add)
        #expect(again.element("Message") == "Invalid parameter: Statement already exists", "\(again.text)")
        let foreign = add.merging(["Label": "other", "ActionName.member.1": "Fly"]) { $1 }
        let refused = try await test.call("AddPermission", foreign)
        #expect(refused.element("Message") == "Invalid parameter: Policy statement action out of service scope!")
        let remove = ["TopicArn": topic, "Label": "partner"]
        #expect(try await test.call("RemovePermission", remove).status == 200)
        #expect(try await test.call("RemovePermission", remove).status == 200)
        let former = try await policy()
        #expect(!former.contains("partner") && former.contains("__default_statement_ID"))
        for action in ["AddPermission", "RemovePermission"] {
            let missing = try await test.call(action, add.merging(["TopicArn": topic + "x"]) { $1 })
            #expect(missing.status == 404 || action == "RemovePermission", "\(missing.text)")
        }
        await test.gateway.stop()
    }

    @Test("a topic whose name is as long as can be has subscribers, events and a fan-out like any other")
    func longName() async throws {
        let test = try await TestGateway.start { $0.webhooks.rules = try! WebhookRules(parsing: "127.0.0.1") }
        let receiver = try await Receiver.start()
        let session = try await test.session()
        let name = String(repeating: "t", count: 256)
        let topic = TestGateway.account + name
        let application = try await test.makeApplication()
        let made = try await test.makeTopic(name, tokens: (0..<101).map { "ab\($0 + 100)0" })
        #expect(made == topic)
        let call = ["TopicArn": topic, "Protocol": "http", "Endpoint": receiver.url]
        #expect(try await test.call("Subscribe", call).status == 200)
        let asked = try await receiver.first("SubscriptionConfirmation")
        let link = try #require(asked.envelope["SubscribeURL"].flatMap { URL(string: $0) })
        _ = try await URLSession.shared.data(from: link)
        #expect(try await test.call("Publish", ["TopicArn": topic, "Message": "long"]).status == 200)
        _ = try await receiver.first("Notification") { $0.envelope["Message"] == "long" }
        #expect(try await test.take(tokens: 101, from: session).reduce(0) { $0 + $1.tokens.count } == 101)
        let events = Self.attributes(["EventEndpointCreated": topic])
        let set = events.merging(["PlatformApplicationArn": application]) { $1 }
        #expect(try await test.call("SetPlatformApplicationAttributes", set).status == 200)
        let endpoint = try await test.makeEndpoint("ff01", of: application)
        _ = try await receiver.first("Notification") { $0.envelope["Message"]?.contains(endpoint) == true }
        await session.close()
        await receiver.stop()
        await test.gateway.stop()
    }

    @Test("who confirms with AuthenticateOnUnsubscribe is not unsubscribed by the link, only by a signed call")
    func authenticatesUnsubscribe() async throws {
        let test = try await TestGateway.start { settings in
            settings.allowsAnonymous = false
            settings.keys = [AccessKeySettings(name: "t", id: SignedRequests.keyID, secret: SignedRequests.secret)]
            settings.webhooks.rules = try! WebhookRules(parsing: "127.0.0.1")
        }
        let receiver = try await Receiver.start()
        let client = SignedRequests(port: Int(test.gateway.port))
        func signed(_ action: String, _ parameters: [(String, String)]) async throws -> SignedRequests.Answer {
            let all = [("Action", action), ("Version", "2010-03-31")] + parameters
            return try await client.send(SignedRequests.form(all))
        }
        let topic = try #require(try await signed("CreateTopic", [("Name", "guarded")]).element("TopicArn"))
        let subscribe = [("TopicArn", topic), ("Protocol", "http"), ("Endpoint", receiver.url)]
        #expect(try await signed("Subscribe", subscribe).element("SubscriptionArn") == "pending confirmation")
        let asked = try await receiver.first("SubscriptionConfirmation")
        let token = try #require(asked.envelope["Token"])
        let confirm = [("TopicArn", topic), ("Token", token), ("AuthenticateOnUnsubscribe", "true")]
        // Who has the link alone may not claim that.
        let unsigned = try await test.call("ConfirmSubscription", Dictionary(uniqueKeysWithValues: confirm))
        #expect(unsigned.status == 403 && unsigned.element("Code") == "AuthorizationError", "\(unsigned.text)")
        let confirmed = try await signed("ConfirmSubscription", confirm)
        let arn = try #require(confirmed.element("SubscriptionArn"), "\(confirmed.text)")
        let shown = try await signed("GetSubscriptionAttributes", [("SubscriptionArn", arn)]).text
        #expect(shown.contains("<key>ConfirmationWasAuthenticated</key><value>true</value>"), "\(shown)")

        #expect(try await signed("Publish", [("TopicArn", topic), ("Message", "one")]).status == 200)
        let told = try await receiver.first("Notification") { $0.envelope["Message"] == "one" }
        let link = try #require(told.envelope["UnsubscribeURL"].flatMap { URL(string: $0) })
        let (text, response) = try await URLSession.shared.data(from: link)
        #expect((response as? HTTPURLResponse)?.statusCode == 403, "\(String(decoding: text, as: UTF8.self))")
        #expect(try await signed("Publish", [("TopicArn", topic), ("Message", "two")]).status == 200)
        _ = try await receiver.first("Notification") { $0.envelope["Message"] == "two" }

        #expect(try await signed("Unsubscribe", [("SubscriptionArn", arn)]).status == 200)
        #expect(try await signed("GetSubscriptionAttributes", [("SubscriptionArn", arn)]).status == 404)
        _ = try await receiver.first("UnsubscribeConfirmation")
        await receiver.stop()
        await test.gateway.stop()
    }

    @Test("an https subscriber is trusted by the authority in ca_file, and by no other")
    func https() async throws {
        for authority in [TestCertificates.shared.authority, TestCertificates.shared.unknownAuthority] {
            let test = try await TestGateway.start { settings in
                settings.webhooks.rules = try! WebhookRules(parsing: "127.0.0.1")
                settings.webhooks.caFile = authority
            }
            let receiver = try await Receiver.start(isTLS: true)
            let topic = try await test.makeTopic("secure", tokens: [])
            let call = ["TopicArn": topic, "Protocol": "https", "Endpoint": receiver.url]
            let answer = try await test.call("Subscribe", call)
            #expect(answer.element("SubscriptionArn") == "pending confirmation", "\(answer.text)")
            if authority == TestCertificates.shared.authority {
                let asked = try await receiver.first("SubscriptionConfirmation")
                #expect(asked.envelope["TopicArn"] == topic && asked.headers["host"] == "localhost:\(receiver.port)")
            } else {
                try await eventually("the attempt has failed") {
                    try await test.get("/metrics").text.contains("pushfleet_gateway_webhooks_failed_total 1")
                }
                #expect(receiver.posted.isEmpty)
            }
            await receiver.stop()
            await test.gateway.stop()
        }
    }
}

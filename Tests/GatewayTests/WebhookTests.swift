import Broker
import Crypto
import CryptoExtras
import Foundation
import FoundationNetworking
import HTTPTypes
import Push
import SNS
import TestServers
import Testing

@testable import Gateway

/// Subscribers of protocol http, with a real receiver.
@Suite struct WebhookTests {
    private static func start(_ change: (inout GatewaySettings) -> Void = { _ in }) async throws -> TestGateway {
        try await TestGateway.start { settings in
            settings.webhooks.rules = try! WebhookRules(parsing: "127.0.0.1")
            change(&settings)
        }
    }

    private static func attributes(_ attributes: [String: String]) -> [String: String] {
        var parameters: [String: String] = [:]
        for (index, attribute) in attributes.enumerated() {
            parameters["Attributes.entry.\(index + 1).key"] = attribute.key
            parameters["Attributes.entry.\(index + 1).value"] = attribute.value
        }
        return parameters
    }

    /// Subscribes; only what is told to the receiver is used.
    @discardableResult
    private static func subscribe(
        _ receiver: Receiver,
        to topic: String,
        _ test: TestGateway,
        _ attributes: [String: String] = [:]
    ) async throws -> String {
        let call = ["TopicArn": topic, "Protocol": "http", "Endpoint": receiver.url]
        let answer = try await test.call("Subscribe", call.merging(Self.attributes(attributes)) { $1 })
        #expect(answer.element("SubscriptionArn") == "pending confirmation", "\(answer.text)")
        let asked = try await receiver.first("SubscriptionConfirmation") { $0.envelope["TopicArn"] == topic }
        let confirmed = try await Self.visit(asked.envelope["SubscribeURL"])
        return try #require(Self.element("SubscriptionArn", confirmed))
    }

    private static func visit(_ link: String?) async throws -> String {
        let url = try #require(link.flatMap { URL(string: $0) })
        return String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    }

    private static func element(_ name: String, _ text: String) -> String? {
        TestGateway.Answer(status: 200, text: text).element(name)
    }

    /// As anybody verifies a signature: with the certificate that the message names, and the text that Amazon describes.
    private static func isVerified(_ envelope: [String: String]) async throws -> Bool {
        let pem = try await Self.visit(envelope["SigningCertURL"])
        let names =
            envelope["Type"] == "Notification"
            ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
            : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
        let text = names.compactMap { name in envelope[name].map { "\(name)\n\($0)\n" } }.joined()
        // OpenSSL is what most who verify have.
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["cert.pem", "key.pem", "text", "signature"].map { directory.appending(path: $0) }
        try Data(pem.utf8).write(to: files[0])
        try Data(text.utf8).write(to: files[2])
        try #require(Data(base64Encoded: envelope["Signature"] ?? "")).write(to: files[3])
        func openssl(_ arguments: String...) throws -> Int32 {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/openssl")
            process.arguments = arguments
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
        guard try openssl("x509", "-pubkey", "-noout", "-in", files[0].path(), "-out", files[1].path()) == 0 else {
            return false
        }
        let digest = envelope["SignatureVersion"] == "2" ? "-sha256" : "-sha1"
        return try openssl("dgst", digest, "-verify", files[1].path(), "-signature", files[3].path(), files[2].path())
            == 0
    }

    @Test(
        "a subscriber is asked, confirms, gets signed notifications, leaves by the link in them, and comes back by another"
    )
    func life() async throws {
        let test = try await Self.start()
        let receiver = try await Receiver.start()
        let topic = try await test.makeTopic("news", tokens: [])
        let call = ["TopicArn": topic, "Protocol": "http", "Endpoint": receiver.url]
        let pending = try await test.call("Subscribe", call)
        #expect(pending.element("SubscriptionArn") == "pending confirmation")
        let named = try await test.call("Subscribe", call.merging(["ReturnSubscriptionArn": "true"]) { $1 })
        let arn = try #require(named.element("SubscriptionArn"))
        #expect(arn.hasPrefix(topic + ":"))
        let listed = try await test.call("ListSubscriptionsByTopic", ["TopicArn": topic])
        #expect(listed.element("SubscriptionArn") == "PendingConfirmation" && listed.text.contains(receiver.url))
        let counts = try await test.call("GetTopicAttributes", ["TopicArn": topic]).text
        #expect(counts.contains("<key>SubscriptionsPending</key><value>1</value>"))
        #expect(counts.contains("<key>SubscriptionsConfirmed</key><value>0</value>"))
        let asked = try await receiver.first("SubscriptionConfirmation")
        #expect(asked.path == "/hook" && asked.headers["content-type"] == "text/plain; charset=UTF-8")
        #expect(asked.headers["user-agent"] == "Amazon Simple Notification Service Agent")
        #expect(asked.headers["x-amz-sns-topic-arn"] == topic && asked.headers["x-amz-sns-subscription-arn"] == nil)
        #expect(asked.headers["x-amz-sns-message-id"] == asked.envelope["MessageId"])
        #expect(asked.envelope["Message"]?.hasPrefix("You have chosen to subscribe to the topic \(topic).") == true)
        #expect(try await Self.isVerified(asked.envelope))
        // Before it has confirmed it gets nothing.
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "early"])
        let wrong = try await test.call("ConfirmSubscription", ["TopicArn": topic, "Token": "00"])
        #expect(wrong.status == 400 && wrong.element("Message") == "Invalid parameter: Token")
        let confirmed = try await Self.visit(asked.envelope["SubscribeURL"])
        #expect(Self.element("SubscriptionArn", confirmed) == arn, "\(confirmed)")
        // A second visit says the same.
        #expect(Self.element("SubscriptionArn", try await Self.visit(asked.envelope["SubscribeURL"])) == arn)
        #expect(try await test.call("Subscribe", call).element("SubscriptionArn") == arn)

        _ = try await test.call(
            "Publish",
            [
                "TopicArn": topic, "Message": "Hello \u{E9}\n", "Subject": "Hi",
                "MessageAttributes.entry.1.Name": "kind",
                "MessageAttributes.entry.1.Value.DataType": "String",
                "MessageAttributes.entry.1.Value.StringValue": "a",
            ]
        )
        let told = try await receiver.first("Notification")
        #expect(told.envelope["Message"] == "Hello \u{E9}\n" && told.envelope["Subject"] == "Hi")
        #expect(told.headers["x-amz-sns-subscription-arn"] == arn && told.envelope["SignatureVersion"] == "1")
        #expect(told.body.contains(#""MessageAttributes":{"kind":{"Type":"String","Value":"a"}}"#))
        #expect(try await Self.isVerified(told.envelope))
        var altered = told.envelope
        altered["Message"] = "Hello"
        #expect(try await Self.isVerified(altered) == false)

        _ = try await test.call(
            "SetTopicAttributes",
            ["TopicArn": topic, "AttributeName": "SignatureVersion", "AttributeValue": "2"]
        )
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "second"])
        let second = try await receiver.first("Notification") { $0.envelope["Message"] == "second" }
        #expect(second.envelope["SignatureVersion"] == "2")
        #expect(try await Self.isVerified(second.envelope))

        #expect(try await Self.visit(second.envelope["UnsubscribeURL"]).contains("UnsubscribeResponse"))
        let farewell = try await receiver.first("UnsubscribeConfirmation")
        #expect(try await Self.isVerified(farewell.envelope))
        #expect(try await test.call("GetSubscriptionAttributes", ["SubscriptionArn": arn]).status == 404)
        #expect(Self.element("SubscriptionArn", try await Self.visit(farewell.envelope["SubscribeURL"])) == arn)
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "third"])
        _ = try await receiver.first("Notification") { $0.envelope["Message"] == "third" }
        #expect(!receiver.posted.contains { $0.envelope["Message"] == "early" })
        await receiver.stop()
        await test.gateway.stop()
    }

    @Test("raw delivery posts the text alone; of structure json it is the one for http")
    func raw() async throws {
        let test = try await Self.start()
        let receiver = try await Receiver.start()
        let topic = try await test.makeTopic("raw", tokens: [])
        let content = #"{"requestPolicy":{"headerContentType":"application/json"}}"#
        let arn = try await Self.subscribe(
            receiver,
            to: topic,
            test,
            ["RawMessageDelivery": "true", "DeliveryPolicy": content]
        )
        let message = #"{"default":"d","http":"{\"a\":1}"}"#
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": message, "MessageStructure": "json"])
        let told = try await receiver.first("Notification")
        #expect(told.body == #"{"a":1}"# && told.headers["x-amz-sns-rawdelivery"] == "true")
        #expect(told.headers["content-type"] == "application/json")
        let attributes = try await test.call("GetSubscriptionAttributes", ["SubscriptionArn": arn]).text
        #expect(attributes.contains("<key>RawMessageDelivery</key><value>true</value>"))
        #expect(attributes.contains("<key>PendingConfirmation</key><value>false</value>"))
        #expect(!attributes.contains(".token"))
        await receiver.stop()
        await test.gateway.stop()
    }

    private static let quick = #"{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":1,"numRetries":2}}"#

    @Test("what fails on the receiver's side is tried again, and at last lies in the dead-letter queue with the reason")
    func deadLetters() async throws {
        let test = try await Self.start()
        let receiver = try await Receiver.start()
        let session = try await test.session()
        _ = try await session.declare(Topology(queues: [.init("dead-webhooks")]))
        let topic = try await test.makeTopic("fragile", tokens: [])
        let redrive = #"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:123456789012:dead-webhooks"}"#
        try await Self.subscribe(receiver, to: topic, test, ["DeliveryPolicy": Self.quick, "RedrivePolicy": redrive])
        receiver.answer([500, 429])
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "third time lucky"])
        try await eventually("three attempts") {
            receiver.posted.count { $0.envelope["Message"] == "third time lucky" } == 3
        }
        receiver.answer([503, 503, 503])
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "never"])
        var dead: Delivery?
        try await eventually("a dead letter") {
            dead = try await session.get(queue: "dead-webhooks")
            return dead != nil
        }
        let letter = try #require(dead)
        #expect(String(decoding: letter.body, as: UTF8.self).contains(#""Message":"never""#))
        #expect(letter.headers.foreign.contains { $0.name == "ErrorCode" && $0.value == .string("503") })
        #expect(receiver.posted.count { $0.envelope["Message"] == "never" } == 3)
        // Nobody tries again what the receiver calls wrong.
        receiver.answer([403])
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "forbidden"])
        try await eventually("another dead letter") { try await session.get(queue: "dead-webhooks") != nil }
        #expect(receiver.posted.count { $0.envelope["Message"] == "forbidden" } == 1)
        await session.close()
        await receiver.stop()
        await test.gateway.stop()
    }

    @Test("a redirection is not followed, whoever it names")
    func redirection() async throws {
        let test = try await Self.start()
        let receiver = try await Receiver.start()
        let other = try await Receiver.start()
        let topic = try await test.makeTopic("moved", tokens: [])
        try await Self.subscribe(receiver, to: topic, test, ["DeliveryPolicy": Self.quick])
        receiver.answer(
            [307, 302],
            headers: [HTTPField(name: .location, value: other.url)]
        )
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "here"])
        try await eventually("three attempts") { receiver.posted.count { $0.envelope["Message"] == "here" } == 3 }
        #expect(other.posted.isEmpty)
        await receiver.stop()
        await other.stop()
        await test.gateway.stop()
    }

    @Test(
        "what is not on the public internet is not posted to unless it is allowed by name",
        arguments: [
            "http://127.0.0.1:1/", "http://localhost/", "http://[::1]/", "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "http://0/",
        ]
    )
    func refused(url: String) async throws {
        let test = try await TestGateway.start()
        let topic = try await test.makeTopic("inside", tokens: [])
        let answer = try await test.call("Subscribe", ["TopicArn": topic, "Protocol": "http", "Endpoint": url])
        #expect(answer.status == 400 && answer.element("Code") == "InvalidParameter", "\(answer.text)")
        #expect(answer.element("Message")?.hasPrefix("Invalid parameter: Endpoint Reason: ") == true)
        let listed = try await test.call("ListSubscriptions")
        #expect(listed.element("SubscriptionArn") == nil)
        await test.gateway.stop()
    }

    @Test("all gateways sign with one key, and serve its certificate")
    func sharedKey() async throws {
        let first = try await Self.start()
        let second = try await TestGateway.start(beside: first) {
            $0.webhooks.rules = try! WebhookRules(parsing: "127.0.0.1")
        }
        for test in [first, second] {
            try await eventually("it has a key") {
                await test.gateway.desk.ask { core, done in done(core.signing.state) } == .ready
            }
        }
        var certificates: [String] = []
        for test in [first, second] {
            let message = SubscriberMessage(
                .notification,
                id: "x",
                topic: TopicARN(region: "eu-west-1", account: "123456789012", name: "t"),
                text: "x",
                time: .init(seconds: 0)
            )
            let seal = await test.gateway.desk.ask { core, done in done(core.signer.seal(message, version: "2")) }
            let url = try #require(seal?.certificateURL)
            #expect(url.contains("/SimpleNotificationService-") && url.hasSuffix(".pem"))
            certificates.append(try await Self.visit(url))
        }
        #expect(certificates[0] == certificates[1] && certificates[0].hasPrefix("-----BEGIN CERTIFICATE-----"))
        let path = try await first.get("/SimpleNotificationService-00.pem")
        #expect(path.status == 404)
        await second.gateway.stop()
        await first.gateway.stop()
    }

    @Test("messages that wait for a subscriber outlive the gateway")
    func outlives() async throws {
        let first = try await Self.start()
        let receiver = try await Receiver.start()
        let topic = try await first.makeTopic("patient", tokens: [])
        try await Self.subscribe(receiver, to: topic, first, ["DeliveryPolicy": Self.quick])
        receiver.answer([500])
        _ = try await first.call("Publish", ["TopicArn": topic, "Message": "later"])
        try await eventually("one attempt") { receiver.posted.contains { $0.envelope["Message"] == "later" } }
        await first.gateway.stop()
        let second = try await TestGateway.start(beside: first) {
            $0.webhooks.rules = try! WebhookRules(parsing: "127.0.0.1")
        }
        try await eventually("another attempt") { receiver.posted.count { $0.envelope["Message"] == "later" } >= 2 }
        await receiver.stop()
        await second.gateway.stop()
    }

    @Test("events of an application reach http subscribers of their topic")
    func events() async throws {
        let test = try await Self.start()
        let receiver = try await Receiver.start()
        let topic = try await test.makeTopic("events", tokens: [])
        try await Self.subscribe(receiver, to: topic, test)
        let application = try await test.makeApplication(["EventEndpointCreated": topic])
        let endpoint = try await test.makeEndpoint("ee01", of: application)
        let told = try await receiver.first("Notification")
        #expect(told.envelope["Subject"] == "EndpointCreated event for app Shop (APNS)")
        #expect(told.envelope["Message"]?.contains(endpoint) == true)
        await receiver.stop()
        await test.gateway.stop()
    }
}

import Broker
import Foundation
import Registry
import Store
import TestRandom
import TestServers
import Testing

@testable import Gateway

/// What comes in over a socket and is wrong: SNS's answer, nothing stored, nothing published.
@Suite struct BadInputTests {
    private typealias Pairs = [(String, String)]

    /// A gateway with an application, an endpoint and a topic that it is subscribed to.
    private struct Scene {
        let test: TestGateway
        let endpoint: String
        let topic: String
        let subscription: String
        let requests: SignedRequests

        static func make() async throws -> Scene {
            let test = try await TestGateway.start {
                $0.keys = [AccessKeySettings(name: "test", id: SignedRequests.keyID, secret: SignedRequests.secret)]
            }
            let application = try await test.makeApplication()
            let endpoint = try await test.makeEndpoint("ab01", of: application)
            let topic = try await test.makeTopic("news", tokens: ["ab02"])
            let subscribed = try await test.call(
                "Subscribe",
                ["TopicArn": topic, "Protocol": "application", "Endpoint": endpoint]
            )
            // Gateways make their signing key when they start.
            try await eventually("it has a key") {
                await test.gateway.desk.ask { core, done in done(core.signing.state) } == .ready
            }
            return Scene(
                test: test,
                endpoint: endpoint,
                topic: topic,
                subscription: subscribed.element("SubscriptionArn") ?? "",
                requests: SignedRequests(port: Int(test.gateway.port))
            )
        }

        /// All that Redis holds, as one number of many digits, and how many messages are in RabbitMQ's queues.
        func state() async throws -> String {
            let script = """
                local keys, digest = redis.call('KEYS', '*'), ''
                table.sort(keys)
                for _, key in ipairs(keys) do digest = redis.sha1hex(digest .. key .. redis.call('DUMP', key)) end
                return { #keys, digest }
                """
            // Not as the gateway's user, who may not look at everything.
            let root = try await RedisSession.open(
                RedisAddress(host: "127.0.0.1", port: UInt16(self.test.redis.port))
            )
            let redis = "\(try await root.send(RedisCommand("EVAL", script, "0")))"
            root.close()
            let session = try await self.test.session()
            let queues =
                GatewayTopology.common.queues.map(\.name)
                + ["now", "bulk"].map { "pushfleet.\(TestGateway.app).\($0)" }
            let depths = try await session.queueDepths(queues)
            await session.close()
            #expect(depths.count == queues.count)
            return "\(redis) \(depths.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.messages)" })"
        }
    }

    @Test("a request whose signature says otherwise is refused", .timeLimit(.minutes(5)))
    func signatures() async throws {
        let scene = try await Scene.make()
        let before = try await scene.state()
        let body = SignedRequests.form([("Action", "CreateTopic"), ("Name", "forged")])
        func expect(_ answer: SignedRequests.Answer, _ status: Int, _ code: String, _ text: String) {
            #expect(answer.status == status && answer.element("Code") == code, "\(answer.text)")
            #expect(answer.element("Message")?.hasPrefix(text) == true, "\(answer.text)")
        }
        let mismatch = "The request signature we calculated does not match the signature you provided."
        let all = scene.requests
        expect(
            try await all.send(body) { String($0.dropLast()) + ($0.hasSuffix("0") ? "1" : "0") },
            403,
            "SignatureDoesNotMatch",
            mismatch
        )
        expect(try await all.send(body, sent: body + Array("&Tags=".utf8)), 403, "SignatureDoesNotMatch", mismatch)
        var other = all
        other.secret = "another"
        expect(try await other.send(body), 403, "SignatureDoesNotMatch", mismatch)
        other = all
        other.time = Date(timeIntervalSinceNow: -1200)
        expect(try await other.send(body), 403, "SignatureDoesNotMatch", "Signature expired: ")
        other.time = Date(timeIntervalSinceNow: 1200)
        expect(try await other.send(body), 403, "SignatureDoesNotMatch", "Signature not yet current: ")
        other = all
        other.keyID = "AKIANOBODY"
        expect(
            try await other.send(body),
            403,
            "InvalidClientTokenId",
            "The security token included in the request is invalid."
        )
        other = all
        other.region = "us-east-1"
        expect(
            try await other.send(body),
            403,
            "SignatureDoesNotMatch",
            "Credential should be scoped to a valid region"
        )
        other = all
        other.service = "sqs"
        expect(
            try await other.send(body),
            403,
            "SignatureDoesNotMatch",
            "Credential should be scoped to correct service: 'sns'."
        )
        expect(try await all.send(body) { $0.replacing("Signature=", with: "Sig=") }, 400, "IncompleteSignature", "")
        expect(try await all.send(body) { _ in "AWS4-HMAC-SHA256" }, 400, "IncompleteSignature", "")
        expect(
            try await all.send(body) { $0.replacing(";host", with: "") },
            403,
            "SignatureDoesNotMatch",
            ""
        )
        #expect(try await scene.state() == before)
        // The same unharmed is good.
        #expect(try await all.send(body).status == 200)
        #expect(try await scene.state() != before)
        await scene.test.gateway.stop()
    }

    @Test("a request that says what cannot be is refused with SNS's code and text", .timeLimit(.minutes(5)))
    func contents() async throws {
        let scene = try await Scene.make()
        let arn = TestGateway.account
        let publish: Pairs = [("Action", "Publish"), ("TargetArn", scene.endpoint)]
        let topic: Pairs = [("Action", "Publish"), ("TopicArn", scene.topic)]
        let create: Pairs = [("Action", "CreatePlatformEndpoint"), ("PlatformApplicationArn", "\(arn)app/APNS/Shop")]
        let subscribe: Pairs = [
            ("Action", "Subscribe"), ("TopicArn", scene.topic), ("Protocol", "application"),
            ("Endpoint", scene.endpoint), ("Attributes.entry.1.key", "FilterPolicy"),
        ]
        let setPolicy: Pairs = [
            ("Action", "SetSubscriptionAttributes"), ("SubscriptionArn", scene.subscription),
            ("AttributeName", "FilterPolicy"),
        ]
        let json: Pairs = [("MessageStructure", "json")]
        let long = String(repeating: "x", count: 300 * 1024)
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4100))"}}"#
        let escaped = payload.replacing("\"", with: "\\\"")
        let iOS = "Invalid parameter: Token Reason: iOS device tokens must be no more than 400 hexadecimal characters"
        let cases: [(Pairs, Int, String, String)] = [
            ([("Name", "x")], 400, "MissingAction", ""),
            ([("Action", "")], 400, "MissingAction", ""),
            (
                [("Action", "Frobnicate")], 400, "InvalidAction",
                "Could not find operation Frobnicate for version 2010-03-31"
            ),
            ([("Action", "CreateTopic"), ("Name", "x"), ("Color", "red")], 400, "InvalidQueryParameter", ""),
            ([("Action", "CreateTopic"), ("Name", "x"), ("Name", "y")], 400, "MalformedQueryString", ""),
            // Lists and maps.
            (
                [
                    ("Action", "CreateTopic"), ("Name", "x"), ("Tags.member.one.Key", "k"),
                    ("Tags.member.one.Value", "v"),
                ],
                400, "MalformedInput", ""
            ),
            (
                [("Action", "CreateTopic"), ("Name", "x"), ("Tags.member.0.Key", "k"), ("Tags.member.0.Value", "v")],
                400,
                "MalformedInput", ""
            ),
            (
                [("Action", "CreateTopic"), ("Name", "x"), ("Tags.member.99999999999.Key", "k")], 400, "MalformedInput",
                ""
            ),
            ([("Action", "CreateTopic"), ("Name", "x"), ("Attributes.entry.1.value", "v")], 400, "MalformedInput", ""),
            ([("Action", "CreateTopic"), ("Name", "x"), ("Attributes.entry.-1.key", "v")], 400, "MalformedInput", ""),
            (
                [("Action", "CreateTopic"), ("Name", "x"), ("Attributes.DisplayName", "v")], 400, "MalformedInput",
                "Value found where not expected"
            ),
            // Sizes.
            (publish + [("Message", long)], 400, "InvalidParameter", "Invalid parameter: Message too long"),
            (topic + [("Message", long)], 400, "InvalidParameter", "Invalid parameter: Message too long"),
            (publish + [("Message", "")], 400, "InvalidParameter", "Invalid parameter: Empty message"),
            (
                publish + json + [("Message", #"{"APNS":"\#(escaped)"}"#)], 400, "InvalidParameter",
                "Invalid parameter: Message Reason: Invalid notification for protocol APNS: Notification is too long"
            ),
            (
                create + [("Token", "ab03"), ("CustomUserData", String(repeating: "\u{E9}", count: 1025))], 400,
                "InvalidParameter",
                "Invalid parameter: Attributes Reason: Invalid value for attribute: CustomUserData: must be at most 2048"
            ),
            // Control characters.
            (
                create + [("Token", "ab03"), ("CustomUserData", "a\u{1}b")], 400, "InvalidParameter",
                "Invalid parameter: "
            ),
            (publish + [("Message", "x"), ("Subject", "a\nb")], 400, "InvalidParameter", "Invalid parameter: Subject"),
            (
                [("Action", "CreateTopic"), ("Name", "a\u{0}b")], 400, "InvalidParameter", "Invalid parameter: "
            ),
            // ARNs.
            (
                [("Action", "Publish"), ("TopicArn", "news"), ("Message", "x")], 400, "InvalidParameter",
                "Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1"
            ),
            (
                [("Action", "GetEndpointAttributes"), ("EndpointArn", "\(arn)endpoint/APNS/Shop")], 400,
                "InvalidParameter",
                "Invalid parameter: EndpointArn Reason: Wrong number of slashes in relative portion of the ARN."
            ),
            (
                [("Action", "Publish"), ("TopicArn", "arn:aws:sns:us-east-1:123456789012:news"), ("Message", "x")], 400,
                "InvalidParameter", "Invalid parameter: TopicArn"
            ),
            (
                [("Action", "Publish"), ("TopicArn", "\(arn)nothing"), ("Message", "x")], 404, "NotFound",
                "Topic does not exist"
            ),
            (
                [("Action", "Publish"), ("TargetArn", "\(arn)endpoint/APNS/Shop/none"), ("Message", "x")], 400,
                "InvalidParameter",
                "Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified"
            ),
            (
                [("Action", "Unsubscribe"), ("SubscriptionArn", scene.topic)], 400, "InvalidParameter",
                "Invalid parameter: SubscriptionId"
            ),
            // Tokens.
            (create + [("Token", "xyz1")], 400, "InvalidParameter", iOS),
            (create + [("Token", String(repeating: "ab", count: 201))], 400, "InvalidParameter", iOS),
            (create + [("Token", "ab 1")], 400, "InvalidParameter", iOS),
            // JSON.
            (
                publish + json + [("Message", "[1]")], 400, "InvalidParameter",
                "Invalid parameter: Message Structure - JSON message body failed to parse"
            ),
            (
                publish + json + [("Message", "{")], 400, "InvalidParameter",
                "Invalid parameter: Message Structure - JSON message body failed to parse"
            ),
            (
                topic + json + [("Message", "{}")], 400, "InvalidParameter",
                "Invalid parameter: Message Structure - No default entry in JSON message body"
            ),
            (
                publish + json + [("Message", #"{"ADM":"{}"}"#)], 400, "InvalidParameter",
                "Invalid parameter: JSON must contain an entry for 'default' or 'APNS'."
            ),
            (publish + json + [("Message", #"{"APNS":"[]"}"#)], 400, "InvalidParameter", "Invalid parameter: "),
            (publish + json + [("Message", #"{"APNS":"{"}"#)], 400, "InvalidParameter", "Invalid parameter: "),
            // Filter policies.
            (
                subscribe + [("Attributes.entry.1.value", "{")], 400, "InvalidParameter",
                "Invalid parameter: Attributes Reason: FilterPolicy: failed to parse JSON."
            ),
            (
                subscribe + [("Attributes.entry.1.value", #"{"a":[{"like":"x"}]}"#)], 400, "InvalidParameter",
                "Invalid parameter: Attributes Reason: FilterPolicy: Unrecognized match type like"
            ),
            (
                setPolicy + [("AttributeValue", "nonsense")], 400, "InvalidParameter",
                "Invalid parameter: FilterPolicy: failed to parse JSON."
            ),
            (
                setPolicy + [("AttributeValue", #"{"a":[]}"#)], 400, "InvalidParameter",
                "Invalid parameter: FilterPolicy: Empty arrays are not allowed"
            ),
            (
                setPolicy + [("AttributeValue", #"{"a":1}"#)], 400, "InvalidParameter",
                #"Invalid parameter: FilterPolicy: &quot;a&quot; must be an object or an array"#
            ),
            // Attributes of messages.
            (
                publish + [
                    ("Message", "x"), ("MessageAttributes.entry.1.Name", "a b"),
                    ("MessageAttributes.entry.1.Value.DataType", "String"),
                    ("MessageAttributes.entry.1.Value.StringValue", "x"),
                ], 400, "ParameterValueInvalid", "Invalid non-alphanumeric character"
            ),
        ]
        let before = try await scene.state()
        for (pairs, status, code, text) in cases {
            let answer = try await scene.requests.send(SignedRequests.form(pairs))
            let shown = pairs.map { "\($0)=\($1.prefix(80))" }.joined(separator: "&")
            #expect(answer.status == status && answer.element("Code") == code, "\(shown): \(answer.text)")
            let message = answer.element("Message") ?? ""
            #expect(
                message.hasPrefix(text) || message.replacing("\"", with: "&quot;").hasPrefix(text),
                "\(shown): \(answer.text)"
            )
            #expect(answer.element("Type") == "Sender" && answer.element("RequestId") != nil)
        }
        #expect(try await scene.state() == before)
        await scene.test.gateway.stop()
    }

    @Test("bytes that are no UTF-8 and escapes that are none are refused", .timeLimit(.minutes(5)))
    func undecodable() async throws {
        let scene = try await Scene.make()
        let before = try await scene.state()
        for value in ["%ff", "%c3%28", "%zz", "%4", "%", "%ed%a0%80"].map({ Array($0.utf8) }) + [[0xFF], [0xC3, 0x28]] {
            let body = Array("Action=CreateTopic&Name=a".utf8) + value
            let answer = try await scene.requests.send(body)
            #expect(answer.status == 400 && answer.element("Code") == "MalformedQueryString", "\(value) \(answer.text)")
        }
        #expect(try await scene.state() == before)
        await scene.test.gateway.stop()
    }

    @Test(
        "signed requests with faults at random positions leave nothing behind",
        .timeLimit(.minutes(5)),
        arguments: [1, 2]
    )
    func random(seed: UInt64) async throws {
        let scene = try await Scene.make()
        let before = try await scene.state()
        var random = SeededRandom(spreading: seed)
        let body = SignedRequests.form([
            ("Action", "Publish"), ("TargetArn", scene.endpoint), ("Message", #"{"default":"x"}"#),
            ("MessageStructure", "json"),
        ])
        for _ in 0..<60 {
            // What was signed is another body, or the signature has another digit: nothing of it may count.
            var sent = body
            let at = Int.random(in: 0..<sent.count, using: &random)
            sent[at] = sent[at] == 0x41 ? 0x42 : 0x41
            let isBody = Bool.random(using: &random)
            let answer = try await scene.requests.send(body, sent: isBody ? sent : nil) { header in
                guard !isBody else { return header }
                var bytes = Array(header.utf8)
                let at = Int.random(in: 18..<bytes.count, using: &random)
                bytes[at] = bytes[at] == 0x37 ? 0x38 : 0x37
                return String(decoding: bytes, as: UTF8.self)
            }
            #expect((400...403).contains(answer.status), "\(answer.text)")
        }
        // And what is no request at all.
        for _ in 0..<40 {
            let bytes = (0..<Int.random(in: 1...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let answer = try await scene.requests.exchange(bytes + Array("\r\n\r\n".utf8))
            #expect(answer.status != 200, "\(answer.text)")
        }
        #expect(try await scene.state() == before)
        #expect(try await scene.requests.send(body).status == 200)
        await scene.test.gateway.stop()
    }
}

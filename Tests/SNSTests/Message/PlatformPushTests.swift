import Push
import SNS
import Testing

@Suite("What a device gets")
struct PlatformPushTests {
    static let now = UnixTime(seconds: 1_767_323_045)

    static func attributes(_ all: KeyValuePairs<String, String>) -> MessageAttributes {
        var attributes = MessageAttributes()
        for (name, value) in all { attributes.append(name, .init(dataType: "String", content: .text(value))) }
        return attributes
    }

    static func push(
        _ text: String,
        structure: String? = "json",
        _ all: KeyValuePairs<String, String> = [:],
        platform: Platform = .apns,
        fallsBack: Bool = false
    ) throws -> PlatformPush {
        try PlatformPush(
            try MessageBody(Message(text: text, structure: structure)),
            try PushAttributes(Self.attributes(all), platform: platform, fallsBack: fallsBack),
            platform: platform,
            fallsBack: fallsBack
        )
    }

    static func text(_ push: PlatformPush) -> String { String(decoding: push.payload, as: UTF8.self) }

    @Test("a plain text becomes an alert")
    func plain() throws {
        let push = try Self.push("say \"hi\"\n😀\u{1}", structure: nil)
        #expect(Self.text(push) == #"{"aps":{"alert":"say \"hi\"\n😀\u0001"}}"#)
        #expect(push.pushType == .alert)
    }

    @Test("a platform's own text goes out byte for byte, and others get the default as an alert")
    func choice() throws {
        let message =
            #"{"default":"d","APNS":"{ \"aps\" : {\"alert\":\"a\"},\"x\":1.0 }","GCM":7,"APNS":"{\"aps\":{}}"}"#
        #expect(Self.text(try Self.push(message)) == #"{"aps":{}}"#)
        #expect(Self.text(try Self.push(message, platform: .apnsSandbox)) == #"{"aps":{"alert":"d"}}"#)
        #expect(Self.text(try Self.push(message, platform: .apnsSandbox, fallsBack: true)) == #"{"aps":{}}"#)
        #expect(Self.text(try Self.push(message, fallsBack: true)) == #"{"aps":{}}"#)
    }

    @Test("a message without a text for the platform is refused in Amazon's words")
    func missing() throws {
        #expect(
            error { try Self.push(#"{"APNS":"{}"}"#, platform: .apnsSandbox) }?.message
                == "Invalid parameter: JSON must contain an entry for 'default' or 'APNS_SANDBOX'."
        )
        let body = try MessageBody(Message(text: #"{"default":7}"#, structure: "json"))
        #expect(
            error { try body.checkForTopic() }?.message
                == "Invalid parameter: Message Structure - No default entry in JSON message body"
        )
        #expect(error { try MessageBody(Message(text: "x")).checkForTopic() } == nil)
    }

    @Test(
        "a message that is no JSON object is refused",
        arguments: ["x", "[]", "7", #"{"a":"b""#, #"{"default":"x",}"#]
    )
    func notJSON(_ text: String) {
        #expect(
            error { try Self.push(text) }?.message
                == "Invalid parameter: Message Structure - JSON message body failed to parse"
        )
        #expect(error { try Self.push(text, structure: "xml") }?.message == "Invalid parameter: MessageStructure")
    }

    @Test("a payload that is no JSON object is refused", arguments: ["x", "[]", "", "{\"aps\":}", "{} x"])
    func malformed(_ payload: String) {
        #expect(
            error { try Self.push("{\"APNS\":\"\(payload.split(separator: "\"").joined(separator: "\\\""))\"}") }?
                .message
                == "Invalid parameter: Message Reason: Invalid notification for protocol APNS: Notification is malformed"
        )
    }

    @Test("payloads have Apple's limits")
    func limits() throws {
        func text(_ bytes: Int) -> String { String(repeating: "a", count: bytes - 20) }
        #expect(error { try Self.push(text(4096), structure: nil) } == nil)
        #expect(
            error { try Self.push(text(4097), structure: nil) }?.message
                == "Invalid parameter: Message Reason: Invalid notification for protocol APNS: Notification is too long"
        )
        #expect(error { try Self.push(text(5120), structure: nil, platform: .voip) } == nil)
        #expect(error { try Self.push(text(5121), structure: nil, platform: .voip) } != nil)
        let channel: KeyValuePairs = ["AWS.SNS.MOBILE.APNS.CHANNEL_ID": "dHN0"]
        #expect(error { try Self.push(text(5120), structure: nil, channel) } == nil)
    }

    @Test(
        "what is not shown is a background push",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, PushType.background),
            (#"{"aps":{"content-available":true}}"#, .background),
            (#"{"aps":{"content-available":1,"category":"c"},"x":1}"#, .background),
            (#"{"aps":{"content-available":0}}"#, .alert), (#"{"aps":{"content-available":"1"}}"#, .alert),
            (#"{"aps":{"content-available":1,"alert":"a"}}"#, .alert),
            (#"{"aps":{"content-available":1,"badge":0}}"#, .alert),
            (#"{"aps":{"content-available":1,"sound":"s"}}"#, .alert), (#"{"aps":{}}"#, .alert), ("{}", .alert),
            (#"{"aps":7}"#, .alert), (#"{"content-available":1}"#, .alert),
            (#"{"a\u0070s":{"content\u002davailable":1}}"#, .background),
        ]
    )
    func inference(_ payload: String, _ type: PushType) throws {
        let member = payload.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
            .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
        #expect(try Self.push("{\"APNS\":\"\(member)\"}").pushType == type)
        #expect(try Self.push("{\"APNS_VOIP\":\"\(member)\"}", platform: .voip).pushType == .voip)
    }

    @Test("attributes become headers")
    func headers() throws {
        let push = try Self.push(
            "x",
            structure: nil,
            [
                "AWS.SNS.MOBILE.APNS.TOPIC": "com.example.shop.push-type.liveactivity",
                "AWS.SNS.MOBILE.APNS.PUSH_TYPE": "liveactivity", "AWS.SNS.MOBILE.APNS.PRIORITY": "5",
                "AWS.SNS.MOBILE.APNS.COLLAPSE_ID": "order-17", "AWS.SNS.MOBILE.APNS.TTL": "60",
                "AWS.SNS.MOBILE.APNS_SANDBOX.TTL": "7", "colour": "red",
            ]
        )
        let job = try EnvelopeDecoder.decode(
            body: push.envelope(app: application.appID, tokens: ["aabb", "ccdd"], now: Self.now, wantsReceipt: true)
        )
        #expect(job.pushType == .liveactivity && job.priority == .considerate)
        #expect(job.expiresAt == UnixTime(seconds: 1_767_323_105))
        #expect(job.tokenCount == 2 && job.token(1) == "ccdd")
        #expect(job.appName == "sns.apns.MyApp" && job.topicOverride == "com.example.shop.push-type.liveactivity")
        #expect(job.collapseID == "order-17")
        #expect(job.withPayload { $0.elementsEqual(push.payload) })
    }

    @Test("each header of Apple's may be given by its own name, and Amazon's names go first")
    func passThrough() throws {
        let push = try Self.push(
            "x",
            structure: nil,
            [
                "apns-topic": "a.b", "apns-push-type": "alert", "apns-priority": "1", "apns-collapse-id": "c",
                "apns-expiration": "1767323046", "AWS.SNS.MOBILE.APNS.PRIORITY": "10", "apns-other": "x",
            ]
        )
        let job = try EnvelopeDecoder.decode(
            body: push.envelope(app: application.appID, tokens: ["aa"], now: Self.now, notBefore: Self.now)
        )
        #expect(job.topicOverride == "a.b" && job.priority == .immediate && job.collapseID == "c")
        #expect(job.expiresAt == UnixTime(seconds: 1_767_323_046))
        #expect(job.notBefore == Self.now)
    }

    @Test("a push to a channel has no tokens")
    func channel() throws {
        let push = try Self.push(
            #"{"APNS":"{\"aps\":{\"event\":\"update\"}}"}"#,
            ["AWS.SNS.MOBILE.APNS.CHANNEL_ID": "dHN0LXNyY2gtY2hubA=="]
        )
        let job = try EnvelopeDecoder.decode(body: push.envelope(app: application.appID, tokens: ["aa"], now: Self.now))
        #expect(job.isBroadcast && job.channelID == "dHN0LXNyY2gtY2hubA==" && job.pushType == .liveactivity)
        #expect(job.expiresAt == UnixTime(seconds: 0))
    }

    @Test(
        "times to live",
        arguments: [
            ("colour", "red", 1_767_323_045 + 2_419_200), ("AWS.SNS.MOBILE.APNS.TTL", "0", 0),
            ("AWS.SNS.MOBILE.APNS.TTL", "1", 1_767_323_046),
            ("AWS.SNS.MOBILE.APNS.TTL", "9223372036854775807", Contract.unixSeconds.upperBound),
            ("AWS.SNS.MOBILE.APNS_VOIP.TTL", "1", 1_767_323_045 + 2_419_200),
        ] as [(String, String, Int64)]
    )
    func timeToLive(_ name: String, _ value: String, _ seconds: Int64) throws {
        #expect(try Self.push("x", structure: nil, [name: value]).expiration(now: Self.now) == seconds)
    }

    @Test("a sandbox heeds production's time to live only if it falls back")
    func sandboxTimeToLive() throws {
        for (fallsBack, seconds) in [(false, nil), (true, 9)] as [(Bool, Int64?)] {
            let found = try PushAttributes(
                Self.attributes(["AWS.SNS.MOBILE.APNS.TTL": "9"]),
                platform: .apnsSandbox,
                fallsBack: fallsBack
            )
            #expect(found.timeToLive == seconds)
        }
    }

    @Test(
        "values that Apple would not take are refused",
        arguments: [
            ["AWS.SNS.MOBILE.APNS.TOPIC": "a b"], ["AWS.SNS.MOBILE.APNS.PUSH_TYPE": "loud"],
            ["AWS.SNS.MOBILE.APNS.PRIORITY": "7"], ["AWS.SNS.MOBILE.APNS.PRIORITY": "266"],
            ["AWS.SNS.MOBILE.APNS.COLLAPSE_ID": ""], ["AWS.SNS.MOBILE.APNS.COLLAPSE_ID": "a\r\nb"],
            ["AWS.SNS.MOBILE.APNS.COLLAPSE_ID": String(repeating: "c", count: 65)], ["AWS.SNS.MOBILE.APNS.TTL": "-1"],
            ["AWS.SNS.MOBILE.APNS.TTL": "1.5"], ["AWS.SNS.MOBILE.APNS.TTL": "soon"],
            ["apns-expiration": "1767323046000"],
            ["AWS.SNS.MOBILE.APNS.CHANNEL_ID": "a b"], ["apns-id": "x"],
            ["AWS.SNS.MOBILE.APNS.CHANNEL_ID": "dHN0", "AWS.SNS.MOBILE.APNS.PUSH_TYPE": "alert"],
            ["AWS.SNS.MOBILE.APNS.CHANNEL_ID": "dHN0", "AWS.SNS.MOBILE.APNS.COLLAPSE_ID": "c"],
            ["AWS.SNS.MOBILE.APNS.PUSH_TYPE": "background", "AWS.SNS.MOBILE.APNS.PRIORITY": "10"],
        ] as [KeyValuePairs<String, String>]
    )
    func refused(_ attributes: KeyValuePairs<String, String>) {
        let found = error { try Self.push("x", structure: nil, attributes) }
        #expect(found?.code == "InvalidParameter")
        #expect(
            found?.message.hasPrefix("Invalid parameter: MessageAttributes Reason: Invalid value for attribute: ")
                == true
        )
    }

    @Test("events read as consumers know them")
    func events() {
        let id = UUID("374edf5f-9e35-5eeb-a03a-be0a5fdccbc3")!
        let event = ApplicationEvent(
            .deliveryFailure(.invalidPlatformToken, attempts: 1, messageID: id),
            endpoint: endpoint,
            time: UnixTime(milliseconds: 1_767_323_045_050)
        )
        #expect(
            event.subject == "DeliveryFailure event for app MyApp (APNS)"
                && event.kind.attribute == "EventDeliveryFailure"
        )
        #expect(
            event.message
                == "{\"DeliveryAttempts\":1,\"EndpointArn\":\"\(endpoint)\",\"EventType\":\"DeliveryFailure\","
                + "\"FailureMessage\":\"Platform token associated with the endpoint is not valid\",\"FailureType\":"
                + "\"InvalidPlatformToken\",\"MessageId\":\"\(id)\",\"Resource\":\"\(application)\",\"Service\":\"SNS\","
                + "\"Time\":\"2026-01-02T03:04:05.050Z\"}"
        )
        let created = ApplicationEvent(.endpointCreated, endpoint: endpoint, time: UnixTime(seconds: 0))
        #expect(
            created.message
                == "{\"EndpointArn\":\"\(endpoint)\",\"EventType\":\"EndpointCreated\",\"Resource\":\"\(application)\","
                + "\"Service\":\"SNS\",\"Time\":\"1970-01-01T00:00:00.000Z\"}"
        )
    }

    @Test("delivery records are one line of JSON, and failures have a group of their own")
    func deliveryStatus() {
        var status = DeliveryStatus(
            isSuccess: true,
            messageID: UUID("374edf5f-9e35-5eeb-a03a-be0a5fdccbc3")!,
            topic: nil,
            published: UnixTime(milliseconds: 1_767_323_045_540),
            statusCode: 200,
            dwell: .milliseconds(65),
            token: "aabb",
            attempts: 1,
            providerResponse: "{\"reason\":\"x\"}",
            endpoint: endpoint
        )
        #expect(
            status.record
                == "{\"status\":\"SUCCESS\",\"notification\":{\"timestamp\":\"2026-01-02 03:04:05.540\",\"messageId\":"
                + "\"374edf5f-9e35-5eeb-a03a-be0a5fdccbc3\"},\"delivery\":{\"statusCode\":200,\"dwellTimeMs\":65,"
                + "\"token\":\"aabb\",\"attempts\":1,\"providerResponse\":\"{\\\"reason\\\":\\\"x\\\"}\",\"destination\":"
                + "\"\(endpoint)\"}}"
        )
        #expect(status.group == "sns/eu-west-1/123456789012/app/APNS/MyApp")
        status.isSuccess = false
        status.topic = topic
        #expect(status.group.hasSuffix("/MyApp/Failure") && status.record.contains("\"topicArn\":\"\(topic)\""))
    }
}

import Push
import SNS
import Testing

@Suite("Live Activities")
struct LiveActivityTests {
    private static let state: String = #""timestamp":1767323045,"content-state":{"eta":7}"#
    private static let started: String =
        #""attributes-type":"Ride","attributes":{"id":1},"alert":{"title":"t","body":"b"}"#

    private static func push(_ aps: String, _ attributes: KeyValuePairs<String, String>) throws -> PlatformPush {
        try PlatformPush(
            try MessageBody(
                Message(text: #"{"APNS":"{\"aps\":{\#(aps.replacing("\"", with: "\\\""))}}"}"#, structure: "json")
            ),
            try PushAttributes(PlatformPushTests.attributes(attributes), platform: .apns),
            platform: .apns
        )
    }

    @Test(
        "start, update and end need nothing but their name: type, topic and priority follow",
        arguments: [
            ("start", #""event":"start",\#(Self.state),\#(Self.started)"#),
            ("update", #""event":"update",\#(Self.state)"#),
            ("end", #""event":"end",\#(Self.state),"dismissal-date":1767323100"#),
        ]
    )
    func fine(event: String, aps: String) throws {
        let push = try Self.push(aps, ["pushfleet.live_activity": event])
        #expect(push.pushType == .liveactivity)
        let app = try #require(AppID("sns.apns.Shop"))
        let envelope = push.envelope(app: app, tokens: ["aa01"], now: PlatformPushTests.now)
        let job = try EnvelopeDecoder.decode(body: envelope)
        #expect(job.pushType == .liveactivity && job.priority == .immediate)
        #expect(job.pushType.rules.topicSuffix == ".push-type.liveactivity")
    }

    @Test(
        "what Apple would drop in silence is refused, and where it is wrong is said",
        arguments: [
            ("start", #""event":"start",\#(Self.state)"#, "payload.aps"),
            ("update", #""event":"update","content-state":{}"#, "payload.aps"),
            ("update", #""event":"update",\#(Self.state),"attributes-type":"Ride""#, "payload.aps.attributes-type"),
            ("update", #""event":"update",\#(Self.state),"dismissal-date":1"#, "payload.aps.dismissal-date"),
            ("end", #""event":"update",\#(Self.state)"#, "payload.aps.event: is update, but"),
            ("end", #""event":"stop",\#(Self.state)"#, "payload.aps.event"),
            ("update", #""alert":"x""#, "payload.aps"),
        ]
    )
    func refused(event: String, aps: String, place: String) {
        let refusal = error { try Self.push(aps, ["pushfleet.live_activity": event]) }
        #expect(refusal?.code == "InvalidParameter")
        #expect(refusal?.message.contains("Invalid Live Activity: \(place)") ?? false, "\(refusal?.message ?? "")")
    }

    @Test(
        "other attributes must fit",
        arguments: [
            ["pushfleet.live_activity": "pause"],
            ["pushfleet.live_activity": "update", "AWS.SNS.MOBILE.APNS.PUSH_TYPE": "alert"],
            ["pushfleet.live_activity": "update", "AWS.SNS.MOBILE.APNS.PRIORITY": "1"],
        ]
    )
    func others(all: [String: String]) {
        var attributes = MessageAttributes()
        for (name, value) in all { attributes.append(name, .init(dataType: "String", content: .text(value))) }
        #expect(error { try PushAttributes(attributes, platform: .apns) }?.code == "InvalidParameter")
    }

    @Test("a plain text is no Live Activity")
    func plain() throws {
        let refusal = error {
            try PlatformPush(
                try MessageBody(Message(text: "x")),
                try PushAttributes(
                    PlatformPushTests.attributes(["pushfleet.live_activity": "update"]),
                    platform: .apns
                ),
                platform: .apns
            )
        }
        #expect(refusal?.message.contains("Invalid Live Activity") ?? false)
    }
}

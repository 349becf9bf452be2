import Push
import SNS
import TestRandom
import Testing

@Suite("Names")
struct NamesTests {
    @Test("an ARN reads back as it is written")
    func roundTrip() throws {
        let id = UUID("986cb8a1-4f6b-3b61-8963-01868b7c937a")!
        #expect(try ApplicationARN("\(application)") == application)
        #expect(try EndpointARN("\(endpoint)") == endpoint)
        #expect(try TopicARN("\(topic)") == topic)
        #expect(try SubscriptionARN("\(topic):\(id)") == SubscriptionARN(topic: topic, id: id))
        #expect(try PublishTarget("\(topic)") == .topic(topic))
        #expect(try PublishTarget("\(endpoint)") == .endpoint(endpoint))
        #expect("\(application)" == "arn:aws:sns:eu-west-1:123456789012:app/APNS/MyApp")
        for platform in Platform.allCases {
            let arn = ApplicationARN(region: "eu-west-1", account: "123456789012", platform: platform, name: "a.b_c-d")
            #expect(try ApplicationARN("\(arn)") == arn)
        }
    }

    @Test(
        "the number of elements is counted as Amazon does",
        arguments: [("", 1), ("x", 1), ("arn:aws:sns", 3), ("arn:aws:sns:eu-west-1:123456789012", 5), (":::", 4)]
    )
    func elements(_ text: String, _ count: Int) {
        func expected(_ parameter: String) -> SNSError {
            SNSError(
                "InvalidParameter",
                "Invalid parameter: \(parameter) Reason: An ARN must have at least 6 elements, not \(count)"
            )
        }
        #expect(error { try ApplicationARN(text) } == expected("PlatformApplicationArn"))
        #expect(error { try EndpointARN(text) } == expected("EndpointArn"))
        #expect(error { try TopicARN(text) } == expected("TopicArn"))
        #expect(error { try SubscriptionARN(text) } == expected("SubscriptionArn"))
        #expect(error { try PublishTarget(text) } == expected("TargetArn"))
    }

    @Test("an endpoint's ARN with too few or too many slashes is refused in Amazon's words")
    func slashes() {
        for rest in ["endpoint/APNS/MyApp", "endpoint/APNS/MyApp/a/b", "news", "app/APNS/MyApp/a"] {
            #expect(
                error { try EndpointARN("arn:aws:sns:eu-west-1:123456789012:\(rest)") }?.message
                    == "Invalid parameter: EndpointArn Reason: Wrong number of slashes in relative portion of the ARN."
            )
        }
    }

    @Test("a topic elsewhere, and what is no topic, is refused")
    func topics() {
        for text in [
            "arn:aws:sns:us-east-1:123456789012:news", "arn:aws:sns:eu-west-1:123456789012:", "\(endpoint)",
            "arn:aws:sns:eu-west-1:123456789012:news:x", "arn:aws:sns:eu-west-1:1:news",
            "arn:aws:sqs:eu-west-1:123456789012:n",
            "arn:aws:sns::123456789012:news", "arn:aws:sns:eu-west-1:123456789012:a:b:c:d:e:f:g",
        ] {
            #expect(error { try TopicARN(text, in: "eu-west-1") } == .invalidParameter("TopicArn"))
        }
        #expect(error { try TopicARN("arn:aws:sns:us-east-1:123456789012:news") } == nil)
    }

    @Test("a topic's ARN is no subscription's")
    func subscriptions() {
        #expect(error { try SubscriptionARN("\(topic)") } == .invalidParameter("SubscriptionId"))
        #expect(error { try SubscriptionARN("\(topic):x") } == .invalidParameter("SubscriptionId"))
    }

    @Test("of platforms that are not served nothing exists")
    func otherPlatforms() {
        #expect(error { try ApplicationARN("arn:aws:sns:eu-west-1:123456789012:app/GCM/a") } == .noApplication)
        #expect(error { try EndpointARN("arn:aws:sns:eu-west-1:123456789012:endpoint/GCM/a/b") } == .noEndpoint)
        #expect(error { try PublishTarget("arn:aws:sns:eu-west-1:123456789012:endpoint/GCM/a/b") } == .noTarget)
    }

    @Test(
        "names of topics",
        arguments: [
            ("a", true), ("A-b_9", true), ("a.fifo", true), (".fifo", false), ("", false), ("a.b", false),
            ("a b", false),
            (String(repeating: "a", count: 256), true), (String(repeating: "a", count: 257), false), ("é", false),
        ]
    )
    func topicNames(_ name: String, _ isName: Bool) {
        #expect(TopicARN.isName(name) == isName)
    }

    @Test("a token gets the same endpoint each time, and three of them")
    func endpoints() throws {
        let ids = (0..<EndpointARN.slots).map { EndpointARN(application: application, token: "aabb", slot: $0).id }
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { UUID($0)?.version == 3 })
        // md5 of "arn:aws:sns:eu-west-1:123456789012:app/APNS/MyApp|aabb|0"
        #expect(ids[0] == "edefd1af-65ad-3eb7-8f97-8ea7118577ad")
        #expect(ids[1] == "37d25022-46af-3a6c-9085-61b53edbf229")
    }

    @Test("identifiers read back as they are written, and nothing else is one")
    func uuids() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<100 {
            let id = UUID(using: &random)
            #expect(UUID("\(id)") == id && id.version == 4)
            #expect("89ab".contains("\(id)".dropFirst(19).first!))
        }
        for text in [
            "", "f187a3c1-376f-11df-8963-01868b7c937", "F187a3c1-376f-11df-8963-01868b7c937a",
            "f187a3c1+376f-11df-8963-01868b7c937a", "f187a3c1-376f-11df-8963-01868b7c937g",
            "f187a3c1-376f-11df-8963-01868b7c937é",
        ] {
            #expect(UUID(text) == nil)
        }
    }

    @Test("an application is an app of the fleet")
    func apps() {
        #expect(application.appID.name == "sns.apns.MyApp")
        let long = ApplicationARN(
            region: "eu-west-1",
            account: "123456789012",
            platform: .voipSandbox,
            name: String(repeating: "n", count: 256)
        )
        #expect(long.appID.name.utf8.count == Contract.appBytes.upperBound)
        #expect(long.appID.name.hasPrefix("sns.apns-voip-sandbox.nnnn"))
    }
}

import SNS
import Testing

@Suite("Answers")
struct AnswerTests {
    static let id = UUID("f187a3c1-376f-11df-8963-01868b7c937a")!

    static func body(_ answer: Answer, _ format: AnswerFormat = .xml) -> String {
        String(decoding: answer.body(requestID: Self.id, as: format), as: UTF8.self)
    }

    static func result(_ answer: Answer) -> String {
        let name = answer.action.rawValue
        let body = Self.body(answer)
        let start = "<\(name)Response xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\">"
        let end =
            "<ResponseMetadata><RequestId>f187a3c1-376f-11df-8963-01868b7c937a</RequestId></ResponseMetadata>"
            + "</\(name)Response>\n"
        guard body.hasPrefix(start), body.hasSuffix(end) else { return "not in its frame: \(body)" }
        return String(body.dropFirst(start.count).dropLast(end.count))
    }

    static let subscription = SubscriptionARN(topic: topic, id: Self.id)
    static let entry = Answer.SubscriptionEntry(
        arn: nil,
        topic: topic,
        owner: "123456789012",
        transport: "application",
        endpoint: "\(endpoint)"
    )

    @Test(
        "each action's result has Amazon's members",
        arguments: [
            (
                Answer.createPlatformApplication(application),
                "<CreatePlatformApplicationResult><PlatformApplicationArn>\(application)</PlatformApplicationArn>"
                    + "</CreatePlatformApplicationResult>"
            ),
            (
                .createPlatformEndpoint(endpoint),
                "<CreatePlatformEndpointResult><EndpointArn>\(endpoint)</EndpointArn></CreatePlatformEndpointResult>"
            ),
            (.createTopic(topic), "<CreateTopicResult><TopicArn>\(topic)</TopicArn></CreateTopicResult>"),
            (
                .subscribe(Self.subscription),
                "<SubscribeResult><SubscriptionArn>\(topic):\(Self.id)</SubscriptionArn></SubscribeResult>"
            ),
            (
                .subscribePending,
                "<SubscribeResult><SubscriptionArn>pending confirmation</SubscriptionArn></SubscribeResult>"
            ),
            (
                .confirmSubscription(Self.subscription),
                "<ConfirmSubscriptionResult><SubscriptionArn>\(topic):\(Self.id)</SubscriptionArn>"
                    + "</ConfirmSubscriptionResult>"
            ),
            (
                .getEndpointAttributes(["Token": "aabb", "Enabled": "true"]),
                "<GetEndpointAttributesResult><Attributes><entry><key>Enabled</key><value>true</value></entry><entry>"
                    + "<key>Token</key><value>aabb</value></entry></Attributes></GetEndpointAttributesResult>"
            ),
            (
                .getTopicAttributes([:]),
                "<GetTopicAttributesResult><Attributes/></GetTopicAttributesResult>"
            ),
            (
                .listPlatformApplications([.init(arn: application, attributes: ["Enabled": "true"])], next: "n"),
                "<ListPlatformApplicationsResult><PlatformApplications><member><PlatformApplicationArn>\(application)"
                    + "</PlatformApplicationArn><Attributes><entry><key>Enabled</key><value>true</value></entry>"
                    + "</Attributes></member></PlatformApplications><NextToken>n</NextToken>"
                    + "</ListPlatformApplicationsResult>"
            ),
            (
                .listEndpointsByPlatformApplication([], next: nil),
                "<ListEndpointsByPlatformApplicationResult><Endpoints/></ListEndpointsByPlatformApplicationResult>"
            ),
            (
                .listTopics([topic], next: nil),
                "<ListTopicsResult><Topics><member><TopicArn>\(topic)</TopicArn></member></Topics></ListTopicsResult>"
            ),
            (
                .listSubscriptionsByTopic([Self.entry], next: nil),
                "<ListSubscriptionsByTopicResult><Subscriptions><member><SubscriptionArn>PendingConfirmation"
                    + "</SubscriptionArn><Owner>123456789012</Owner><Protocol>application</Protocol><Endpoint>\(endpoint)"
                    + "</Endpoint><TopicArn>\(topic)</TopicArn></member></Subscriptions></ListSubscriptionsByTopicResult>"
            ),
            (.listSubscriptions([], next: nil), "<ListSubscriptionsResult><Subscriptions/></ListSubscriptionsResult>"),
            (
                .listTagsForResource([Tag(key: "k", value: "")]),
                "<ListTagsForResourceResult><Tags><member><Key>k</Key><Value/></member></Tags></ListTagsForResourceResult>"
            ),
            (.tagResource, "<TagResourceResult/>"),
            (.untagResource, "<UntagResourceResult/>"),
            (
                .publish(messageID: Self.id),
                "<PublishResult><MessageId>\(Self.id)</MessageId></PublishResult>"
            ),
            (
                .publishBatch([.init(id: "a", messageID: Self.id)], failed: []),
                "<PublishBatchResult><Successful><member><Id>a</Id><MessageId>\(Self.id)</MessageId></member></Successful>"
                    + "<Failed/></PublishBatchResult>"
            ),
            (
                .publishBatch([], failed: [.init(id: "a", error: .internalFailure)]),
                "<PublishBatchResult><Successful/><Failed><member><Id>a</Id><Code>InternalError</Code><Message>"
                    + "\(SNSError.internalFailure.message)</Message><SenderFault>false</SenderFault></member></Failed>"
                    + "</PublishBatchResult>"
            ),
            (.done(.deleteEndpoint), ""), (.done(.unsubscribe), ""), (.done(.setTopicAttributes), ""),
        ] as [(Answer, String)]
    )
    func results(_ answer: Answer, _ xml: String) {
        #expect(Self.result(answer) == xml)
    }

    @Test("text is escaped so that a parser gives it back as it was")
    func escaping() {
        #expect(
            Self.result(.getEndpointAttributes(["CustomUserData": "a<b>&\"'\r\n\té😀"])).contains(
                "<value>a&lt;b&gt;&amp;\"'&#xD;\n\té😀</value>"
            )
        )
    }

    @Test("what no XML can carry is replaced, so that an answer is always XML")
    func beyondXML() {
        let error = SNSError.invalidParameter("a\u{1}b\u{FFFE}c\u{FFFF}d\u{FFFD}\u{B}")
        #expect(
            String(decoding: error.body(requestID: Self.id), as: UTF8.self)
                .contains("<Message>Invalid parameter: a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}\u{FFFD}</Message>")
        )
    }

    @Test("an error names its sender, its code and its text")
    func errors() {
        #expect(
            String(decoding: SNSError.endpointDisabled.body(requestID: Self.id), as: UTF8.self)
                == "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>Sender</Type>"
                + "<Code>EndpointDisabled</Code><Message>Endpoint is disabled</Message></Error>"
                + "<RequestId>f187a3c1-376f-11df-8963-01868b7c937a</RequestId></ErrorResponse>\n"
        )
        #expect(
            String(decoding: SNSError.unavailable.body(requestID: Self.id), as: UTF8.self).contains(
                "<Type>Receiver</Type>"
            )
        )
    }

    @Test("SDKs of long ago get JSON")
    func json() throws {
        let format = AnswerFormat(try Parameters(body: "Action=Publish&ContentType=JSON"))
        #expect(format == .json && format.contentType == "application/json")
        #expect(AnswerFormat(try Parameters(body: "Action=Publish")) == .xml)
        #expect(
            Self.body(.publish(messageID: Self.id), .json)
                == "{\"PublishResponse\":{\"PublishResult\":{\"MessageId\":\"\(Self.id)\"},\"ResponseMetadata\":"
                + "{\"RequestId\":\"\(Self.id)\"}}}"
        )
        #expect(
            String(decoding: SNSError.noTopic.body(requestID: Self.id, as: .json), as: UTF8.self)
                == "{\"Error\":{\"Type\":\"Sender\",\"Code\":\"NotFound\",\"Message\":\"Topic does not exist\"},"
                + "\"RequestId\":\"\(Self.id)\"}"
        )
        #expect(
            Self.body(.getEndpointAttributes(["a": "\"\\\u{1}\n\u{1F}"]), .json).contains(
                #"{"a":"\"\\\u0001\n\u001f"}"#
            )
        )
    }
}

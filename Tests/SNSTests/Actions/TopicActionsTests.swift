import SNS
import Testing

@Suite("Actions on topics and subscriptions")
struct TopicActionsTests {
    static let id = "f187a3c1-376f-41df-8963-01868b7c937a"

    @Test("a call without an action, and actions that are not known")
    func unknown() throws {
        #expect(error { try Action(try Parameters(body: "")) }?.code == "MissingAction")
        #expect(error { try Action(try Parameters(body: "Action=")) }?.code == "MissingAction")
        for name in ["CheckIfPhoneNumberIsOptedOut", "publish", "x"] {
            #expect(
                error { try action(name, [:]) }
                    == SNSError("InvalidAction", "Could not find operation \(name) for version 2010-03-31")
            )
        }
        #expect(
            error { try Action(try Parameters(body: "Action=ListTopics&Version=2011-01-01")) }?.message
                == "Could not find operation ListTopics for version 2011-01-01"
        )
        #expect(try Action(try Parameters(body: "Action=ListTopics")).name == .listTopics)
    }

    @Test("a parameter that the action does not have is refused")
    func parameter() {
        #expect(
            error { try action("ListTopics", ["NextTokn": "x"]) }
                == SNSError("InvalidQueryParameter", "The parameter NextTokn is not recognized")
        )
        #expect(error { try action("ListTopics", ["NextToken": "x", "Timestamp": "x"]) } == nil)
    }

    @Test("every action is read from its parameters and knows its name and resource")
    func all() throws {
        let calls: [(ActionName, KeyValuePairs<String, String>)] = [
            (.getPlatformApplicationAttributes, ["PlatformApplicationArn": "\(application)"]),
            (
                .setPlatformApplicationAttributes,
                [
                    "PlatformApplicationArn": "\(application)", "Attributes.entry.1.key": "Enabled",
                    "Attributes.entry.1.value": "true",
                ]
            ),
            (.listPlatformApplications, ["NextToken": "x"]),
            (.deletePlatformApplication, ["PlatformApplicationArn": "\(application)"]),
            (.createPlatformEndpoint, ["PlatformApplicationArn": "\(application)", "Token": "aa"]),
            (.getEndpointAttributes, ["EndpointArn": "\(endpoint)"]),
            (
                .setEndpointAttributes,
                [
                    "EndpointArn": "\(endpoint)", "Attributes.entry.1.key": "Enabled",
                    "Attributes.entry.1.value": "true",
                ]
            ),
            (.listEndpointsByPlatformApplication, ["PlatformApplicationArn": "\(application)"]),
            (.deleteEndpoint, ["EndpointArn": "\(endpoint)"]), (.createTopic, ["Name": "news"]),
            (.getTopicAttributes, ["TopicArn": "\(topic)"]),
            (
                .setTopicAttributes,
                ["TopicArn": "\(topic)", "AttributeName": "DisplayName", "AttributeValue": "News"]
            ),
            (.listTopics, [:]), (.deleteTopic, ["TopicArn": "\(topic)"]),
            (.tagResource, ["ResourceArn": "\(topic)", "Tags.member.1.Key": "k", "Tags.member.1.Value": ""]),
            (.untagResource, ["ResourceArn": "\(topic)", "TagKeys.member.1": "k"]),
            (.listTagsForResource, ["ResourceArn": "\(topic)"]),
            (
                .addPermission,
                [
                    "TopicArn": "\(topic)", "Label": "l", "AWSAccountId.member.1": "123456789012",
                    "ActionName.member.1": "Publish",
                ]
            ),
            (.removePermission, ["TopicArn": "\(topic)", "Label": "l"]),
            (.subscribe, ["TopicArn": "\(topic)", "Protocol": "application", "Endpoint": "\(endpoint)"]),
            (.confirmSubscription, ["TopicArn": "\(topic)", "Token": "t"]),
            (.unsubscribe, ["SubscriptionArn": "\(topic):\(Self.id)"]), (.listSubscriptions, [:]),
            (.listSubscriptionsByTopic, ["TopicArn": "\(topic)"]),
            (.getSubscriptionAttributes, ["SubscriptionArn": "\(topic):\(Self.id)"]),
            (
                .setSubscriptionAttributes,
                ["SubscriptionArn": "\(topic):\(Self.id)", "AttributeName": "FilterPolicy", "AttributeValue": "{}"]
            ),
            (.publish, ["TopicArn": "\(topic)", "Message": "m"]),
            (
                .publishBatch,
                [
                    "TopicArn": "\(topic)", "PublishBatchRequestEntries.member.1.Id": "a",
                    "PublishBatchRequestEntries.member.1.Message": "m",
                ]
            ),
        ]
        for (name, parameters) in calls {
            let action = try action(name.rawValue, parameters)
            #expect(action.name == name)
            let nobody = Principal(arn: "u", accessKeyID: nil, policy: AccessPolicy([]))
            let refusal = error { try nobody.check(action, region: "eu-west-1", account: "123456789012") }
            #expect(
                refusal?.message.contains("SNS:\(name.rawValue) on resource: arn:aws:sns:eu-west-1:123456789012:")
                    == true
            )
        }
        #expect(Set(calls.map(\.0)) == Set(ActionName.allCases).subtracting([.createPlatformApplication]))
    }

    @Test(
        "a topic's name is refused as Amazon does",
        arguments: [["Name": ""], ["Name": "a.b"], ["Name": "a.fifo"], ["Name": "é"]] as [KeyValuePairs<String, String>]
    )
    func topicNames(_ parameters: KeyValuePairs<String, String>) {
        #expect(error { try action("CreateTopic", parameters) }?.message == "Invalid parameter: Topic Name")
    }

    @Test("a topic that is to be no FIFO topic is an ordinary one")
    func fifo() throws {
        let attributes: KeyValuePairs = [
            "Name": "a", "Attributes.entry.1.key": "FifoTopic", "Attributes.entry.1.value": "false",
            "Attributes.entry.2.key": "DisplayName", "Attributes.entry.2.value": "A", "Tags.member.1.Key": "k",
            "Tags.member.1.Value": "v",
        ]
        guard case .createTopic(let call) = try action("CreateTopic", attributes) else {
            preconditionFailure("another action")
        }
        #expect(!call.isFIFO && call.attributes == ["DisplayName": "A"] && call.tags == [Tag(key: "k", value: "v")])
    }

    @Test("attributes of a topic that cannot be set are refused", arguments: ["FifoTopic", "Owner", "displayName", ""])
    func topicAttributes(_ name: String) {
        #expect(
            error { try action("SetTopicAttributes", ["TopicArn": "\(topic)", "AttributeName": name]) }?.message
                == "Invalid parameter: AttributeName"
        )
    }

    @Test("a fresh topic's attributes are Amazon's")
    func fresh() {
        let attributes = TopicAttributes.fresh(topic)
        #expect(attributes["SubscriptionsPending"] == "0" && attributes["DisplayName"] == "")
        #expect(attributes["Owner"] == "123456789012" && attributes["TopicArn"] == "\(topic)")
        #expect(
            attributes["Policy"]
                == #"{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","#
                + #""Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","#
                + #""SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","#
                + #""SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":"\#(topic)","Condition":{"StringEquals":"#
                + #"{"AWS:SourceOwner":"123456789012"}}}]}"#
        )
    }

    @Test("keys of tags stand once, and tags have a limit")
    func tags() {
        #expect(
            error {
                try action(
                    "TagResource",
                    [
                        "ResourceArn": "\(topic)", "Tags.member.1.Key": "k", "Tags.member.1.Value": "a",
                        "Tags.member.2.Key": "k", "Tags.member.2.Value": "b",
                    ]
                )
            }?.message == "Invalid parameter: Duplicated keys are not allowed."
        )
        let many = (1...51).map { "&Tags.member.\($0).Key=k\($0)&Tags.member.\($0).Value=" }.joined()
        let body = "Action=TagResource&ResourceArn=\(topic)" + many
        #expect(error { try Action(try Parameters(body: body)) } == .tagLimit)
    }

    @Test("permissions are for Amazon's actions")
    func permissions() {
        #expect(
            error {
                try action(
                    "AddPermission",
                    [
                        "TopicArn": "\(topic)", "Label": "l", "AWSAccountId.member.1": "123456789012",
                        "ActionName.member.1": "Fly",
                    ]
                )
            }?.message == "Invalid parameter: Policy statement action out of service scope!"
        )
    }

    static func subscribe(_ parameters: KeyValuePairs<String, String>) throws -> Subscribe {
        guard case .subscribe(let call) = try action("Subscribe", parameters) else {
            preconditionFailure("another action")
        }
        return call
    }

    @Test("a topic's shape comes first, then the protocol, then the endpoint, then the attributes")
    func subscribing() throws {
        #expect(
            error { try Self.subscribe(["TopicArn": "x", "Protocol": "pigeon"]) }?.message
                == "Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1"
        )
        let pigeon = try Self.subscribe(["TopicArn": "\(topic)", "Protocol": "pigeon", "Endpoint": "x"])
        #expect(
            error { try pigeon.destination() }?.message
                == "Invalid parameter: Amazon SNS does not support this protocol string: pigeon"
        )
        let call = try Self.subscribe([
            "TopicArn": "\(topic)", "Protocol": "application", "Endpoint": "\(endpoint)",
            "Attributes.entry.1.key": "FilterPolicy", "Attributes.entry.1.value": #"{"a":["x"]}"#,
        ])
        let destination = try call.destination()
        #expect(destination == .application(endpoint) && destination.transport == .application)
        #expect(destination.endpoint == "\(endpoint)")
        #expect(try call.attributes().filter?.scope == .messageAttributes)
    }

    @Test(
        "endpoints fit their protocol",
        arguments: [("http", "https://a"), ("https", "http://a"), ("application", "x"), ("sqs", "x"), ("http", "")]
    )
    func destinations(_ transport: String, _ endpoint: String) throws {
        let call = try Self.subscribe(["TopicArn": "\(topic)", "Protocol": transport, "Endpoint": endpoint])
        #expect(error { try call.destination() }?.code == "InvalidParameter")
    }

    @Test("FIFO topics do not push to devices")
    func fifoSubscribers() throws {
        let call = try Self.subscribe([
            "TopicArn": "\(topic).fifo", "Protocol": "application", "Endpoint": "\(endpoint)",
        ])
        #expect(error { try call.destination() } != nil)
    }

    @Test(
        "attributes of a subscription that are refused",
        arguments: [
            ("Colour", "red", "AttributeName", false),
            ("RawMessageDelivery", "x", "RawMessageDelivery: Invalid value [x]. Must be true or false.", true),
            (
                "FilterPolicyScope", "x",
                "FilterPolicyScope: Invalid value [x]. Please use either MessageBody or MessageAttributes", true
            ),
            ("FilterPolicy", "x", "FilterPolicy: failed to parse JSON.", true),
            ("RedrivePolicy", "x", "RedrivePolicy: failed to parse JSON.", true),
            ("RedrivePolicy", "{}", "RedrivePolicy: deadLetterTargetArn is an invalid arn", true),
            (
                "RedrivePolicy", #"{"deadLetterTargetArn":"x"}"#,
                "RedrivePolicy: deadLetterTargetArn is an invalid arn", true
            ),
        ]
    )
    func subscriptionAttributes(_ name: String, _ value: String, _ text: String, _ hasPrefix: Bool) throws {
        let call = try Self.subscribe([
            "TopicArn": "\(topic)", "Protocol": "application", "Endpoint": "\(endpoint)",
            "Attributes.entry.1.key": name,
            "Attributes.entry.1.value": value,
        ])
        #expect(
            error { try call.attributes() }?.message
                == "Invalid parameter: \(hasPrefix ? "Attributes Reason: " : "")\(text)"
        )
        #expect(error { try Self.set(name, value).change(stored: [:]) }?.message == "Invalid parameter: \(text)")
    }

    static func set(_ name: String, _ value: String) throws -> SetSubscriptionAttributes {
        let action = try action(
            "SetSubscriptionAttributes",
            ["SubscriptionArn": "\(topic):\(Self.id)", "AttributeName": name, "AttributeValue": value]
        )
        guard case .setSubscriptionAttributes(let call) = action else { preconditionFailure("another action") }
        return call
    }

    @Test("a policy is checked against the scope that is stored, and a scope against the policy")
    func scopes() throws {
        let nested = #"{"a":{"b":["x"]}}"#
        #expect(error { try Self.set("FilterPolicy", nested).change(stored: [:]) } != nil)
        let body = try Self.set("FilterPolicy", nested).change(stored: ["FilterPolicyScope": "MessageBody"])
        #expect(body.filter?.scope == .messageBody && body.plain == ["FilterPolicy": nested])
        #expect(
            error {
                try Self.set("FilterPolicyScope", "MessageAttributes")
                    .change(stored: ["FilterPolicy": nested, "FilterPolicyScope": "MessageBody"])
            } != nil
        )
        #expect(try Self.set("FilterPolicy", "").change(stored: ["FilterPolicy": nested]).filter == nil)
    }

    @Test("Unsubscribe's texts")
    func unsubscribing() {
        #expect(
            error { try action("Unsubscribe", [:]) }?.message
                == "Invalid parameter: SubscriptionArn Reason: no value for required parameter"
        )
        #expect(
            error { try action("Unsubscribe", ["SubscriptionArn": "a:b"]) }?.message
                == "Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not 2"
        )
        #expect(
            error { try action("Unsubscribe", ["SubscriptionArn": "\(topic)"]) }?.message
                == "Invalid parameter: SubscriptionId"
        )
    }
}

import SNS
import Testing

@Suite("Access policies")
struct AccessPolicyTests {
    static let publish = Self.action("Publish", ["TargetArn": "\(endpoint)", "Message": "m"])

    static func action(_ name: String, _ parameters: KeyValuePairs<String, String>) -> Action {
        do { return try SNSTests.action(name, parameters) } catch { preconditionFailure("\(error)") }
    }

    static func isAllowed(_ action: Action, _ statements: AccessPolicy.Statement...) -> Bool {
        let principal = Principal(
            arn: "arn:aws:iam::123456789012:user/a",
            accessKeyID: "A",
            policy: AccessPolicy(statements)
        )
        return error { try principal.check(action, region: "eu-west-1", account: "123456789012") } == nil
    }

    @Test(
        "a statement covers actions and resources by pattern",
        arguments: [
            ("sns:Publish", "\(endpoint)", true), ("SNS:publish", "*", true), ("Publish", "*", true), ("*", "*", true),
            ("sns:*", "*", true), ("sns:Pub*", "\(application)", true),
            ("sns:Publish", "arn:aws:sns:*:*:app/APNS/*", true),
            ("sns:Publish", "arn:aws:sns:*:*:app/APNS_SANDBOX/*", false), ("sns:Subscribe", "*", false),
            ("sns:Publish", "arn:aws:sns:*:*:app/APNS/MyAp", false),
            ("sns:Publish", "arn:aws:sns:*:*:app/APNS/MyAp?", true),
            ("sns:Publish", "\(topic)", false), ("", "*", false), ("sns:Publish", "", false),
        ]
    )
    func patterns(_ action: String, _ resource: String, _ isAllowed: Bool) {
        #expect(Self.isAllowed(Self.publish, .init(actions: [action], resources: [resource])) == isAllowed)
    }

    @Test("what denies goes before what allows, and nothing said is no")
    func order() {
        let all = AccessPolicy.Statement(actions: ["*"], resources: ["*"])
        let deny = AccessPolicy.Statement(allows: false, actions: ["sns:Publish"], resources: ["\(application)"])
        #expect(Self.isAllowed(Self.publish, all))
        #expect(!Self.isAllowed(Self.publish, all, deny))
        #expect(!Self.isAllowed(Self.publish, deny, all))
        #expect(!Self.isAllowed(Self.publish))
        #expect(Self.isAllowed(Self.action("ListTopics", [:]), all, deny))
    }

    @Test("resources that are about to be made have their ARN already")
    func creation() {
        let one = AccessPolicy.Statement(actions: ["*"], resources: ["arn:aws:sns:eu-west-1:123456789012:user-*"])
        #expect(Self.isAllowed(Self.action("CreateTopic", ["Name": "user-7"]), one))
        #expect(!Self.isAllowed(Self.action("CreateTopic", ["Name": "admin"]), one))
    }

    @Test("the refusal names the user, the action and the resource")
    func text() {
        let principal = Principal(arn: "arn:aws:iam::123456789012:user/a", accessKeyID: "A", policy: AccessPolicy([]))
        #expect(
            error { try principal.check(Self.publish, region: "eu-west-1", account: "123456789012") }
                == SNSError(
                    "AuthorizationError",
                    status: 403,
                    "User: arn:aws:iam::123456789012:user/a is not authorized to perform: SNS:Publish on resource: \(endpoint)"
                )
        )
    }
}

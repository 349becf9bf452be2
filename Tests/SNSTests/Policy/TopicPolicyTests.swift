import SNS
import Testing

@Suite("Policies of topics")
struct TopicPolicyTests {
    private static let topic = TopicARN(region: "eu-west-1", account: "123456789012", name: "t")
    private static let one = TopicPermission(label: "a", accounts: ["111111111111"], actions: ["Publish"])
    private static let several = TopicPermission(
        label: "b",
        accounts: ["111111111111", "222222222222"],
        actions: ["Publish", "Subscribe"]
    )
    private static let statement =
        #"{"Sid":"a","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:root"},"Action":"SNS:Publish","#
        + #""Resource":"arn:aws:sns:eu-west-1:123456789012:t"}"#

    @Test(
        "permissions stand behind the policy's own statements",
        arguments: [
            (#"{"Statement":[{"Sid":"x"}]}"#, #"{"Statement":[{"Sid":"x"},S]}"#),
            (#"{ "Statement" : [ ] , "Id":1}"#, #"{ "Statement" : [S] , "Id":1}"#),
            (#"{"Statement":{"Sid":"x"}}"#, #"{"Statement":[{"Sid":"x"},S]}"#), ("{}", #"{"Statement":[S]}"#),
            (#"{"Version":"2008-10-17"}"#, #"{"Version":"2008-10-17","Statement":[S]}"#),
            // One of its own with this label goes first.
            (#"{"Statement":[{"Sid":"a"}]}"#, #"{"Statement":[{"Sid":"a"}]}"#),
        ]
    )
    func adding(policy: String, result: String) throws {
        let result = result.split(separator: "S]", omittingEmptySubsequences: false).joined(
            separator: Self.statement + "]"
        )
        #expect(try #require(TopicPolicy(policy)).adding([Self.one], to: Self.topic) == result)
    }

    @Test("several accounts and actions are lists")
    func lists() throws {
        let policy = try #require(TopicPolicy("{}")).adding([Self.several], to: Self.topic)
        #expect(policy.contains(#""AWS":["arn:aws:iam::111111111111:root","arn:aws:iam::222222222222:root"]"#))
        #expect(policy.contains(#""Action":["SNS:Publish","SNS:Subscribe"]"#))
    }

    @Test("a statement is removed by its label, and the rest stays as it was written")
    func removing() throws {
        let policy = try #require(TopicPolicy(#"{"Id": 1, "Statement": [{"Sid":"a"}, {"Sid" : "b"}]}"#))
        #expect(policy.has("a") && policy.has("b") && !policy.has("c"))
        #expect(policy.removing("a") == #"{"Id": 1, "Statement": [{"Sid" : "b"}]}"#)
    }

    @Test("permissions survive being stored", arguments: [Self.one, Self.several])
    func stored(permission: TopicPermission) {
        #expect(TopicPermission.all(in: [permission.attribute: permission.value, "DisplayName": "x"]) == [permission])
        #expect(TopicPermission.all(in: [permission.attribute: ""]).isEmpty)
    }

    @Test("what is no object is no policy", arguments: ["", "[]", "{", "1", #"{"Statement":[}"#])
    func refused(text: String) {
        #expect(TopicPolicy(text) == nil)
    }
}

internal import Gateway
internal import SNS
internal import Testing

@Suite struct PolicyTextTests {
    @Test(
        "texts that say no policy are refused with the part at fault",
        arguments: [
            ("", "allows nothing"), ("Publish at x", "is not <action> on <resource>"), ("Pub-lish", "has the action"),
            ("Publish on", "is not <action> on <resource>"), (" , ", "is not <action> on <resource>"),
        ]
    )
    func refused(text: String, phrase: String) {
        let problem = #expect(throws: PolicyText.Problem.self) { try PolicyText.parse(text) }
        #expect(problem?.phrase.contains(phrase) == true)
    }

    @Test("a policy allows what it names and nothing else")
    func allowed() throws {
        let policy = try PolicyText.parse("Publish on app/APNS/*, List*")
        let arn = "arn:aws:sns:eu-west-1:123456789012:app/APNS/Shop"
        #expect(policy.allows("Publish", on: [arn]))
        #expect(policy.allows("ListTopics", on: ["arn:aws:sns:eu-west-1:123456789012:*"]))
        #expect(!policy.allows("Publish", on: ["arn:aws:sns:eu-west-1:123456789012:news"]))
        #expect(!policy.allows("DeleteEndpoint", on: [arn]))
    }
}

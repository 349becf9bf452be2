import SNS
import Testing

@Suite("Publishing")
struct PublishTests {
    static func publish(_ parameters: KeyValuePairs<String, String>) throws -> Publish {
        guard case .publish(let call) = try action("Publish", parameters) else { preconditionFailure("another action") }
        return call
    }

    @Test("a message goes to a topic or an endpoint, and TargetArn may name either")
    func targets() throws {
        #expect(try Self.publish(["TopicArn": "\(topic)", "Message": "m"]).target == .topic(topic))
        #expect(try Self.publish(["TargetArn": "\(topic)", "Message": "m"]).target == .topic(topic))
        #expect(try Self.publish(["TargetArn": "\(endpoint)", "Message": "m"]).target == .endpoint(endpoint))
        let call = try Self.publish([
            "TargetArn": "\(endpoint)", "Message": "h\u{1}", "Subject": "s", "MessageStructure": "json",
            "MessageGroupId": "g",
        ])
        #expect(call.message.text == "h\u{1}" && call.message.subject == "s" && call.message.structure == "json")
        #expect(error { try call.message.checkStandardTarget() } == nil)
    }

    static let long = String(repeating: "a", count: 262_145)

    @Test(
        "what is wrong is said in Amazon's order",
        arguments: [
            (["Subject": "", "Message": ""], "Invalid parameter: Subject"),
            (["Subject": String(repeating: "s", count: 100), "Message": "m"], "Invalid parameter: Subject"),
            (["Subject": "a\nb", "Message": "m"], "Invalid parameter: Subject"),
            (["Message": "", "MessageAttributes.entry.1.Name": ".a"], "Invalid parameter: Empty message"),
            (
                ["Message": Self.long, "MessageAttributes.entry.1.Name": ".a"],
                "Invalid message attribute name starting with character '.' was found."
            ),
            (["Message": Self.long], "Invalid parameter: Message too long"),
            (["Message": "m"], "Invalid parameter: TopicArn or TargetArn Reason: no value for required parameter"),
            (
                ["Message": "m", "TargetArn": "x", "MessageStructure": "y"],
                "Invalid parameter: TargetArn Reason: An ARN must have at least 6 elements, not 1"
            ),
            (["Message": "m", "TopicArn": "arn:aws:sns:us-east-1:123456789012:t"], "Invalid parameter: TopicArn"),
            (
                ["Message": "m", "TargetArn": "arn:aws:sns:eu-west-1:123456789012:endpoint/APNS/a"],
                "Invalid parameter: TargetArn Reason: Wrong number of slashes in relative portion of the ARN."
            ),
            (
                ["Message": "m", "PhoneNumber": "+1"],
                "Invalid parameter: PhoneNumber Reason: text messages are not supported"
            ),
        ] as [(KeyValuePairs<String, String>, String)]
    )
    func order(_ parameters: KeyValuePairs<String, String>, _ text: String) {
        #expect(error { try Self.publish(parameters) }?.message == text)
    }

    @Test("attributes count towards the size")
    func size() {
        func fault(_ bytes: Int) -> SNSError? {
            error {
                try Self.publish([
                    "TopicArn": "\(topic)", "Message": String(repeating: "a", count: bytes),
                    "MessageAttributes.entry.1.Name": "n", "MessageAttributes.entry.1.Value.DataType": "String",
                    "MessageAttributes.entry.1.Value.StringValue": "v",
                ])
            }
        }
        #expect(fault(262_144 - 8) == nil)
        #expect(fault(262_144 - 7)?.message == "Invalid parameter: Message too long")
    }

    @Test("a deduplication id is for FIFO topics")
    func deduplication() throws {
        let call = try Self.publish(["TopicArn": "\(topic)", "Message": "m", "MessageDeduplicationId": "d"])
        #expect(
            error { try call.message.checkStandardTarget() }?.message
                == "Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter "
                + "that is not valid for this topic type"
        )
    }

    static func batch(_ ids: [String], message: String = "m") throws -> PublishBatch {
        var body = "Action=PublishBatch&TopicArn=\(topic)"
        for (index, id) in ids.enumerated() {
            body +=
                "&PublishBatchRequestEntries.member.\(index + 1).Id=\(escaped(id))"
                + "&PublishBatchRequestEntries.member.\(index + 1).Message=\(message)"
        }
        guard case .publishBatch(let call) = try Action(try Parameters(body: body)) else {
            preconditionFailure("another action")
        }
        return call
    }

    @Test("a batch keeps its order")
    func batches() throws {
        let ids = (0..<10).map { "m-\($0)" }
        let call = try Self.batch(ids)
        #expect(call.entries.map(\.id) == ids && call.topic == topic)
        #expect(call.entries.allSatisfy { $0.message.text == "m" })
    }

    @Test(
        "batches that are refused",
        arguments: [
            ([], "EmptyBatchRequest", "The batch request doesn't contain any entries."),
            (
                (0..<11).map { "\($0)" }, "TooManyEntriesInBatchRequest",
                "The batch request contains more entries than permissible."
            ),
            (
                ["a", "a"], "BatchEntryIdsNotDistinct", "Two or more batch entries in the request have the same Id."
            ),
            (
                [String(repeating: "i", count: 81)], "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request is too long: \(String(repeating: "i", count: 81))"
            ),
            (
                ["a.b"], "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request contains an impermissible character: a.b"
            ),
        ] as [([String], String, String)]
    )
    func refusedBatches(_ ids: [String], _ code: String, _ text: String) {
        #expect(error { try Self.batch(ids) } == SNSError(code, text))
    }

    @Test("the messages of a batch have one limit together, and one that is wrong fails them all")
    func wholeBatch() {
        let half = String(repeating: "a", count: 131_072)
        #expect(error { try Self.batch(["a", "b"], message: half) } == nil)
        #expect(
            error { try Self.batch(["a", "b"], message: half + "a") }
                == SNSError(
                    "BatchRequestTooLong",
                    "The length of all the messages put together is more than the limit."
                )
        )
        let body =
            "Action=PublishBatch&TopicArn=\(topic)&PublishBatchRequestEntries.member.1.Id=a"
            + "&PublishBatchRequestEntries.member.1.Message=m"
            + "&PublishBatchRequestEntries.member.1.MessageAttributes.entry.1.Name=n"
        #expect(
            error { try Action(try Parameters(body: body)) }
                == .null("publishBatchRequestEntries.1.member.messageAttributes.n.member.dataType")
        )
    }
}

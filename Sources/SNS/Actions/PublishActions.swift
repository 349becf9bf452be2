package struct Publish: ActionCall {
    package let target: PublishTarget
    package let message: Message

    static let members = ["TopicArn", "TargetArn", "PhoneNumber"] + Message.members

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.message = try Message(parameters)
        guard self.message.size <= Message.sizeLimit else { throw .invalidParameter("Message too long") }
        let topic = try parameters.text("TopicArn")
        let target = try parameters.text("TargetArn")
        guard topic == nil || target == nil else {
            throw .invalidParameter("TopicArn or TargetArn", reason: "both values given, one is expected")
        }
        if let topic {
            self.target = .topic(try TopicARN(topic, in: region))
        } else if let target {
            self.target = try PublishTarget(target, in: region)
        } else if try parameters.text("PhoneNumber") != nil {
            throw .invalidParameter("PhoneNumber", reason: "text messages are not supported")
        } else {
            throw .noValue("TopicArn or TargetArn")
        }
    }
}

extension Message {
    /// What a standard topic or an endpoint does not take; FIFO topics are for others than Apple's devices.
    package func checkStandardTarget() throws(SNSError) {
        guard self.deduplicationID != nil else { return }
        throw .invalidParameter(
            "MessageDeduplicationId",
            reason: "The request includes MessageDeduplicationId parameter that is not valid for this topic type"
        )
    }
}

package struct PublishBatch: ActionCall {
    package struct Entry: Sendable {
        package let id: String
        package let message: Message
    }

    package let topic: TopicARN
    package let entries: [Entry]

    /// Entries in one call.
    package static let limit = 10

    static let members = ["TopicArn", "PublishBatchRequestEntries"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        let members = try parameters.structures("PublishBatchRequestEntries") ?? []
        guard !members.isEmpty else {
            throw SNSError("EmptyBatchRequest", "The batch request doesn't contain any entries.")
        }
        guard members.count <= Self.limit else {
            throw SNSError(
                "TooManyEntriesInBatchRequest",
                "The batch request contains more entries than permissible."
            )
        }
        self.topic = try parameters.topic(in: region)
        self.entries = try Self.entries(members)
        guard self.entries.reduce(0, { $0 + $1.message.size }) <= Message.sizeLimit else {
            throw SNSError(
                "BatchRequestTooLong",
                "The length of all the messages put together is more than the limit."
            )
        }
    }

    private static func entries(_ members: [Parameters]) throws(SNSError) -> [Entry] {
        var ids: [String] = []
        for (index, member) in members.enumerated() {
            try member.allow(["Id"] + Message.members)
            guard let id = try member.text("Id") else {
                throw .null("publishBatchRequestEntries.\(index + 1).member.id")
            }
            ids.append(id)
        }
        guard Set(ids).count == ids.count else {
            throw SNSError(
                "BatchEntryIdsNotDistinct",
                "Two or more batch entries in the request have the same Id."
            )
        }
        for id in ids { try Self.checkID(id) }
        var entries: [Entry] = []
        for (index, (id, member)) in zip(ids, members).enumerated() {
            let place = "publishBatchRequestEntries.\(index + 1).member."
            entries.append(Entry(id: id, message: try Message(member, place: place)))
        }
        return entries
    }

    private static func checkID(_ id: String) throws(SNSError) {
        guard id.utf8.count <= 80 else {
            throw SNSError(
                "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request is too long: \(id)"
            )
        }
        guard !id.isEmpty, id.utf8.allSatisfy(ARN.isWord) else {
            throw SNSError(
                "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request contains an impermissible character: \(id)"
            )
        }
    }
}

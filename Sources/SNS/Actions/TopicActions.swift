package struct CreateTopic: ActionCall {
    package let topicName: String

    /// Without `FifoTopic`.
    package let attributes: [String: String]

    package let tags: [Tag]
    package let isFIFO: Bool

    static let members = ["Name", "Attributes", "Tags", "DataProtectionPolicy"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        let name = try parameters.required("Name")
        var attributes = try parameters.map("Attributes") ?? [:]
        let isFIFO = attributes.removeValue(forKey: "FifoTopic").map { $0.lowercased() == "true" } ?? false
        guard TopicARN.isName(name), name.hasSuffix(".fifo") == isFIFO else { throw .invalidParameter("Topic Name") }
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            guard TopicAttributes.names.contains(name) || isFIFO && name == "ContentBasedDeduplication" else {
                throw .invalidAttributeName(name)
            }
            try TopicAttributes.check(name, value)
        }
        guard try parameters.text("DataProtectionPolicy") == nil else {
            throw .invalidParameter("DataProtectionPolicy", reason: "data protection policies are not supported")
        }
        self.topicName = name
        self.attributes = attributes
        self.tags = try Tag.list(parameters) ?? []
        self.isFIFO = isFIFO
    }
}

package struct DeleteTopic: ActionCall {
    package let topic: TopicARN

    static let members = ["TopicArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.topic = try parameters.topic(in: region)
    }
}

package struct ListTopics: ActionCall {
    package let nextToken: String?

    static let members = ["NextToken"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.nextToken = try parameters.text("NextToken")
    }
}

package struct GetTopicAttributes: ActionCall {
    package let topic: TopicARN

    static let members = ["TopicArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.topic = try parameters.topic(in: region)
    }
}

package struct SetTopicAttributes: ActionCall {
    package let topic: TopicARN
    package let attribute: String
    package let value: String

    static let members = ["TopicArn", "AttributeName", "AttributeValue"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        let attribute = try parameters.required("AttributeName")
        self.topic = try parameters.topic(in: region)
        self.value = try parameters.text("AttributeValue") ?? ""
        guard TopicAttributes.names.contains(attribute) else { throw .invalidParameter("AttributeName") }
        try TopicAttributes.check(attribute, self.value)
        self.attribute = attribute
    }
}

package struct AddPermission: ActionCall {
    package let topic: TopicARN
    package let label: String
    package let accounts: [String]

    /// Without a prefix, such as `Publish`.
    package let actions: [String]

    static let members = ["TopicArn", "Label", "AWSAccountId", "ActionName"]

    private static let known = [
        "GetTopicAttributes", "SetTopicAttributes", "AddPermission", "RemovePermission", "DeleteTopic", "Subscribe",
        "ListSubscriptionsByTopic", "Publish", "Receive",
    ]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.label = try parameters.required("Label")
        guard let accounts = try parameters.list("AWSAccountId") else { throw .null("aWSAccountId") }
        guard let actions = try parameters.list("ActionName") else { throw .null("actionName") }
        self.topic = try parameters.topic(in: region)
        guard actions.allSatisfy(Self.known.contains) else {
            throw .invalidParameter("Policy statement action out of service scope!")
        }
        self.accounts = accounts
        self.actions = actions
    }
}

package struct RemovePermission: ActionCall {
    package let topic: TopicARN
    package let label: String

    static let members = ["TopicArn", "Label"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.label = try parameters.required("Label")
        self.topic = try parameters.topic(in: region)
    }
}

/// A tag of a topic.
package struct Tag: Hashable, Sendable {
    package let key: String
    package let value: String

    /// Tags that one topic may have.
    package static let limit = 50

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }

    /// `Tags.member.N.Key` with `.Value`; nil if it did not come.
    static func list(_ parameters: Parameters) throws(SNSError) -> [Tag]? {
        guard let members = try parameters.structures("Tags") else { return nil }
        var keys = Set<String>()
        var tags: [Tag] = []
        for (index, member) in members.enumerated() {
            try member.allow(["Key", "Value"])
            guard let key = try member.text("Key") else { throw .null("tags.\(index + 1).member.key") }
            guard let value = try member.text("Value") else { throw .null("tags.\(index + 1).member.value") }
            try Self.checkKey(key)
            guard value.unicodeScalars.count <= 256 else {
                throw .invalidParameter("Tags", reason: "The value of a tag must be at most 256 characters long")
            }
            guard keys.insert(key).inserted else { throw .invalidParameter("Duplicated keys are not allowed.") }
            tags.append(Tag(key: key, value: value))
        }
        guard tags.count <= Self.limit else { throw .tagLimit }
        return tags
    }

    static func checkKey(_ key: String) throws(SNSError) {
        guard (1...128).contains(key.unicodeScalars.count) else {
            throw .invalidParameter("Tags", reason: "The key of a tag must have 1 to 128 characters")
        }
    }
}

package struct TagResource: ActionCall {
    package let topic: TopicARN
    package let tags: [Tag]

    static let members = ["ResourceArn", "Tags"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        guard let tags = try Tag.list(parameters) else { throw .null("tags") }
        self.topic = try TopicARN(try parameters.arn("ResourceArn"), parameter: "ResourceArn", in: region)
        self.tags = tags
    }
}

package struct UntagResource: ActionCall {
    package let topic: TopicARN
    package let keys: [String]

    static let members = ["ResourceArn", "TagKeys"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        guard let keys = try parameters.list("TagKeys") else { throw .null("tagKeys") }
        self.topic = try TopicARN(try parameters.arn("ResourceArn"), parameter: "ResourceArn", in: region)
        for key in keys { try Tag.checkKey(key) }
        self.keys = keys
    }
}

package struct ListTagsForResource: ActionCall {
    package let topic: TopicARN

    static let members = ["ResourceArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.topic = try TopicARN(try parameters.arn("ResourceArn"), parameter: "ResourceArn", in: region)
    }
}

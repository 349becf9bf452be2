package import Push

/// A topic.
package struct RegisteredTopic: Hashable, Sendable {
    package var name: String
    /// Only those that were set.
    package var attributes: [String: String]
    package var tags: [String: String]
    package var createdAt: UnixTime
    /// How many subscriptions it has, dangling ones among them.
    package var subscriptions: Int
    /// How many of them wait for their confirmation.
    package var pending: Int
}

/// What became of a topic that was to be made.
package enum TopicCreation: Hashable, Sendable {
    case created
    /// It was there, and says the same of all that was given.
    case existing
    /// It was there, and an attribute that was given is another one or new.
    case otherAttributes
    /// It was there, and a tag that was given is another one or new.
    case otherTags
}

/// What became of tags that were to be set.
package enum Tagging: Hashable, Sendable {
    case tagged
    /// There would be more than 50; none was set.
    case tooMany
    case noTopic
}

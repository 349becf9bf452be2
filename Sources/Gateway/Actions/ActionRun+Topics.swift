internal import Registry
internal import SNS

extension ActionRun {
    func createTopic(_ call: CreateTopic) async throws(SNSError) -> Answer {
        let name = call.topicName
        let attributes = call.attributes.merging(call.isFIFO ? ["FifoTopic": "true"] : [:]) { given, _ in given }
        let tags = Dictionary(call.tags.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        let creation = try await self.ask { registry, done in
            registry.createTopic(name, attributes: attributes, tags: tags, done)
        }
        switch creation {
        case .created, .existing: return .createTopic(self.arn(topic: name))
        case .otherAttributes: throw .topicConflict
        case .otherTags: throw .topicTagConflict
        }
    }

    func topicAttributes(_ call: GetTopicAttributes) async throws(SNSError) -> Answer {
        let topic = try await self.requireTopic(call.topic)
        var attributes = TopicAttributes.fresh(call.topic)
        attributes["SubscriptionsConfirmed"] = "\(topic.subscriptions)"
        for (name, value) in topic.attributes where !name.hasPrefix(Self.permission("")) {
            if !value.isEmpty || name == "DisplayName" { attributes[name] = value }
        }
        return .getTopicAttributes(attributes)
    }

    func setTopic(_ call: SetTopicAttributes) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noTopic }
        let name = call.topic.name
        let attributes = [call.attribute: call.value]
        let change = try await self.ask { registry, done in registry.setTopic(name, attributes: attributes, done) }
        guard change != .missing else { throw .noTopic }
        return .done(.setTopicAttributes)
    }

    func listTopics(_ call: ListTopics) async throws(SNSError) -> Answer {
        let after = try PageToken.decode(call.nextToken)
        let page = try await self.ask { registry, done in registry.topics(after: after, limit: 100, done) }
        return .listTopics(page.items.map { self.arn(topic: $0) }, next: page.next.map { PageToken.encode($0) })
    }

    func deleteTopic(_ call: DeleteTopic) async throws(SNSError) -> Answer {
        if self.isOwn(call.topic) {
            let name = call.topic.name
            _ = try await self.ask { registry, done in registry.deleteTopic(name, done) }
        }
        return .done(.deleteTopic)
    }

    // MARK: Tags

    func tag(_ call: TagResource) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noResource }
        let name = call.topic.name
        let tags = Dictionary(call.tags.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        switch try await self.ask({ registry, done in registry.tag(topic: name, tags, done) }) {
        case .tagged: return .tagResource
        case .tooMany: throw .tagLimit
        case .noTopic: throw .noResource
        }
    }

    func untag(_ call: UntagResource) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noResource }
        let name = call.topic.name
        let keys = call.keys
        let change = try await self.ask { registry, done in registry.untag(topic: name, keys, done) }
        guard change != .missing else { throw .noResource }
        return .untagResource
    }

    func listTags(_ call: ListTagsForResource) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noResource }
        let name = call.topic.name
        guard let topic = try await self.ask({ registry, done in registry.topic(name, done) }) else {
            throw .noResource
        }
        let tags = topic.tags.sorted { $0.key < $1.key }.map { SNS.Tag(key: $0.key, value: $0.value) }
        return .listTagsForResource(tags)
    }

    // MARK: Permissions: kept and shown; what a caller may do is up to its access key's policy

    func addPermission(_ call: AddPermission) async throws(SNSError) -> Answer {
        let topic = try await self.requireTopic(call.topic)
        let attribute = Self.permission(call.label)
        guard topic.attributes[attribute] ?? "" == "" else { throw .statementExists }
        let value = (call.accounts + ["|"] + call.actions).joined(separator: " ")
        let name = topic.name
        _ = try await self.ask { registry, done in registry.setTopic(name, attributes: [attribute: value], done) }
        return .done(.addPermission)
    }

    func removePermission(_ call: RemovePermission) async throws(SNSError) -> Answer {
        let topic = try await self.requireTopic(call.topic)
        let attribute = Self.permission(call.label)
        let name = topic.name
        _ = try await self.ask { registry, done in registry.setTopic(name, attributes: [attribute: ""], done) }
        return .done(.removePermission)
    }

    private static func permission(_ label: String) -> String { "permission/\(label)" }

    func requireTopic(_ arn: TopicARN) async throws(SNSError) -> RegisteredTopic {
        guard self.isOwn(arn) else { throw .noTopic }
        let name = arn.name
        guard let topic = try await self.ask({ registry, done in registry.topic(name, done) }) else { throw .noTopic }
        return topic
    }
}

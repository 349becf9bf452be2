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
        attributes["SubscriptionsConfirmed"] = "\(topic.subscriptions - topic.pending)"
        attributes["SubscriptionsPending"] = "\(topic.pending)"
        for (name, value) in topic.attributes where !name.hasPrefix(TopicPermission.prefix) {
            if !value.isEmpty || name == "DisplayName" { attributes[name] = value }
        }
        let permissions = TopicPermission.all(in: topic.attributes)
        attributes["Policy"] = attributes["Policy"].flatMap { TopicPolicy($0)?.adding(permissions, to: call.topic) }
        return .getTopicAttributes(attributes)
    }

    func setTopic(_ call: SetTopicAttributes) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noTopic }
        let name = call.topic.name
        var changed = [call.attribute: call.value]
        if call.attribute == "Policy" {
            // A new policy stands for itself; what was added to the former one goes with that.
            for permission in TopicPermission.all(in: try await self.requireTopic(call.topic).attributes) {
                changed[permission.attribute] = ""
            }
        }
        let attributes = changed
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
        let permission = TopicPermission(label: call.label, accounts: call.accounts, actions: call.actions)
        let policy = topic.attributes["Policy"].flatMap(TopicPolicy.init)
        guard topic.attributes[permission.attribute] ?? "" == "", policy?.has(call.label) != true else {
            throw .statementExists
        }
        let name = topic.name
        let change = [permission.attribute: permission.value]
        _ = try await self.ask { registry, done in registry.setTopic(name, attributes: change, done) }
        return .done(.addPermission)
    }

    func removePermission(_ call: RemovePermission) async throws(SNSError) -> Answer {
        let topic = try await self.requireTopic(call.topic)
        let permission = TopicPermission(label: call.label, accounts: [], actions: [])
        var changed = [permission.attribute: ""]
        if let policy = topic.attributes["Policy"].flatMap(TopicPolicy.init), policy.has(call.label) {
            changed["Policy"] = policy.removing(call.label)
        }
        let (name, attributes) = (topic.name, changed)
        _ = try await self.ask { registry, done in registry.setTopic(name, attributes: attributes, done) }
        return .done(.removePermission)
    }

    func requireTopic(_ arn: TopicARN) async throws(SNSError) -> RegisteredTopic {
        guard self.isOwn(arn) else { throw .noTopic }
        let name = arn.name
        guard let topic = try await self.ask({ registry, done in registry.topic(name, done) }) else { throw .noTopic }
        return topic
    }
}

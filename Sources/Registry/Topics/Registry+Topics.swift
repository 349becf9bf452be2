internal import Push
internal import Store

extension Registry {
    /// The most tags that a topic may have. Source: Amazon SNS quotas.
    package static let maximumTags = 50

    /// Makes a topic, or finds the one that is there. Source: Amazon SNS API reference, CreateTopic.
    package func createTopic(
        _ name: String,
        attributes: [String: String] = [:],
        tags: [String: String] = [:],
        _ completion: @escaping Completion<TopicCreation>
    ) {
        var call = Self.call(TopicScripts.create, name)
        call.add(attributes)
        call.add(tags)
        self.run(call, completion) { reply in
            switch reply.text() {
            case "created": .created
            case "existing": .existing
            case "otherAttributes": .otherAttributes
            case "otherTags": .otherTags
            default: nil
            }
        }
    }

    /// With its tags; nil if there is none.
    package func topic(_ name: String, _ completion: @escaping Completion<RegisteredTopic?>) {
        self.run(Self.call(TopicScripts.get, name), completion) { reply in
            if reply.isAtEnd { return .some(nil) }
            guard let created = reply.integer(), let count = reply.integer(), var attributes = reply.list(),
                var tags = reply.list(), let pending = reply.integer()
            else { return nil }
            return RegisteredTopic(
                name: name,
                attributes: attributes.dictionary(),
                tags: tags.dictionary(),
                createdAt: UnixTime(milliseconds: created),
                subscriptions: Int(count),
                pending: Int(pending)
            )
        }
    }

    /// Sets attributes; what is not given stays.
    package func setTopic(
        _ name: String,
        attributes: [String: String],
        _ completion: @escaping Completion<Change>
    ) {
        var call = Self.call(TopicScripts.set, name)
        call.add(attributes)
        self.run(call, completion) { $0.change() }
    }

    /// Names, in their order.
    package func topics(
        after: String? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<String, String>>
    ) {
        var call = Self.call(TopicScripts.list, after ?? "")
        call.add(limit)
        self.run(call, completion) { reply in
            guard let next = reply.text(), var names = reply.list() else { return nil }
            var page = Page<String, String>(items: [], next: next.isEmpty ? nil : next)
            while let name = names.text() { page.items.append(name) }
            return page
        }
    }

    /// Deletes a topic with its tags and subscriptions; what those occupy is freed by ``sweep(olderThan:limit:_:)``.
    package func deleteTopic(_ name: String, _ completion: @escaping Completion<Removal>) {
        self.run(Self.call(TopicScripts.delete, name), completion) { $0.removal() }
    }

    /// Sets tags, all or none.
    package func tag(
        topic name: String,
        _ tags: [String: String],
        _ completion: @escaping Completion<Tagging>
    ) {
        var call = Self.call(TopicScripts.tag, name)
        call.add(tags)
        call.add(Self.maximumTags)
        self.run(call, completion) { reply in
            switch reply.text() {
            case "tagged": .tagged
            case "tooMany": .tooMany
            case "noTopic": .noTopic
            default: nil
            }
        }
    }

    /// Takes tags away; that one is not there is no fault.
    package func untag(topic name: String, _ keys: [String], _ completion: @escaping Completion<Change>) {
        var call = Self.call(TopicScripts.untag, name)
        call.add(keys.count)
        for key in keys { call.add(key) }
        self.run(call, completion) { $0.change() }
    }

    private static func call(_ script: Script, _ name: String) -> ScriptCall {
        var call = RegistryScript.call(script)
        call.add(name)
        return call
    }
}

internal import Push
internal import Store

extension Registry {
    /// Subscribes, or finds the subscription that is there. Its id derives from topic and subscriber.
    /// Source: Amazon SNS API reference, Subscribe.
    package func subscribe(
        _ subscriber: Subscriber,
        to topic: String,
        attributes: [String: String] = [:],
        _ completion: @escaping Completion<Subscribing>
    ) {
        let id = ResourceID(digestOf: "\(topic) \(subscriber.key)", version: 4)
        var call = Self.call(SubscriptionScripts.subscribe, SubscriptionName(topic: topic, id: id))
        switch subscriber {
        case .endpoint(let name):
            call.add("a")
            call.add(name.application.description)
            call.add(name.id.bytes)
        case .other(let name, let endpoint):
            call.add("x")
            call.add(name)
            call.add(endpoint)
        }
        call.add(attributes)
        self.run(call, completion) { reply in
            let word = reply.text()
            switch (word, reply.id()) {
            case ("created", let id?): return .created(id)
            case ("existing", let id?): return .existing(id)
            case ("otherAttributes", let id?): return .otherAttributes(id)
            case ("noTopic", nil): return .noTopic
            case ("noEndpoint", nil): return .noEndpoint
            default: return nil
            }
        }
    }

    /// Nil if there is none.
    package func subscription(_ name: SubscriptionName, _ completion: @escaping Completion<Subscription?>) {
        self.run(Self.call(SubscriptionScripts.get, name), completion) { reply in
            reply.isAtEnd ? .some(nil) : reply.subscription()
        }
    }

    /// Sets one attribute, or takes it away with nil. It holds for every publish from now on.
    package func setSubscription(
        _ name: SubscriptionName,
        attribute: String,
        to value: String?,
        _ completion: @escaping Completion<Change>
    ) {
        var call = Self.call(SubscriptionScripts.set, name)
        call.add(attribute)
        call.add(optional: value)
        self.run(call, completion) { $0.change() }
    }

    /// A page of all topics' subscriptions, in the order of topics.
    package func subscriptions(
        after: SubscriptionName? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<Subscription, SubscriptionName>>
    ) {
        var call = RegistryScript.call(SubscriptionScripts.all)
        call.add(after?.topic ?? "")
        call.add(after?.id.bytes ?? [])
        call.add(limit)
        self.run(call, completion) { reply in
            guard let topic = reply.text(), let id = reply.bytes(), let items = reply.subscriptions() else {
                return nil
            }
            return Page(items: items, next: ResourceID(bytes: id).map { SubscriptionName(topic: topic, id: $0) })
        }
    }

    /// A page of a topic's subscriptions; nil if there is no such topic.
    package func subscriptions(
        to topic: String,
        after: ResourceID? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<Subscription, ResourceID>?>
    ) {
        self.run(Self.call(SubscriptionScripts.byTopic, topic, after, limit), completion) { reply in
            guard reply.text() == "page" else { return .some(nil) }
            guard let next = reply.bytes(), let items = reply.subscriptions() else { return nil }
            return Page(items: items, next: ResourceID(bytes: next))
        }
    }

    /// A page of an endpoint's subscriptions, also of one that was deleted.
    /// - Parameter after: the page's key before; it means nothing to anybody else.
    package func subscriptions(
        of endpoint: EndpointName,
        after: [UInt8]? = nil,
        limit: Int = 100,
        _ completion: @escaping Completion<Page<Subscription, [UInt8]>>
    ) {
        var call = RegistryScript.call(SubscriptionScripts.byEndpoint)
        call.add(endpoint.application.description)
        call.add(endpoint.id.bytes)
        call.add(after ?? [])
        call.add(limit)
        self.run(call, completion) { reply in
            guard let next = reply.bytes(), let items = reply.subscriptions() else { return nil }
            return Page(items: items, next: next.isEmpty ? nil : next)
        }
    }

    /// A part of a topic's subscribers with all that messages to them need; nil if there is no such topic. Two calls with
    /// the same `after` name the same, but for who has come or gone in between: progress is the last key alone.
    package func recipients(
        of topic: String,
        after: ResourceID? = nil,
        limit: Int,
        _ completion: @escaping Completion<Recipients?>
    ) {
        self.run(Self.call(SubscriptionScripts.recipients, topic, after, limit), completion) { reply in
            guard reply.text() == "page" else { return .some(nil) }
            return reply.recipients()
        }
    }

    static func call(_ script: Script, _ name: SubscriptionName) -> ScriptCall {
        var call = RegistryScript.call(script)
        call.add(name.topic)
        call.add(name.id.bytes)
        return call
    }

    private static func call(_ script: Script, _ topic: String, _ after: ResourceID?, _ limit: Int) -> ScriptCall {
        var call = RegistryScript.call(script)
        call.add(topic)
        call.add(after?.bytes ?? [])
        call.add(limit)
        return call
    }
}

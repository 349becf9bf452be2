internal import Registry
internal import SNS

extension ActionRun {
    func subscribe(_ call: Subscribe) async throws(SNSError) -> Answer {
        _ = try await self.requireTopic(call.topic)
        let destination = try call.destination()
        let subscriber: Subscriber
        switch destination {
        case .application(let arn):
            guard self.isOwn(arn.application), let name = arn.key else { throw .noEndpointToSubscribe(arn) }
            subscriber = .endpoint(name)
        case .sqs(let arn): subscriber = .other(protocol: "sqs", endpoint: arn.description)
        case .http(let url), .https(let url): return try await self.subscribe(call, url)
        }
        let attributes = try call.attributes().plain
        let topic = call.topic.name
        let outcome = try await self.ask { registry, done in
            registry.subscribe(subscriber, to: topic, attributes: attributes, done)
        }
        switch outcome {
        case .created(let id), .existing(let id):
            guard let arn = self.settings.arn(SubscriptionName(topic: topic, id: id)) else { throw .internalFailure }
            return .subscribe(arn)
        case .otherAttributes: throw .subscriptionConflict
        case .noTopic: throw .noTopic
        case .noEndpoint:
            guard case .application(let arn) = destination else { throw .internalFailure }
            throw .noEndpointToSubscribe(arn)
        }
    }

    func listSubscriptions(_ call: ListSubscriptions) async throws(SNSError) -> Answer {
        var after: SubscriptionName?
        if let key = try PageToken.decode(call.nextToken) {
            let parts = key.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let id = ResourceID(parts[1]) else { throw .invalidNextToken() }
            after = SubscriptionName(topic: parts[0], id: id)
        }
        let start = after
        let page = try await self.ask { registry, done in registry.subscriptions(after: start, limit: 100, done) }
        return .listSubscriptions(
            page.items.compactMap { self.entry($0) },
            next: page.next.map { PageToken.encode($0.description) }
        )
    }

    func listSubscriptions(_ call: ListSubscriptionsByTopic) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noTopic }
        var after: ResourceID?
        if let key = try PageToken.decode(call.nextToken) {
            guard let id = ResourceID(key) else { throw .invalidNextToken() }
            after = id
        }
        let start = after
        let topic = call.topic.name
        let page = try await self.ask { registry, done in
            registry.subscriptions(to: topic, after: start, limit: 100, done)
        }
        guard let page else { throw .noTopic }
        return .listSubscriptionsByTopic(
            page.items.compactMap { self.entry($0) },
            next: page.next.map { PageToken.encode($0.description) }
        )
    }

    func subscriptionAttributes(_ call: GetSubscriptionAttributes) async throws(SNSError) -> Answer {
        let subscription = try await self.requireSubscription(call.subscription)
        guard let entry = self.entry(subscription) else { throw .internalFailure }
        let confirmation = subscription.confirmation
        var attributes = [
            "ConfirmationWasAuthenticated": "\(confirmation?.wasAuthenticated ?? true)", "Endpoint": entry.endpoint,
            "Owner": entry.owner, "PendingConfirmation": "\(confirmation?.isPending ?? false)",
            "Protocol": entry.transport, "RawMessageDelivery": "false", "SubscriptionArn": "\(call.subscription)",
            "SubscriptionPrincipal": confirmation?.principal ?? self.principal.arn, "TopicArn": "\(entry.topic)",
        ]
        for (name, value) in subscription.attributes where !value.isEmpty { attributes[name] = value }
        if attributes["FilterPolicy"] == nil {
            attributes["FilterPolicyScope"] = nil
        } else if attributes["FilterPolicyScope"] == nil {
            attributes["FilterPolicyScope"] = FilterPolicy.Scope.messageAttributes.rawValue
        }
        return .getSubscriptionAttributes(attributes)
    }

    func setSubscription(_ call: SetSubscriptionAttributes) async throws(SNSError) -> Answer {
        let subscription = try await self.requireSubscription(call.subscription)
        let name = subscription.name
        for (attribute, value) in try call.change(stored: subscription.attributes).plain {
            let change = try await self.ask { registry, done in
                registry.setSubscription(name, attribute: attribute, to: value.isEmpty ? nil : value, done)
            }
            guard change != .missing else { throw .noSubscription }
        }
        return .done(.setSubscriptionAttributes)
    }

    private func requireSubscription(_ arn: SubscriptionARN) async throws(SNSError) -> Subscription {
        guard self.isOwn(arn.topic), let name = arn.key,
            let subscription = try await self.ask({ registry, done in registry.subscription(name, done) })
        else { throw .noSubscription }
        return subscription
    }

    private func entry(_ subscription: Subscription) -> Answer.SubscriptionEntry? {
        guard let arn = self.settings.arn(subscription.name) else { return nil }
        let transport: String
        let endpoint: String
        switch subscription.subscriber {
        case .endpoint(let name):
            transport = "application"
            endpoint = self.arn(name)?.description ?? ""
        case .other(let name, let place): (transport, endpoint) = (name, WebhookURL(place)?.shown ?? place)
        }
        return Answer.SubscriptionEntry(
            arn: subscription.confirmation?.isPending == true ? nil : arn,
            topic: arn.topic,
            owner: self.settings.account,
            transport: transport,
            endpoint: endpoint
        )
    }
}

internal import Broker
internal import Loop
internal import Push
internal import Registry
internal import SNS

/// Subscribers of protocol `http` and `https`: they are asked first.
extension ActionRun {
    /// Whether the call is signed, or needs no signature as none does here.
    private var isSigned: Bool { self.principal.arn != UnsignedCall.name }

    func subscribe(_ call: Subscribe, _ url: WebhookURL) async throws(SNSError) -> Answer {
        try await self.checkSigning()
        guard await self.service.outside.sender.permits(url) != false else {
            throw .invalidParameter("Endpoint", reason: "This gateway does not post to that address")
        }
        let attributes = try call.attributes().plain
        let topic = call.topic.name
        let transport = url.isTLS ? "https" : "http"
        let principal = self.principal.arn
        let outcome = try await self.ask { registry, done in
            registry.subscribePending(
                transport,
                url.text,
                to: topic,
                attributes: attributes,
                principal: principal,
                done
            )
        }
        switch outcome {
        case .noTopic: throw .noTopic
        case .otherAttributes: throw .subscriptionConflict
        case .existing(let id): return .subscribe(try self.arn(topic, id))
        case .pending(let id, let token):
            let name = SubscriptionName(topic: topic, id: id)
            let text = SubscriberMessage.confirmationText(call.topic)
            let policy = attributes["DeliveryPolicy"]
            try await self.send { now in
                WebhookOrder(
                    .subscriptionConfirmation,
                    url.text,
                    transport: transport,
                    name,
                    text: text,
                    token: token,
                    at: now,
                    deliveryPolicy: policy
                )
            }
            return call.returnsARN ? .subscribe(try self.arn(topic, id)) : .subscribePending
        }
    }

    func confirm(_ call: ConfirmSubscription) async throws(SNSError) -> Answer {
        guard self.isOwn(call.topic) else { throw .noTopic }
        if call.authenticatesUnsubscribe, !self.isSigned {
            throw .notAuthorized(self.principal.arn, action: "ConfirmSubscription", resource: "\(call.topic)")
        }
        let (topic, token, isSigned) = (call.topic.name, call.token, self.isSigned)
        let outcome = try await self.ask { registry, done in
            registry.confirm(
                topic: topic,
                token: token,
                isSigned: isSigned,
                needsSignature: call.authenticatesUnsubscribe,
                done
            )
        }
        switch outcome {
        case .confirmed(let id): return .confirmSubscription(try self.arn(topic, id))
        case .badToken: throw .invalidParameter("Token")
        case .noTopic: throw .noTopic
        }
    }

    func unsubscribe(_ call: Unsubscribe) async throws(SNSError) -> Answer {
        guard self.isOwn(call.subscription.topic), let name = call.subscription.key else { return .done(.unsubscribe) }
        let isSigned = self.isSigned
        let outcome = try await self.ask { registry, done in registry.unsubscribe(name, isSigned: isSigned, done) }
        switch outcome {
        case .removed(nil), .absent: break
        case .needsSignature:
            throw .notAuthorized(self.principal.arn, action: "Unsubscribe", resource: "\(call.subscription)")
        case .removed(let farewell?):
            let text = SubscriberMessage.unsubscribedText(call.subscription)
            // It is done; that the subscriber hears of it is a courtesy.
            try? await self.send { now in
                WebhookOrder(
                    .unsubscribeConfirmation,
                    farewell.endpoint,
                    transport: farewell.transport,
                    name,
                    text: text,
                    token: farewell.token,
                    at: now,
                    deliveryPolicy: farewell.deliveryPolicy
                )
            }
        }
        return .done(.unsubscribe)
    }

    /// Answers when RabbitMQ has it.
    private func send(_ order: @escaping @Sendable (UnixTime) -> WebhookOrder) async throws(SNSError) {
        let isConfirmed: Bool = await self.service.desk.ask { core, completion in
            let now = core.loop.wallTime
            let isTaken = core.outbox.publish(order(now).message(at: now)) { completion($0 == .confirmed) }
            if !isTaken { completion(false) }
        }
        guard isConfirmed else { throw .unavailable }
    }

    /// Nobody could tell messages from forged ones without a key.
    private func checkSigning() async throws(SNSError) {
        switch await self.service.desk.ask({ core, completion in completion(core.signing.state) }) {
        case .ready: break
        case .looking: throw .unavailable
        case .absent(let reason):
            throw .invalidParameter("Protocol", reason: "This gateway takes no http subscribers: \(reason)")
        }
    }

    private func arn(_ topic: String, _ id: ResourceID) throws(SNSError) -> SubscriptionARN {
        guard let arn = self.settings.arn(SubscriptionName(topic: topic, id: id)) else { throw .internalFailure }
        return arn
    }
}

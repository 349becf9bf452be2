internal import Loop
internal import Push
internal import Registry
internal import SNS

extension ActionRun {
    func publish(_ call: Publish) async throws(SNSError) -> Answer {
        let id: SNS.UUID
        switch call.target {
        case .topic(let topic): id = try await self.publish(call.message, to: topic, number: nil)
        case .endpoint(let endpoint): id = try await self.publish(call.message, to: endpoint)
        }
        return .publish(messageID: id)
    }

    /// As with Amazon, an entry that is wrong fails the whole call before anything is published.
    func publish(_ call: PublishBatch) async throws(SNSError) -> Answer {
        _ = try await self.requireTopic(call.topic)
        for entry in call.entries { try Self.check(entry.message) }
        var succeeded: [Answer.BatchSuccess] = []
        var failed: [Answer.BatchFailure] = []
        for (index, entry) in call.entries.enumerated() {
            do throws(SNSError) {
                let id = try await self.publish(entry.message, to: call.topic, number: index)
                succeeded.append(Answer.BatchSuccess(id: entry.id, messageID: id))
            } catch {
                failed.append(Answer.BatchFailure(id: entry.id, error: error))
            }
        }
        // All of it for the same passing reason: SDKs try a call again, but never the entries of one that succeeded.
        if succeeded.isEmpty, let first = failed.first, !first.error.isSender { throw first.error }
        return .publishBatch(succeeded, failed: failed)
    }

    private func publish(_ message: SNS.Message, to arn: EndpointARN) async throws(SNSError) -> SNS.UUID {
        guard self.isOwn(arn.application), let name = arn.key else { throw .noTarget }
        let order = PublishOrder(message: message, id: .random(), call: self.call)
        let outcome: Result<SNS.UUID, SNSError> = await self.service.desk.ask { core, completion in
            core.publishing.publish(order, to: name, completion)
        }
        do throws(SNSError) {
            return try outcome.get()
        } catch {
            if error == .endpointDisabled {
                let failure = ApplicationEvent.Kind.deliveryFailure(.endpointDisabled, attempts: 0, messageID: order.id)
                await self.service.tell(failure, name)
            }
            throw error
        }
    }

    private func publish(
        _ message: SNS.Message,
        to arn: TopicARN,
        number: Int?
    ) async throws(SNSError) -> SNS.UUID {
        guard self.isOwn(arn) else { throw .noTopic }
        let call = self.call.map { call in
            PublishCall(
                accessKey: call.accessKey,
                invocation: call.invocation,
                bodyHash: call.bodyHash + (number.map { ".\($0)" } ?? "")
            )
        }
        let order = PublishOrder(message: message, id: .random(), call: call)
        let topic = arn.name
        let outcome: Result<SNS.UUID, SNSError> = await self.service.desk.ask { core, completion in
            core.publishing.publish(order, to: topic, completion)
        }
        return try outcome.get()
    }

    /// What is wrong with a message to a topic, whoever is subscribed.
    @discardableResult
    static func check(_ message: SNS.Message) throws(SNSError) -> PublishContent {
        try MessageBody(message).checkForTopic()
        try message.checkStandardTarget()
        // Each of a topic's messages would go to the whole channel.
        guard ["AWS.SNS.MOBILE.APNS.CHANNEL_ID", "apns-channel-id"].allSatisfy({ message.attributes[$0] == nil }) else {
            throw .invalidParameter(
                "MessageAttributes",
                reason: "A channel goes with a TargetArn of its application only"
            )
        }
        return try PublishContent(message)
    }
}

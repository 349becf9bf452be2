internal import Registry
internal import SNS
internal import Store

/// One call on its way: checked and allowed, and now done.
struct ActionRun: Sendable {
    let service: GatewayService
    let principal: Principal
    /// Tells the attempts of one call apart from another call; nil if the client does not say.
    let call: PublishCall?

    var settings: GatewaySettings { self.service.settings }

    func run(_ action: Action) async throws(SNSError) -> Answer {
        switch action {
        case .createPlatformApplication(let call): try await self.createApplication(call)
        case .getPlatformApplicationAttributes(let call): try await self.applicationAttributes(call)
        case .setPlatformApplicationAttributes(let call): try await self.setApplication(call)
        case .listPlatformApplications(let call): try await self.listApplications(call)
        case .deletePlatformApplication(let call): try await self.deleteApplication(call)
        case .createPlatformEndpoint(let call): try await self.createEndpoint(call)
        case .getEndpointAttributes(let call): try await self.endpointAttributes(call)
        case .setEndpointAttributes(let call): try await self.setEndpoint(call)
        case .listEndpointsByPlatformApplication(let call): try await self.listEndpoints(call)
        case .deleteEndpoint(let call): try await self.deleteEndpoint(call)
        case .createTopic(let call): try await self.createTopic(call)
        case .getTopicAttributes(let call): try await self.topicAttributes(call)
        case .setTopicAttributes(let call): try await self.setTopic(call)
        case .listTopics(let call): try await self.listTopics(call)
        case .deleteTopic(let call): try await self.deleteTopic(call)
        case .tagResource(let call): try await self.tag(call)
        case .untagResource(let call): try await self.untag(call)
        case .listTagsForResource(let call): try await self.listTags(call)
        case .addPermission(let call): try await self.addPermission(call)
        case .removePermission(let call): try await self.removePermission(call)
        case .subscribe(let call): try await self.subscribe(call)
        case .confirmSubscription(let call): try await self.confirm(call)
        case .unsubscribe(let call): try await self.unsubscribe(call)
        case .listSubscriptions(let call): try await self.listSubscriptions(call)
        case .listSubscriptionsByTopic(let call): try await self.listSubscriptions(call)
        case .getSubscriptionAttributes(let call): try await self.subscriptionAttributes(call)
        case .setSubscriptionAttributes(let call): try await self.setSubscription(call)
        case .publish(let call): try await self.publish(call)
        case .publishBatch(let call): try await self.publish(call)
        }
    }

    // MARK: Asking the registry

    /// One operation of the registry. Without Redis the answer is one that SDKs try again.
    func ask<Outcome: Sendable>(
        _ body: @escaping @Sendable (Registry, @escaping Registry.Completion<Outcome>) -> Void
    ) async throws(SNSError) -> Outcome {
        let result: Result<Outcome, RedisFailure> = await self.service.desk.ask { core, completion in
            body(core.registry, completion)
        }
        do throws(RedisFailure) {
            return try result.get()
        } catch {
            throw self.service.report(error)
        }
    }

    // MARK: Names

    /// Whether the ARN is of this gateway's region and account; there is nothing under any other.
    func isOwn(_ arn: ApplicationARN) -> Bool {
        arn.region == self.settings.region && arn.account == self.settings.account
    }

    func isOwn(_ arn: TopicARN) -> Bool {
        arn.region == self.settings.region && arn.account == self.settings.account
    }

    func arn(_ name: ApplicationName) -> ApplicationARN? { self.settings.arn(name) }

    func arn(_ name: EndpointName) -> EndpointARN? { self.settings.arn(name) }

    func arn(topic: String) -> TopicARN { self.settings.arn(topic: topic) }
}

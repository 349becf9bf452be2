extension Action {
    package var name: ActionName {
        switch self {
        case .createPlatformApplication: .createPlatformApplication
        case .getPlatformApplicationAttributes: .getPlatformApplicationAttributes
        case .setPlatformApplicationAttributes: .setPlatformApplicationAttributes
        case .listPlatformApplications: .listPlatformApplications
        case .deletePlatformApplication: .deletePlatformApplication
        case .createPlatformEndpoint: .createPlatformEndpoint
        case .getEndpointAttributes: .getEndpointAttributes
        case .setEndpointAttributes: .setEndpointAttributes
        case .listEndpointsByPlatformApplication: .listEndpointsByPlatformApplication
        case .deleteEndpoint: .deleteEndpoint
        case .createTopic: .createTopic
        case .getTopicAttributes: .getTopicAttributes
        case .setTopicAttributes: .setTopicAttributes
        case .listTopics: .listTopics
        case .deleteTopic: .deleteTopic
        case .tagResource: .tagResource
        case .untagResource: .untagResource
        case .listTagsForResource: .listTagsForResource
        case .addPermission: .addPermission
        case .removePermission: .removePermission
        case .subscribe: .subscribe
        case .confirmSubscription: .confirmSubscription
        case .unsubscribe: .unsubscribe
        case .listSubscriptions: .listSubscriptions
        case .listSubscriptionsByTopic: .listSubscriptionsByTopic
        case .getSubscriptionAttributes: .getSubscriptionAttributes
        case .setSubscriptionAttributes: .setSubscriptionAttributes
        case .publish: .publish
        case .publishBatch: .publishBatch
        }
    }

    /// The names of the resource that a policy has to cover, the first of which errors show. Endpoints have their application's as
    /// well, subscriptions their topic's.
    func resources(region: String, account: String) -> [String] {
        switch self {
        case .createPlatformApplication(let call):
            [
                "\(ApplicationARN(region: region, account: account, platform: call.platform, name: call.applicationName))"
            ]
        case .getPlatformApplicationAttributes(let call): ["\(call.application)"]
        case .setPlatformApplicationAttributes(let call): ["\(call.application)"]
        case .deletePlatformApplication(let call): ["\(call.application)"]
        case .createPlatformEndpoint(let call): ["\(call.application)"]
        case .listEndpointsByPlatformApplication(let call): ["\(call.application)"]
        case .getEndpointAttributes(let call): call.endpoint.resources
        case .setEndpointAttributes(let call): call.endpoint.resources
        case .deleteEndpoint(let call): call.endpoint.resources
        case .createTopic(let call): ["\(TopicARN(region: region, account: account, name: call.topicName))"]
        case .getTopicAttributes(let call): ["\(call.topic)"]
        case .setTopicAttributes(let call): ["\(call.topic)"]
        case .deleteTopic(let call): ["\(call.topic)"]
        case .tagResource(let call): ["\(call.topic)"]
        case .untagResource(let call): ["\(call.topic)"]
        case .listTagsForResource(let call): ["\(call.topic)"]
        case .addPermission(let call): ["\(call.topic)"]
        case .removePermission(let call): ["\(call.topic)"]
        case .subscribe(let call): ["\(call.topic)"]
        case .confirmSubscription(let call): ["\(call.topic)"]
        case .listSubscriptionsByTopic(let call): ["\(call.topic)"]
        case .unsubscribe(let call): call.subscription.resources
        case .getSubscriptionAttributes(let call): call.subscription.resources
        case .setSubscriptionAttributes(let call): call.subscription.resources
        case .publish(let call):
            switch call.target {
            case .topic(let topic): ["\(topic)"]
            case .endpoint(let endpoint): endpoint.resources
            }
        case .publishBatch(let call): ["\(call.topic)"]
        case .listPlatformApplications, .listTopics, .listSubscriptions: ["arn:aws:sns:\(region):\(account):*"]
        }
    }
}

extension EndpointARN {
    fileprivate var resources: [String] { ["\(self)", "\(self.application)"] }
}

extension SubscriptionARN {
    fileprivate var resources: [String] { ["\(self.topic)", "\(self)"] }
}

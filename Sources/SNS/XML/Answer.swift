/// What an action answers when it has succeeded.
///
/// Source: Amazon SNS API Reference, each action's "Response Elements".
package enum Answer: Sendable {
    case createPlatformApplication(ApplicationARN)
    case getPlatformApplicationAttributes([String: String])
    case listPlatformApplications([PlatformApplicationEntry], next: String?)
    case createPlatformEndpoint(EndpointARN)
    case getEndpointAttributes([String: String])
    case listEndpointsByPlatformApplication([EndpointEntry], next: String?)
    case createTopic(TopicARN)
    case getTopicAttributes([String: String])
    case listTopics([TopicARN], next: String?)
    case listTagsForResource([Tag])
    case tagResource
    case untagResource
    case subscribe(SubscriptionARN)
    /// Subscribe, for what is to be confirmed first.
    case subscribePending
    case confirmSubscription(SubscriptionARN)
    case getSubscriptionAttributes([String: String])
    case listSubscriptions([SubscriptionEntry], next: String?)
    case listSubscriptionsByTopic([SubscriptionEntry], next: String?)
    case publish(messageID: UUID)
    case publishBatch([BatchSuccess], failed: [BatchFailure])
    /// An action without a result: deletions, settings, permissions, Unsubscribe.
    case done(ActionName)

    /// An application in a listing. Its attributes never hold credentials.
    package struct PlatformApplicationEntry: Sendable {
        package let arn: ApplicationARN
        package let attributes: [String: String]

        package init(arn: ApplicationARN, attributes: [String: String]) {
            self.arn = arn
            self.attributes = attributes
        }
    }

    package struct EndpointEntry: Sendable {
        package let arn: EndpointARN
        package let attributes: [String: String]

        package init(arn: EndpointARN, attributes: [String: String]) {
            self.arn = arn
            self.attributes = attributes
        }
    }

    package struct SubscriptionEntry: Sendable {
        /// Nil for one that is not confirmed.
        package let arn: SubscriptionARN?
        package let topic: TopicARN
        /// The account.
        package let owner: String
        /// The protocol's name, such as `application`.
        package let transport: String
        package let endpoint: String

        package init(arn: SubscriptionARN?, topic: TopicARN, owner: String, transport: String, endpoint: String) {
            self.arn = arn
            self.topic = topic
            self.owner = owner
            self.transport = transport
            self.endpoint = endpoint
        }
    }

    package struct BatchSuccess: Sendable {
        package let id: String
        package let messageID: UUID

        package init(id: String, messageID: UUID) {
            self.id = id
            self.messageID = messageID
        }
    }

    package struct BatchFailure: Sendable {
        package let id: String
        package let error: SNSError

        package init(id: String, error: SNSError) {
            self.id = id
            self.error = error
        }
    }
}

/// How a client wants its answer.
package enum AnswerFormat: Sendable {
    case xml
    /// Asked for with the parameter `ContentType=JSON`, which SDKs of long ago send.
    case json

    package var contentType: String { self == .xml ? "text/xml" : "application/json" }

    package init(_ parameters: Parameters) {
        self = parameters.pairs.contains { $0.name == "ContentType" && $0.value == "JSON" } ? .json : .xml
    }
}

extension Answer {
    /// The body of the HTTP answer, whose status is 200.
    ///
    /// - Parameter requestID: also the header `x-amzn-RequestId`.
    package func body(requestID: UUID, as format: AnswerFormat = .xml) -> [UInt8] {
        let name = self.action.rawValue
        var members: [(name: String, value: Document)] = []
        if let result = self.result { members.append((name + "Result", .structure(result))) }
        members.append(("ResponseMetadata", .structure([("RequestId", .text(requestID.description))])))
        return format.write(.structure(members), root: name + "Response")
    }

    package var action: ActionName {
        switch self {
        case .createPlatformApplication: .createPlatformApplication
        case .getPlatformApplicationAttributes: .getPlatformApplicationAttributes
        case .listPlatformApplications: .listPlatformApplications
        case .createPlatformEndpoint: .createPlatformEndpoint
        case .getEndpointAttributes: .getEndpointAttributes
        case .listEndpointsByPlatformApplication: .listEndpointsByPlatformApplication
        case .createTopic: .createTopic
        case .getTopicAttributes: .getTopicAttributes
        case .listTopics: .listTopics
        case .listTagsForResource: .listTagsForResource
        case .tagResource: .tagResource
        case .untagResource: .untagResource
        case .subscribe, .subscribePending: .subscribe
        case .confirmSubscription: .confirmSubscription
        case .getSubscriptionAttributes: .getSubscriptionAttributes
        case .listSubscriptions: .listSubscriptions
        case .listSubscriptionsByTopic: .listSubscriptionsByTopic
        case .publish: .publish
        case .publishBatch: .publishBatch
        case .done(let action): action
        }
    }

    /// The members of the result; nil for an action that has none, which is not the same as an empty one.
    private var result: [(name: String, value: Document)]? {
        switch self {
        case .createPlatformApplication(let arn): [("PlatformApplicationArn", .text(arn.description))]
        case .createPlatformEndpoint(let arn): [("EndpointArn", .text(arn.description))]
        case .createTopic(let arn): [("TopicArn", .text(arn.description))]
        case .subscribe(let arn), .confirmSubscription(let arn): [("SubscriptionArn", .text(arn.description))]
        case .subscribePending: [("SubscriptionArn", .text("pending confirmation"))]
        case .getPlatformApplicationAttributes(let attributes), .getEndpointAttributes(let attributes),
            .getTopicAttributes(let attributes), .getSubscriptionAttributes(let attributes):
            [("Attributes", .map(attributes))]
        case .listPlatformApplications(let applications, let next):
            Self.page("PlatformApplications", applications, next) {
                [("PlatformApplicationArn", .text($0.arn.description)), ("Attributes", .map($0.attributes))]
            }
        case .listEndpointsByPlatformApplication(let endpoints, let next):
            Self.page("Endpoints", endpoints, next) {
                [("EndpointArn", .text($0.arn.description)), ("Attributes", .map($0.attributes))]
            }
        case .listTopics(let topics, let next):
            Self.page("Topics", topics, next) { [("TopicArn", .text($0.description))] }
        case .listSubscriptions(let subscriptions, let next), .listSubscriptionsByTopic(let subscriptions, let next):
            Self.page("Subscriptions", subscriptions, next) { $0.members }
        case .listTagsForResource(let tags):
            Self.page("Tags", tags, nil) { [("Key", .text($0.key)), ("Value", .text($0.value))] }
        case .tagResource, .untagResource: []
        case .publish(let messageID): [("MessageId", .text(messageID.description))]
        case .publishBatch(let successes, let failed):
            Self.page("Successful", successes, nil) {
                [("Id", .text($0.id)), ("MessageId", .text($0.messageID.description))]
            } + Self.page("Failed", failed, nil) { $0.members }
        case .done: nil
        }
    }

    private static func page<Entry>(
        _ name: String,
        _ entries: [Entry],
        _ next: String?,
        _ members: (Entry) -> [(name: String, value: Document)]
    ) -> [(name: String, value: Document)] {
        var page: [(name: String, value: Document)] = [(name, .list(entries.map { .structure(members($0)) }))]
        if let next { page.append(("NextToken", .text(next))) }
        return page
    }
}

extension Answer.SubscriptionEntry {
    fileprivate var members: [(name: String, value: Document)] {
        [
            ("SubscriptionArn", .text(self.arn?.description ?? "PendingConfirmation")),
            ("Owner", .text(self.owner)),
            ("Protocol", .text(self.transport)),
            ("Endpoint", .text(self.endpoint)),
            ("TopicArn", .text(self.topic.description)),
        ]
    }
}

extension Answer.BatchFailure {
    fileprivate var members: [(name: String, value: Document)] {
        [
            ("Id", .text(self.id)),
            ("Code", .text(self.error.code)),
            ("Message", .text(self.error.message)),
            ("SenderFault", .text(self.error.isSender ? "true" : "false")),
        ]
    }
}

extension SNSError {
    /// The body of the HTTP answer.
    ///
    /// - Parameter requestID: also the header `x-amzn-RequestId`.
    package func body(requestID: UUID, as format: AnswerFormat = .xml) -> [UInt8] {
        let error: [(name: String, value: Document)] = [
            ("Type", .text(self.isSender ? "Sender" : "Receiver")),
            ("Code", .text(self.code)),
            ("Message", .text(self.message)),
        ]
        let document = Document.structure([
            ("Error", .structure(error)), ("RequestId", .text(requestID.description)),
        ])
        return format.write(document, root: "ErrorResponse")
    }
}

extension AnswerFormat {
    /// In JSON an error stands without a name around it.
    fileprivate func write(_ document: Document, root: String) -> [UInt8] {
        guard self == .json else { return document.xml(root: root) }
        var bytes: [UInt8] = []
        (root == "ErrorResponse" ? document : .structure([(root, document)])).writeJSON(to: &bytes)
        return bytes
    }
}

/// One call, decoded and checked as far as that needs no look at what is stored.
///
/// What Amazon checks only after it has found the application, endpoint or topic is left to a method of the action's struct that
/// throws, so that an error comes out in Amazon's order. Source: Amazon SNS API Reference, "Actions".
package enum Action: Sendable {
    case createPlatformApplication(CreatePlatformApplication)
    case getPlatformApplicationAttributes(GetPlatformApplicationAttributes)
    case setPlatformApplicationAttributes(SetPlatformApplicationAttributes)
    case listPlatformApplications(ListPlatformApplications)
    case deletePlatformApplication(DeletePlatformApplication)
    case createPlatformEndpoint(CreatePlatformEndpoint)
    case getEndpointAttributes(GetEndpointAttributes)
    case setEndpointAttributes(SetEndpointAttributes)
    case listEndpointsByPlatformApplication(ListEndpointsByPlatformApplication)
    case deleteEndpoint(DeleteEndpoint)
    case createTopic(CreateTopic)
    case getTopicAttributes(GetTopicAttributes)
    case setTopicAttributes(SetTopicAttributes)
    case listTopics(ListTopics)
    case deleteTopic(DeleteTopic)
    case tagResource(TagResource)
    case untagResource(UntagResource)
    case listTagsForResource(ListTagsForResource)
    case addPermission(AddPermission)
    case removePermission(RemovePermission)
    case subscribe(Subscribe)
    case confirmSubscription(ConfirmSubscription)
    case unsubscribe(Unsubscribe)
    case listSubscriptions(ListSubscriptions)
    case listSubscriptionsByTopic(ListSubscriptionsByTopic)
    case getSubscriptionAttributes(GetSubscriptionAttributes)
    case setSubscriptionAttributes(SetSubscriptionAttributes)
    case publish(Publish)
    case publishBatch(PublishBatch)

    /// Reads the call.
    ///
    /// - Parameter region: the gateway's; topics elsewhere are refused. Nil takes any.
    package init(_ parameters: Parameters, region: String? = nil) throws(SNSError) {
        let name = try Self.name(parameters)
        try Self.checkCharacters(parameters)
        func read<Call: ActionCall>(_ call: Call.Type) throws(SNSError) -> Call {
            try parameters.allow(Call.members + Self.commonMembers)
            return try Call(parameters, region: region)
        }
        switch name {
        case .createPlatformApplication:
            self = .createPlatformApplication(try read(CreatePlatformApplication.self))
        case .getPlatformApplicationAttributes:
            self = .getPlatformApplicationAttributes(try read(GetPlatformApplicationAttributes.self))
        case .setPlatformApplicationAttributes:
            self = .setPlatformApplicationAttributes(try read(SetPlatformApplicationAttributes.self))
        case .listPlatformApplications: self = .listPlatformApplications(try read(ListPlatformApplications.self))
        case .deletePlatformApplication:
            self = .deletePlatformApplication(try read(DeletePlatformApplication.self))
        case .createPlatformEndpoint: self = .createPlatformEndpoint(try read(CreatePlatformEndpoint.self))
        case .getEndpointAttributes: self = .getEndpointAttributes(try read(GetEndpointAttributes.self))
        case .setEndpointAttributes: self = .setEndpointAttributes(try read(SetEndpointAttributes.self))
        case .listEndpointsByPlatformApplication:
            self = .listEndpointsByPlatformApplication(try read(ListEndpointsByPlatformApplication.self))
        case .deleteEndpoint: self = .deleteEndpoint(try read(DeleteEndpoint.self))
        case .createTopic: self = .createTopic(try read(CreateTopic.self))
        case .getTopicAttributes: self = .getTopicAttributes(try read(GetTopicAttributes.self))
        case .setTopicAttributes: self = .setTopicAttributes(try read(SetTopicAttributes.self))
        case .listTopics: self = .listTopics(try read(ListTopics.self))
        case .deleteTopic: self = .deleteTopic(try read(DeleteTopic.self))
        case .tagResource: self = .tagResource(try read(TagResource.self))
        case .untagResource: self = .untagResource(try read(UntagResource.self))
        case .listTagsForResource: self = .listTagsForResource(try read(ListTagsForResource.self))
        case .addPermission: self = .addPermission(try read(AddPermission.self))
        case .removePermission: self = .removePermission(try read(RemovePermission.self))
        case .subscribe: self = .subscribe(try read(Subscribe.self))
        case .confirmSubscription: self = .confirmSubscription(try read(ConfirmSubscription.self))
        case .unsubscribe: self = .unsubscribe(try read(Unsubscribe.self))
        case .listSubscriptions: self = .listSubscriptions(try read(ListSubscriptions.self))
        case .listSubscriptionsByTopic: self = .listSubscriptionsByTopic(try read(ListSubscriptionsByTopic.self))
        case .getSubscriptionAttributes:
            self = .getSubscriptionAttributes(try read(GetSubscriptionAttributes.self))
        case .setSubscriptionAttributes:
            self = .setSubscriptionAttributes(try read(SetSubscriptionAttributes.self))
        case .publish: self = .publish(try read(Publish.self))
        case .publishBatch: self = .publishBatch(try read(PublishBatch.self))
        }
    }

    /// The action that a call names.
    package static func name(_ parameters: Parameters) throws(SNSError) -> ActionName {
        guard let text = try parameters.text("Action"), !text.isEmpty else { throw .missingAction }
        let version = try parameters.text("Version") ?? ActionName.version
        guard version == ActionName.version, let name = ActionName(rawValue: text) else {
            throw .invalidAction(text, version: version)
        }
        return name
    }

    /// Parameters of every call; most of them of signatures of long ago, which are ignored.
    private static let commonMembers = [
        "Action", "Version", "ContentType", "AWSAccessKeyId", "SecurityToken", "Signature", "SignatureMethod",
        "SignatureVersion", "Timestamp", "Expires",
    ]

    /// Refuses what could come back in an answer but is beyond XML. A message never comes back.
    private static func checkCharacters(_ parameters: Parameters) throws(SNSError) {
        for pair in parameters.pairs where pair.value.isBeyondXML {
            let last = pair.name.split(separator: ".").last ?? ""
            guard last == "Message" || last == "Subject" else {
                throw .invalidParameter("\(pair.name)", reason: "must not contain control characters")
            }
        }
    }
}

/// The parameters of one action.
protocol ActionCall: Sendable {
    /// The names that its parameters may have.
    static var members: [String] { get }

    init(_ parameters: Parameters, region: String?) throws(SNSError)
}

extension Parameters {
    /// A required scalar.
    func required(_ name: String) throws(SNSError) -> String {
        guard let text = try self.text(name) else {
            throw .null(name.prefix(1).lowercased() + name.dropFirst())
        }
        return text
    }

    /// The text of a required ARN.
    func arn(_ name: String) throws(SNSError) -> String {
        guard let text = try self.text(name) else { throw .noValue(name) }
        return text
    }

    /// A required map of attributes, which an SDK leaves out when it is empty.
    func attributes() throws(SNSError) -> [String: String] {
        guard let map = try self.map("Attributes"), !map.isEmpty else { throw .null("attributes") }
        return map
    }

    func application() throws(SNSError) -> ApplicationARN {
        try ApplicationARN(try self.arn("PlatformApplicationArn"))
    }

    func endpoint() throws(SNSError) -> EndpointARN { try EndpointARN(try self.arn("EndpointArn")) }

    func topic(in region: String?) throws(SNSError) -> TopicARN {
        try TopicARN(try self.arn("TopicArn"), in: region)
    }

    func subscription() throws(SNSError) -> SubscriptionARN {
        try SubscriptionARN(try self.arn("SubscriptionArn"))
    }
}

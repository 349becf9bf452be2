package struct Subscribe: ActionCall {
    package let topic: TopicARN
    package let returnsARN: Bool

    private let transport: String
    private let endpoint: String?
    private let given: [String: String]

    static let members = ["TopicArn", "Protocol", "Endpoint", "Attributes", "ReturnSubscriptionArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.transport = try parameters.required("Protocol")
        self.endpoint = try parameters.text("Endpoint")
        self.given = try parameters.map("Attributes") ?? [:]
        self.returnsARN = try parameters.text("ReturnSubscriptionArn")?.lowercased() == "true"
        self.topic = try parameters.topic(in: region)
    }

    /// Where messages are to go, once the topic has been found.
    package func destination() throws(SNSError) -> Destination {
        guard let transport = Transport(rawValue: self.transport) else {
            throw .invalidParameter("Amazon SNS does not support this protocol string: \(self.transport)")
        }
        guard let endpoint = self.endpoint, !endpoint.isEmpty else { throw .noValue("Endpoint") }
        return try Destination(transport, endpoint, topic: self.topic)
    }

    /// The attributes, once the destination has been found.
    package func attributes() throws(SNSError) -> SubscriptionAttributes {
        try SubscriptionAttributes(self.given)
    }
}

/// How messages of a topic travel to a subscriber.
package enum Transport: String, CaseIterable, Sendable {
    /// A device: an endpoint of a platform application.
    case application
    case http
    case https
    case sqs
}

/// Who subscribes.
package enum Destination: Equatable, Sendable {
    case application(EndpointARN)
    case http(WebhookURL)
    case https(WebhookURL)
    case sqs(QueueARN)

    package var transport: Transport {
        switch self {
        case .application: .application
        case .http: .http
        case .https: .https
        case .sqs: .sqs
        }
    }

    /// As it was given.
    package var endpoint: String {
        switch self {
        case .application(let arn): arn.description
        case .http(let url), .https(let url): url.text
        case .sqs(let arn): arn.description
        }
    }

    init(_ transport: Transport, _ endpoint: String, topic: TopicARN) throws(SNSError) {
        guard !topic.isFIFO || transport == .sqs else {
            throw .invalidParameter("Invalid parameter: Endpoint Reason: Please use FIFO SQS queue")
        }
        switch transport {
        case .application: self = .application(try EndpointARN(endpoint, parameter: "Endpoint"))
        case .http:
            guard endpoint.lowercased().hasPrefix("http://"), endpoint.utf8.count > 7 else { throw Self.mismatch }
            self = .http(try Self.url(endpoint))
        case .https:
            guard endpoint.lowercased().hasPrefix("https://"), endpoint.utf8.count > 8 else { throw Self.mismatch }
            self = .https(try Self.url(endpoint))
        case .sqs:
            guard let arn = QueueARN(endpoint) else { throw .invalidParameter("SQS endpoint ARN") }
            self = .sqs(arn)
        }
    }

    private static func url(_ text: String) throws(SNSError) -> WebhookURL {
        guard let url = WebhookURL(text) else { throw .invalidParameter("Endpoint", reason: "is not a valid URL") }
        return url
    }

    private static let mismatch = SNSError.invalidParameter("Endpoint must match the specified protocol")
}

package struct ConfirmSubscription: ActionCall {
    package let topic: TopicARN
    package let token: String
    /// Whether the subscription shall be ended by signed calls only.
    package let authenticatesUnsubscribe: Bool

    static let members = ["TopicArn", "Token", "AuthenticateOnUnsubscribe"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.token = try parameters.required("Token")
        self.authenticatesUnsubscribe = try parameters.text("AuthenticateOnUnsubscribe")?.lowercased() == "true"
        self.topic = try parameters.topic(in: region)
    }
}

package struct Unsubscribe: ActionCall {
    package let subscription: SubscriptionARN

    static let members = ["SubscriptionArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.subscription = try parameters.subscription()
    }
}

package struct ListSubscriptions: ActionCall {
    package let nextToken: String?

    static let members = ["NextToken"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.nextToken = try parameters.text("NextToken")
    }
}

package struct ListSubscriptionsByTopic: ActionCall {
    package let topic: TopicARN
    package let nextToken: String?

    static let members = ["TopicArn", "NextToken"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.topic = try parameters.topic(in: region)
        self.nextToken = try parameters.text("NextToken")
    }
}

package struct GetSubscriptionAttributes: ActionCall {
    package let subscription: SubscriptionARN

    static let members = ["SubscriptionArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.subscription = try parameters.subscription()
    }
}

package struct SetSubscriptionAttributes: ActionCall {
    package let subscription: SubscriptionARN

    private let attribute: String
    private let value: String

    static let members = ["SubscriptionArn", "AttributeName", "AttributeValue"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.attribute = try parameters.required("AttributeName")
        self.value = try parameters.text("AttributeValue") ?? ""
        self.subscription = try parameters.subscription()
    }

    /// What is to change, once the subscription has been found.
    ///
    /// - Parameter stored: the subscription's attributes as they are; a policy is checked against its scope, and a scope against its
    ///   policy.
    package func change(stored: [String: String]) throws(SNSError) -> SubscriptionAttributes {
        try SubscriptionAttributes(changing: self.attribute, to: self.value, of: stored)
    }
}

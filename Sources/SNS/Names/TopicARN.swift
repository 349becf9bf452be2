/// A topic: `arn:aws:sns:<region>:<account>:<name>`.
package struct TopicARN: Hashable, Sendable, CustomStringConvertible {
    package let region: String
    package let account: String
    package let name: String

    package init(region: String, account: String, name: String) {
        self.region = region
        self.account = account
        self.name = name
    }

    /// - Parameters:
    ///   - parameter: the name of the parameter that the text came in.
    ///   - region: the gateway's; a topic elsewhere is refused. Nil takes any.
    package init(_ text: String, parameter: String = "TopicArn", in region: String? = nil) throws(SNSError) {
        let arn = try ARN(text, parameter: parameter)
        guard arn.resource.count == 1, Self.isName(arn.resource[0]), region == nil || arn.region == region else {
            throw .invalidParameter(parameter)
        }
        self.init(region: arn.region, account: arn.account, name: String(arn.resource[0]))
    }

    /// `[A-Za-z0-9_-]{1,256}`, the last five of which may be `.fifo`.
    package static func isName(_ name: some StringProtocol) -> Bool {
        let count = name.utf8.count
        return (1...256).contains(count)
            && name.utf8.prefix(name.hasSuffix(".fifo") ? count - 5 : count).allSatisfy(ARN.isWord) && count > 0
            && name != ".fifo"
    }

    package var isFIFO: Bool { self.name.hasSuffix(".fifo") }

    package var description: String { "arn:aws:sns:\(self.region):\(self.account):\(self.name)" }
}

/// A subscription: the topic's ARN, a colon and an id.
package struct SubscriptionARN: Hashable, Sendable, CustomStringConvertible {
    package let topic: TopicARN
    package let id: UUID

    package init(topic: TopicARN, id: UUID) {
        self.topic = topic
        self.id = id
    }

    /// - Parameter parameter: the name of the parameter that the text came in.
    package init(_ text: String, parameter: String = "SubscriptionArn") throws(SNSError) {
        let arn = try ARN(text, parameter: parameter)
        guard arn.resource.count == 2, TopicARN.isName(arn.resource[0]), let id = UUID(arn.resource[1]) else {
            throw .invalidParameter("SubscriptionId")
        }
        self.topic = TopicARN(region: arn.region, account: arn.account, name: String(arn.resource[0]))
        self.id = id
    }

    package var description: String { "\(self.topic):\(self.id)" }
}

/// What a message may go to.
package enum PublishTarget: Hashable, Sendable {
    case topic(TopicARN)
    case endpoint(EndpointARN)

    /// A `TargetArn`, which may be either.
    package init(_ text: String, parameter: String = "TargetArn", in region: String? = nil) throws(SNSError) {
        let arn = try ARN(text, parameter: parameter)
        if arn.resource[0].utf8.contains(UInt8(ascii: "/")) {
            self = .endpoint(try EndpointARN(text, parameter: parameter))
        } else {
            self = .topic(try TopicARN(text, parameter: parameter, in: region))
        }
    }
}

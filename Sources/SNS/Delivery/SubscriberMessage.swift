package import Push

/// A message to a subscriber that is no device, in Amazon's envelope.
///
/// Source: Amazon SNS Developer Guide, "Parsing Amazon SNS message formats" and "Verifying the signatures of Amazon SNS
/// messages".
package struct SubscriberMessage: Sendable {
    package enum Kind: String, Sendable {
        case notification = "Notification"
        case subscriptionConfirmation = "SubscriptionConfirmation"
        case unsubscribeConfirmation = "UnsubscribeConfirmation"
    }

    /// A message attribute as it stands in the envelope.
    package struct Attribute: Equatable, Sendable {
        package let name: String
        package let type: String
        /// Base64 for binary ones.
        package let value: String

        package init(name: String, type: String, value: String) {
            self.name = name
            self.type = type
            self.value = value
        }
    }

    /// What vouches for the message.
    package struct Seal: Equatable, Sendable {
        /// `1` for SHA-1, `2` for SHA-256.
        package let version: String
        /// Base64.
        package let signature: String
        package let certificateURL: String

        package init(version: String, signature: String, certificateURL: String) {
            self.version = version
            self.signature = signature
            self.certificateURL = certificateURL
        }
    }

    package var kind: Kind
    package var id: String
    package var topic: TopicARN
    package var text: String
    package var time: UnixTime
    package var subject: String?
    package var attributes: [Attribute] = []
    /// Of confirmations.
    package var token: String?
    /// Of confirmations: what to visit to become a subscriber.
    package var subscribeURL: String?

    package init(_ kind: Kind, id: String, topic: TopicARN, text: String, time: UnixTime) {
        self.kind = kind
        self.id = id
        self.topic = topic
        self.text = text
        self.time = time
    }

    /// The bytes that a signature is made of: names and values, a line each, in the order of names.
    package var signedText: [UInt8] {
        var pairs: [(String, String?)] = [("Message", self.text), ("MessageId", self.id)]
        switch self.kind {
        case .notification: pairs.append(("Subject", self.subject))
        case .subscriptionConfirmation, .unsubscribeConfirmation: pairs.append(("SubscribeURL", self.subscribeURL))
        }
        pairs.append(("Timestamp", self.time.iso8601))
        if self.kind != .notification { pairs.append(("Token", self.token)) }
        pairs += [("TopicArn", "\(self.topic)"), ("Type", self.kind.rawValue)]
        var bytes: [UInt8] = []
        for case (let name, let value?) in pairs { bytes += "\(name)\n\(value)\n".utf8 }
        return bytes
    }

    /// The envelope as JSON.
    ///
    /// - Parameter unsubscribeURL: of notifications.
    package func body(_ seal: Seal?, unsubscribeURL: String? = nil) -> [UInt8] {
        var members: [(name: String, value: JSONMember)] = [
            ("Type", .text(self.kind.rawValue)), ("MessageId", .text(self.id)),
        ]
        if let token { members.append(("Token", .text(token))) }
        members.append(("TopicArn", .text("\(self.topic)")))
        if let subject { members.append(("Subject", .text(subject))) }
        members.append(("Message", .text(self.text)))
        if let subscribeURL { members.append(("SubscribeURL", .text(subscribeURL))) }
        members.append(("Timestamp", .text(self.time.iso8601)))
        if let seal {
            members += [
                ("SignatureVersion", .text(seal.version)), ("Signature", .text(seal.signature)),
                ("SigningCertURL", .text(seal.certificateURL)),
            ]
        }
        if let unsubscribeURL { members.append(("UnsubscribeURL", .text(unsubscribeURL))) }
        if !self.attributes.isEmpty {
            let attributes = self.attributes.map { attribute in
                let value = JSONMember.object([("Type", .text(attribute.type)), ("Value", .text(attribute.value))])
                return (name: attribute.name, value: value)
            }
            members.append(("MessageAttributes", .object(attributes)))
        }
        return Array(JSONMember.object(members).text.utf8)
    }

    /// What a confirmation says. Amazon's words.
    package static func confirmationText(_ topic: TopicARN) -> String {
        "You have chosen to subscribe to the topic \(topic).\n"
            + "To confirm the subscription, visit the SubscribeURL included in this message."
    }

    /// What is said to somebody who was unsubscribed. Amazon's words.
    package static func unsubscribedText(_ subscription: SubscriptionARN) -> String {
        "You have chosen to deactivate subscription \(subscription).\n"
            + "To cancel this operation and restore the subscription, visit the SubscribeURL included in this message."
    }
}

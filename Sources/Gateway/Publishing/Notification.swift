internal import Broker
internal import Foundation
internal import Push
internal import Registry
internal import SNS

/// A message to a subscriber that is no device, in Amazon's envelope. Source: Amazon SNS Developer Guide, "HTTP/HTTPS
/// notification JSON format". There is no signature: RabbitMQ knows who may publish.
struct Notification {
    private let envelope: Envelope

    private struct Envelope: Encodable {
        struct Attribute: Encodable {
            let type: String
            let value: String

            enum CodingKeys: String, CodingKey {
                case type = "Type"
                case value = "Value"
            }
        }

        let type = "Notification"
        let messageID: String
        let topicARN: String
        let subject: String?
        let message: String
        let timestamp: String
        let attributes: [String: Attribute]?

        enum CodingKeys: String, CodingKey {
            case type = "Type"
            case messageID = "MessageId"
            case topicARN = "TopicArn"
            case subject = "Subject"
            case message = "Message"
            case timestamp = "Timestamp"
            case attributes = "MessageAttributes"
        }
    }

    init(_ order: FanOutOrder, _ text: String, settings: GatewaySettings) {
        var attributes: [String: Envelope.Attribute] = [:]
        for attribute in order.attributes {
            attributes[attribute.name] = Envelope.Attribute(
                type: attribute.type,
                value: attribute.text ?? attribute.binary?.base64EncodedString() ?? ""
            )
        }
        self.envelope = Envelope(
            messageID: order.messageID,
            topicARN: settings.arn(topic: order.topic).description,
            subject: order.subject,
            message: text,
            timestamp: UnixTime(milliseconds: order.publishedAt).iso8601,
            attributes: attributes.isEmpty ? nil : attributes
        )
    }

    /// The envelope as JSON.
    var body: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self.envelope) else { preconditionFailure("text is always JSON") }
        return Array(data)
    }

    /// For a subscriber of protocol `sqs`: the queue of RabbitMQ whose name is the last part of the ARN. A queue that is
    /// not there loses the message, as Amazon's is lost without a dead-letter queue.
    func message(toQueueOf arn: String, subscription: ResourceID) -> Broker.Message {
        var properties = MessageProperties()
        properties.messageID = Array("\(self.envelope.messageID).\(subscription)".utf8)
        let name = arn.split(separator: ":").last.map(String.init) ?? ""
        return Broker.Message(
            exchange: "",
            routingKey: String(name.prefix(255)),
            properties: properties,
            body: self.body,
            isMandatory: false
        )
    }

    /// For whoever listens to events, by the topic's name.
    func event(topic: String) -> Broker.Message {
        var properties = MessageProperties()
        properties.messageID = Array(self.envelope.messageID.utf8)
        return Broker.Message(
            exchange: GatewayTopology.events,
            routingKey: String(topic.prefix(255)),
            properties: properties,
            body: self.body
        )
    }
}

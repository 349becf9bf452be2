internal import Foundation
internal import SNS

/// A publish to a topic that waits to be fanned out, or is under way: the body of a message in RabbitMQ.
struct FanOutOrder: Codable, Sendable, Equatable {
    struct Attribute: Codable, Sendable, Equatable {
        var name: String
        var type: String
        var text: String?
        var binary: Data?
    }

    var version = 1
    /// The topic's name.
    var topic: String
    var messageID: String
    /// Milliseconds since 1970.
    var publishedAt: Int64
    var message: String
    var subject: String?
    /// `json`, or nil.
    var structure: String?
    var attributes: [Attribute]

    enum CodingKeys: String, CodingKey {
        case version, topic, message, subject, structure, attributes
        case messageID = "message_id"
        case publishedAt = "published_at"
    }

    init(topic: String, messageID: UUIDText, publishedAt: Int64, message: SNS.Message) {
        self.topic = topic
        self.messageID = messageID.text
        self.publishedAt = publishedAt
        self.message = message.text
        self.subject = message.subject
        self.structure = message.structure
        self.attributes = message.attributes.all.map { name, value in
            switch value.content {
            case .text(let text): Attribute(name: name, type: value.dataType, text: text)
            case .binary(let bytes): Attribute(name: name, type: value.dataType, binary: Data(bytes))
            }
        }
    }

    init?(body: [UInt8]) {
        guard let order = try? JSONDecoder().decode(Self.self, from: Data(body)), order.version == 1 else { return nil }
        self = order
    }

    var body: [UInt8] {
        guard let data = try? JSONEncoder().encode(self) else { preconditionFailure("text is always JSON") }
        return Array(data)
    }

    /// The message as it was published.
    var content: SNS.Message {
        var attributes = MessageAttributes()
        for attribute in self.attributes {
            let content: MessageAttributes.Content =
                attribute.text.map { .text($0) } ?? .binary(Array(attribute.binary ?? Data()))
            attributes.append(attribute.name, MessageAttributes.Value(dataType: attribute.type, content: content))
        }
        return SNS.Message(
            text: self.message,
            subject: self.subject,
            structure: self.structure,
            attributes: attributes
        )
    }
}

/// A message id; Foundation and SNS both have a type for it.
struct UUIDText: Hashable, Sendable {
    let text: String
}

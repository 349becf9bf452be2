package import Push

/// A message to publish. Always persistent.
package struct Message: Sendable {
    package var exchange: String
    package var routingKey: String
    package var properties: MessageProperties
    package var body: [UInt8]
    /// A message that no queue takes comes back instead of vanishing.
    package var isMandatory: Bool

    package init(
        exchange: String,
        routingKey: String,
        properties: MessageProperties = MessageProperties(),
        body: [UInt8],
        isMandatory: Bool = true
    ) {
        self.exchange = exchange
        self.routingKey = routingKey
        self.properties = properties
        self.body = body
        self.isMandatory = isMandatory
    }

    /// Why AMQP cannot carry it: a name longer than 255 bytes, or headers that do not fit one frame. Check what comes
    /// from outside; publishing such a message is a bug.
    package var problem: String? {
        let names = [
            ("exchange", self.exchange.utf8.count), ("routing key", self.routingKey.utf8.count),
            ("content_type", self.properties.contentType.utf8.count),
            ("message_id", self.properties.messageID.count), ("app_id", self.properties.appID.utf8.count),
        ]
        if let long = names.first(where: { $0.1 > 255 }) { return "\(long.0) is longer than 255 bytes" }
        if self.properties.headers.contains(where: { $0.name.utf8.count > 255 }) {
            return "a header's name is longer than 255 bytes"
        }
        if self.properties.size > 100 * 1024 { return "the headers are larger than 100 KiB" }
        return nil
    }
}

/// The AMQP properties that we write.
package struct MessageProperties: Sendable {
    package var contentType: String
    /// At most 255 bytes; empty for none.
    package var messageID: [UInt8]
    /// AMQP keeps whole seconds.
    package var timestamp: UnixTime?
    /// The broker drops or dead-letters the message when it has waited this long, in whole milliseconds.
    package var expiration: Duration?
    package var appID: String
    package var headers: [Header]

    package init(
        contentType: String = "application/json",
        messageID: [UInt8] = [],
        timestamp: UnixTime? = nil,
        expiration: Duration? = nil,
        appID: String = "",
        headers: [Header] = []
    ) {
        self.contentType = contentType
        self.messageID = messageID
        self.timestamp = timestamp
        self.expiration = expiration
        self.appID = appID
        self.headers = headers
    }

    /// At least as many bytes as they take on the wire.
    var size: Int {
        self.headers.reduce(128 + self.contentType.utf8.count + self.messageID.count + self.appID.utf8.count) {
            $0 + $1.size
        }
    }
}

extension Header {
    /// At least as many bytes as it takes on the wire.
    var size: Int { 1 + self.name.utf8.count + self.value.size }
}

extension HeaderValue {
    fileprivate var size: Int {
        switch self {
        case .string(let string): 5 + string.utf8.count
        case .array(let values): values.reduce(5) { $0 + $1.size }
        case .table(let entries): entries.reduce(5) { $0 + $1.size }
        default: 9
        }
    }
}

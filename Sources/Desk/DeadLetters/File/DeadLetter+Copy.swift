internal import Broker
internal import Push

extension DeadLetter {
    /// The letter as a message for the dead-letter exchange: once it lies in the queue it has the same id.
    func copy() -> Message {
        var headers: [Header] = [
            Header(DeliveryHeaders.reasonName, .string(self.reason)),
            Header(DeliveryHeaders.attemptName, .integer(Int64(self.attempts))),
            Header(DeliveryHeaders.copyName, .integer(Int64(self.copies))),
        ]
        let texts = [
            (DeadLetterHeader.apnsReason, self.apnsReason), (DeadLetterHeader.field, self.field),
            (DeadLetterHeader.detail, self.detail), (DeadLetterHeader.worker, self.worker),
            (DeadLetterHeader.version, self.version),
        ]
        for case (let name, let text?) in texts { headers.append(Header(name, .string(text))) }
        let times = [(DeadLetterHeader.diedAt, self.diedAt), (DeliveryHeaders.firstSeenName, self.firstSeen)]
        for case (let name, let time?) in times { headers.append(Header(name, .integer(time.milliseconds))) }
        if self.isUnfinished { headers.append(Header(DeliveryHeaders.unfinishedName, .bool(true))) }
        let properties = MessageProperties(
            contentType: self.contentType,
            messageID: self.messageID,
            timestamp: self.published,
            headers: headers + self.foreign
        )
        return Message(
            exchange: FleetTopology.dead,
            routingKey: self.routingKey,
            properties: properties,
            body: self.body
        )
    }

    /// As it would be read from the queue after an import.
    init(copyOf message: Message, foreign: [Header]) {
        self.init(
            routingKey: message.routingKey,
            messageID: message.properties.messageID,
            contentType: message.properties.contentType,
            published: message.properties.timestamp,
            foreign: foreign,
            headers: message.properties.headers,
            body: message.body
        )
    }
}

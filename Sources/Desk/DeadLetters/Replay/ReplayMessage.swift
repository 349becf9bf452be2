internal import Broker
internal import Push

/// A dead letter on its way back to its app.
///
/// It begins a new life: published now, no attempt made. It keeps message id and the publisher's headers, so that
/// `apns-id` and the trail go on. `x-pushfleet-replay` names the letter, and each publish has a mark of its own: of
/// several replays of one letter workers take the first that they see, so one that was cut off may be run again.
enum ReplayMessage {
    /// - Parameters:
    ///   - routingKey: nil as it was.
    ///   - body: nil as it was.
    ///   - mark: tells this publish from all others.
    static func make(
        _ letter: DeadLetter,
        routingKey: String? = nil,
        body: [UInt8]? = nil,
        mark: String,
        now: UnixTime
    ) -> Message {
        var properties = MessageProperties(
            contentType: letter.contentType,
            messageID: letter.messageID,
            timestamp: now,
            headers: letter.foreign
        )
        properties.headers.append(Header(DeliveryHeaders.replayName, .string("\(letter.id)")))
        properties.headers.append(Header(DeliveryHeaders.onceName, .string(mark)))
        // What is remembered of done tokens goes by message, copy and tokens. A letter that RabbitMQ gave up is the very
        // copy that workers were at, and what they did shall count; one that a worker wrote is done with by its writing,
        // and must not be taken for that.
        let isSameCopy = letter.isUnfinished && body == nil
        let copy = letter.copies + (isSameCopy ? 0 : 1)
        properties.headers.append(Header(DeliveryHeaders.copyName, .integer(Int64(copy))))
        if isSameCopy { properties.headers.append(Header(DeliveryHeaders.unfinishedName, .bool(true))) }
        return Message(
            exchange: FleetTopology.exchange,
            routingKey: routingKey ?? letter.routingKey,
            properties: properties,
            body: body ?? letter.body
        )
    }
}

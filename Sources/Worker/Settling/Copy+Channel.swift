internal import Broker
internal import Push

extension CopyWriter {
    /// For whoever keeps the channels, beside the dead letter: Apple does not know this one. Neither copy alone makes the
    /// broadcast done, so that a redelivery repeats both rather than lose one.
    func channelCopies(_ flight: Flight, _ reason: ApnsReason?, letter: Message) -> [Copy] {
        guard let app = flight.line.app, let sender = flight.line.sender else {
            preconditionFailure("a push without an app")
        }
        let channel = JSONText.quoted(Array(flight.job.token(0).utf8))
        let text =
            #"{"channel":\#(channel),"app":"\#(app.id)","environment":"\#(sender.credential.environment.rawValue)""#
            + #","reason":"\#(reason?.text ?? "")","message_id":\#(JSONText.quoted(flight.messageID))}"#
        var properties = MessageProperties()
        properties.messageID = flight.messageID
        let feedback = Message(
            exchange: FleetTopology.feedback,
            routingKey: "\(app.id).channel_gone",
            properties: properties,
            body: Array(text.utf8)
        )
        return [Copy(message: feedback, tokens: []), Copy(message: letter, tokens: [])]
    }
}

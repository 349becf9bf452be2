extension EnvelopeReader {
    mutating func readChannel(_ value: JSONValue) {
        guard let text = self.readText(value, .channel) else { return }
        let count = Int(text.slice.count)
        guard Contract.channelBytes.contains(count) else {
            return self.refuse(
                .field(
                    .channel,
                    "\"channel\" must have 1 to \(Contract.channelBytes.upperBound) characters; it has \(count)."
                )
            )
        }
        guard self.check(text, ChannelID.isValid) else {
            return self.refuse(
                .field(
                    .channel,
                    "\"channel\" is \(Quoted.text(self.scanner.bytes(value.content))), which is not base64; take the id "
                        + "that came with the channel's creation, as it is."
                )
            )
        }
        self.parts.channel = text
    }

    /// The rules of a message to a channel. Apple, "Sending broadcast push notification requests to APNs".
    mutating func checkBroadcast() throws(Refusal) {
        let seen = self.seen
        guard seen & EnvelopeField.tokens.bit == 0 else {
            throw .field(
                .channel,
                "\"channel\" and \"tokens\" exclude each other: a message goes to devices or to a channel; publish two."
            )
        }
        if seen & EnvelopeField.pushType.bit == 0 { self.parts.pushType = .liveactivity }
        guard self.parts.pushType == .liveactivity else {
            throw .field(
                .pushType,
                "\"push_type\" is \"\(self.parts.pushType.rawValue)\"; with \"channel\" it must be \"liveactivity\", or left out."
            )
        }
        guard self.parts.priority != .powerFirst else {
            throw .field(.priority, "\"priority\" is 1; with \"channel\" it must be 5 or 10.")
        }
        for field in [EnvelopeField.topic, .collapseID] where seen & field.bit != 0 {
            throw .field(
                field,
                "\"\(field.rawValue)\" is of no use with \"channel\": Apple knows it for devices only; leave it out."
            )
        }
        guard seen & EnvelopeField.expiresAt.bit != 0 else {
            throw Refusal(
                .missingField,
                field: EnvelopeField.expiresAt.rawValue,
                "\"expires_at\" is missing; with \"channel\" Apple requires it. 0 stores nothing, and is the only value "
                    + "for a channel without storage."
            )
        }
    }
}

internal import CRabbitMQ
internal import Push

/// What comes in: frames of the connection itself become events, those of channels go to them.
extension Connection {
    /// What the broker says, and to whom.
    func handle(_ frame: borrowing amqp_frame_t) throws(BrokerError) {
        switch Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD:
            let method = frame.payload.method
            guard frame.channel == 0 else { return try self.handle(method, on: frame.channel) }
            self.handle(method)
        case AMQP_FRAME_HEADER:
            let payload = frame.payload.properties
            guard payload.class_id == UInt16(AMQP_BASIC_CLASS), let decoded = payload.decoded else {
                throw .violation("content of an unknown class")
            }
            let properties = decoded.assumingMemoryBound(to: amqp_basic_properties_t.self)
            try self.channels.channel(frame.channel).header(properties.pointee, bodySize: payload.body_size)
        case AMQP_FRAME_BODY:
            try self.channels.channel(frame.channel).body(frame.payload.body_fragment.buffer)
        case AMQP_FRAME_HEARTBEAT:
            break
        default:
            throw .violation("AMQP versions do not match")
        }
    }

    private func handle(_ method: amqp_method_t) {
        switch method.id {
        case AMQP_CONNECTION_START_METHOD:
            let start = method.as(amqp_connection_start_t.self)
            self.product = Self.product(start.server_properties)
            self.act(on: .start(mechanisms: start.mechanisms.string))
        case AMQP_CONNECTION_TUNE_METHOD:
            let tune = method.as(amqp_connection_tune_t.self)
            self.act(on: .tune(channelMax: tune.channel_max, frameMax: tune.frame_max))
        case AMQP_CONNECTION_OPEN_OK_METHOD:
            self.act(on: .openOK)
        case AMQP_CONNECTION_BLOCKED_METHOD:
            self.act(on: .blocked(method.as(amqp_connection_blocked_t.self).reason.string))
        case AMQP_CONNECTION_UNBLOCKED_METHOD:
            self.act(on: .unblocked)
        case AMQP_CONNECTION_CLOSE_METHOD:
            let close = method.as(amqp_connection_close_t.self)
            self.act(on: .close(code: close.reply_code, text: close.reply_text.string))
        case AMQP_CONNECTION_CLOSE_OK_METHOD:
            self.act(on: .closeOK)
        default:
            self.act(on: .failed(.violation("method \(method.name) on the connection")))
        }
    }

    private func handle(_ method: amqp_method_t, on number: UInt16) throws(BrokerError) {
        // On a channel whose number is free again, a late answer to our close means nothing.
        if method.id == AMQP_CHANNEL_CLOSE_OK_METHOD { return self.channels.confirmClose(number) }
        let channel = try self.channels.channel(number)
        switch method.id {
        case AMQP_BASIC_DELIVER_METHOD:
            let deliver = method.as(amqp_basic_deliver_t.self)
            try channel.begin(
                .delivery,
                tag: deliver.delivery_tag,
                redelivered: deliver.redelivered != 0,
                exchange: deliver.exchange,
                routingKey: deliver.routing_key
            )
        case AMQP_BASIC_ACK_METHOD:
            let ack = method.as(amqp_basic_ack_t.self)
            channel.confirmed(ack.delivery_tag, multiple: ack.multiple != 0, isNack: false)
        case AMQP_BASIC_NACK_METHOD:
            let nack = method.as(amqp_basic_nack_t.self)
            channel.confirmed(nack.delivery_tag, multiple: nack.multiple != 0, isNack: true)
        case AMQP_BASIC_RETURN_METHOD:
            let back = method.as(amqp_basic_return_t.self)
            try channel.begin(
                .returned(code: back.reply_code, text: back.reply_text.string, sequence: nil),
                tag: 0,
                redelivered: false,
                exchange: back.exchange,
                routingKey: back.routing_key
            )
        case AMQP_BASIC_GET_OK_METHOD:
            let got = method.as(amqp_basic_get_ok_t.self)
            try channel.begin(
                .got,
                tag: got.delivery_tag,
                redelivered: got.redelivered != 0,
                exchange: got.exchange,
                routingKey: got.routing_key
            )
        case AMQP_CHANNEL_OPEN_OK_METHOD:
            channel.didOpen()
        case AMQP_CHANNEL_CLOSE_METHOD:
            let close = method.as(amqp_channel_close_t.self)
            let error = BrokerError.channelClosed(code: close.reply_code, text: close.reply_text.string)
            channel.send(AMQP_CHANNEL_CLOSE_OK_METHOD, amqp_channel_close_ok_t())
            self.channels.free(number)
            channel.didClose(error)
        case AMQP_CHANNEL_FLOW_METHOD:
            // Never sent by RabbitMQ to clients; the answer is all that AMQP asks for.
            let flow = method.as(amqp_channel_flow_t.self)
            channel.send(AMQP_CHANNEL_FLOW_OK_METHOD, amqp_channel_flow_ok_t(active: flow.active))
        default:
            guard let simple = method.channelMethod else {
                throw .violation("method \(method.name) on a channel")
            }
            channel.receive(simple)
        }
    }

    private static func product(_ properties: amqp_table_t) -> String {
        var names = ["", ""]
        for index in 0..<max(0, Int(properties.num_entries)) {
            let entry = properties.entries[index]
            guard let text = entry.value.text else { continue }
            if entry.key.equals("product") { names[0] = text.string }
            if entry.key.equals("version") { names[1] = text.string }
        }
        return names.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

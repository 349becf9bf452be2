internal import CRabbitMQ
internal import Push

/// What we say on a channel. Strings go through the arena, which the encoder recycles after each method.
extension Channel {
    private var arena: CodecArena { self.connection.encoder.arena }

    private static func room(for arguments: [Header]) -> Int {
        2048 + arguments.reduce(0) { $0 + $1.size }
    }

    // MARK: Topology

    func declareExchange(_ name: String, type: String, passive: Bool, arguments: [Header]) {
        let method = amqp_exchange_declare_t(
            ticket: 0,
            exchange: self.arena.short(name),
            type: self.arena.short(type),
            passive: passive ? 1 : 0,
            durable: 1,
            auto_delete: 0,
            internal: 0,
            nowait: 0,
            arguments: self.arena.table(arguments)
        )
        self.send(AMQP_EXCHANGE_DECLARE_METHOD, method, room: Self.room(for: arguments))
    }

    func declareQueue(_ name: String, passive: Bool, arguments: [Header] = []) {
        let method = amqp_queue_declare_t(
            ticket: 0,
            queue: self.arena.short(name),
            passive: passive ? 1 : 0,
            durable: 1,
            exclusive: 0,
            auto_delete: 0,
            nowait: 0,
            arguments: self.arena.table(arguments)
        )
        self.send(AMQP_QUEUE_DECLARE_METHOD, method, room: Self.room(for: arguments))
    }

    func bind(queue: String, exchange: String, routingKey: String) {
        let method = amqp_queue_bind_t(
            ticket: 0,
            queue: self.arena.short(queue),
            exchange: self.arena.short(exchange),
            routing_key: self.arena.short(routingKey),
            nowait: 0,
            arguments: amqp_table_t()
        )
        self.send(AMQP_QUEUE_BIND_METHOD, method)
    }

    func unbind(queue: String, exchange: String, routingKey: String) {
        let method = amqp_queue_unbind_t(
            ticket: 0,
            queue: self.arena.short(queue),
            exchange: self.arena.short(exchange),
            routing_key: self.arena.short(routingKey),
            arguments: amqp_table_t()
        )
        self.send(AMQP_QUEUE_UNBIND_METHOD, method)
    }

    func purge(queue: String) {
        self.send(
            AMQP_QUEUE_PURGE_METHOD,
            amqp_queue_purge_t(ticket: 0, queue: self.arena.short(queue), nowait: 0)
        )
    }

    func delete(queue: String) {
        let method = amqp_queue_delete_t(
            ticket: 0,
            queue: self.arena.short(queue),
            if_unused: 0,
            if_empty: 0,
            nowait: 0
        )
        self.send(AMQP_QUEUE_DELETE_METHOD, method)
    }

    // MARK: Consuming

    /// Holds for consumers that begin afterwards, each on its own (quorum queues know no other kind).
    func setPrefetch(_ count: Int) {
        let count = UInt16(clamping: count)
        self.send(AMQP_BASIC_QOS_METHOD, amqp_basic_qos_t(prefetch_size: 0, prefetch_count: count, global: 0))
    }

    func consume(queue: String, tag: String) {
        let method = amqp_basic_consume_t(
            ticket: 0,
            queue: self.arena.short(queue),
            consumer_tag: self.arena.short(tag),
            no_local: 0,
            no_ack: 0,
            exclusive: 0,
            nowait: 0,
            arguments: amqp_table_t()
        )
        self.send(AMQP_BASIC_CONSUME_METHOD, method)
    }

    func cancelConsumer(tag: String) {
        let tag = self.arena.short(tag)
        self.send(AMQP_BASIC_CANCEL_METHOD, amqp_basic_cancel_t(consumer_tag: tag, nowait: 0))
    }

    func get(queue: String) {
        let queue = self.arena.short(queue)
        self.send(AMQP_BASIC_GET_METHOD, amqp_basic_get_t(ticket: 0, queue: queue, no_ack: 0))
    }

    func settle(_ settlement: DeliveryLedger.Settlement) {
        switch settlement {
        case .ack(let tag, let multiple):
            let method = amqp_basic_ack_t(delivery_tag: tag, multiple: multiple ? 1 : 0)
            self.send(AMQP_BASIC_ACK_METHOD, method, room: 16)
        case .reject(let tag, let requeue):
            let method = amqp_basic_reject_t(delivery_tag: tag, requeue: requeue ? 1 : 0)
            self.send(AMQP_BASIC_REJECT_METHOD, method, room: 16)
        }
    }

    // MARK: Publishing

    func selectConfirms() {
        self.send(AMQP_CONFIRM_SELECT_METHOD, amqp_confirm_select_t(nowait: 0))
    }

    /// - Parameter sequence: travels as `correlation_id`, as a returned message says nothing else about which it is.
    func publish(_ message: borrowing Message, sequence: UInt64) {
        let encoder = self.connection.encoder
        let method = amqp_basic_publish_t(
            ticket: 0,
            exchange: encoder.arena.short(message.exchange),
            routing_key: encoder.arena.short(message.routingKey),
            mandatory: message.isMandatory ? 1 : 0,
            immediate: 0
        )
        encoder.method(AMQP_BASIC_PUBLISH_METHOD, channel: self.number, method, room: 768)
        let properties = self.encoded(message.properties, sequence: message.isMandatory ? sequence : nil)
        message.body.withUnsafeBytes { body in
            encoder.content(channel: self.number, properties, room: message.properties.size, body: body)
        }
        self.connection.didEncode()
    }

    private func encoded(_ properties: borrowing MessageProperties, sequence: UInt64?) -> amqp_basic_properties_t {
        var encoded = amqp_basic_properties_t()
        var flags = AMQP_BASIC_DELIVERY_MODE_FLAG
        // 2: survives a restart of the broker.
        encoded.delivery_mode = 2
        if !properties.contentType.isEmpty {
            flags |= AMQP_BASIC_CONTENT_TYPE_FLAG
            encoded.content_type = self.arena.short(properties.contentType)
        }
        if !properties.headers.isEmpty {
            flags |= AMQP_BASIC_HEADERS_FLAG
            encoded.headers = self.arena.table(properties.headers)
        }
        if let sequence {
            flags |= AMQP_BASIC_CORRELATION_ID_FLAG
            encoded.correlation_id = self.arena.decimal(sequence)
        }
        if let expiration = properties.expiration {
            flags |= AMQP_BASIC_EXPIRATION_FLAG
            encoded.expiration = self.arena.decimal(UInt64(clamping: expiration.milliseconds))
        }
        if !properties.messageID.isEmpty {
            flags |= AMQP_BASIC_MESSAGE_ID_FLAG
            precondition(properties.messageID.count <= 255, "a message_id is longer than 255 bytes")
            encoded.message_id = self.arena.bytes(properties.messageID)
        }
        if let timestamp = properties.timestamp {
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
            encoded.timestamp = UInt64(clamping: timestamp.seconds)
        }
        if !properties.appID.isEmpty {
            flags |= AMQP_BASIC_APP_ID_FLAG
            encoded.app_id = self.arena.short(properties.appID)
        }
        encoded._flags = amqp_flags_t(flags)
        return encoded
    }
}

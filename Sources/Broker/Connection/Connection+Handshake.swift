internal import CRabbitMQ
internal import Push

/// What we say until the connection is open.
extension Connection {
    /// Says who we are and what we can.
    func sendStartOK() {
        let capabilities: [Header] = [
            "authentication_failure_close", "basic.nack", "connection.blocked", "consumer_cancel_notify",
            "publisher_confirms",
        ].map { Header($0, .bool(true)) }
        let properties = [
            Header("product", .string("PushFleet")),
            Header("platform", .string("Swift")),
            Header("connection_name", .string(self.settings.connectionName)),
            Header("capabilities", .table(capabilities)),
        ]
        // RFC 4616: an empty authorization identity, the user, the password.
        let address = self.settings.address
        let login = [0] + Array(address.user.utf8) + [0] + Array(address.password.utf8)
        let arena = self.encoder.arena
        let method = amqp_connection_start_ok_t(
            client_properties: arena.table(properties),
            mechanism: arena.short("PLAIN"),
            response: arena.bytes(login),
            locale: arena.short("en_US")
        )
        let room = 2048 + login.count + self.settings.connectionName.utf8.count
        self.encoder.method(AMQP_CONNECTION_START_OK_METHOD, channel: 0, method, room: room)
        self.didEncode()
    }

    /// Agrees on limits, and asks for the virtual host.
    func tune(_ limits: ConnectionMachine.Limits) {
        self.channels.limit = limits.channelMax
        self.encoder.frameMax = limits.frameMax
        self.decoder.limit(frameMax: limits.frameMax)
        let tuneOK = amqp_connection_tune_ok_t(
            channel_max: limits.channelMax,
            frame_max: UInt32(limits.frameMax),
            heartbeat: UInt16(clamping: self.heartbeat.interval.components.seconds)
        )
        self.encoder.method(AMQP_CONNECTION_TUNE_OK_METHOD, channel: 0, tuneOK)
        let open = amqp_connection_open_t(
            virtual_host: self.encoder.arena.short(self.settings.address.virtualHost),
            capabilities: amqp_bytes_t(),
            insist: 1
        )
        self.encoder.method(AMQP_CONNECTION_OPEN_METHOD, channel: 0, open)
        self.didEncode()
    }
}

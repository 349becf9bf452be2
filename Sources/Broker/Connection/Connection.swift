internal import CRabbitMQ
internal import Loop
internal import Push
internal import Wire

/// One AMQP connection: it connects, lives, closes, is thrown away. Reconnecting is ``BrokerClient``'s business.
///
/// The decisions are ``ConnectionMachine``'s and ``HeartbeatMonitor``'s; this is their shell over a transport.
final class Connection {
    private let loop: EventLoop
    private let settings: BrokerSettings
    private let decoder = FrameDecoder()
    let encoder = FrameEncoder()
    private var delegate: (any ConnectionDelegate)?
    private var machine = ConnectionMachine()
    private var transport: Transport?
    private var channelMax: UInt16 = 0
    private var channels: [Channel?] = [nil]
    private var flushing: [Channel] = []
    private var heartbeat: HeartbeatMonitor
    private var alarm: Deadline?

    /// What the broker calls itself, such as `RabbitMQ 3.10.8`; empty before it is known.
    private(set) var product = ""
    /// Why the broker takes no publishes, if it does not.
    private(set) var blockedReason: String?

    /// Begins to connect; the delegate hears of success or failure later.
    init(_ settings: BrokerSettings, tls: TLSContext?, on loop: EventLoop, delegate: any ConnectionDelegate) {
        self.loop = loop
        self.settings = settings
        self.delegate = delegate
        self.heartbeat = HeartbeatMonitor(interval: settings.address.heartbeat, now: loop.now)
        self.transport = Transport(
            connectingTo: settings.address.endpoint,
            tls: tls,
            settings: settings.transport,
            on: loop,
            delegate: self
        )
    }

    /// Whether channels can be opened and used.
    var isOpen: Bool { self.machine.isOpen }

    /// Bytes that were encoded but not yet taken by the kernel.
    var unsentBytes: Int { self.encoder.count + (self.transport?.unsentBytes ?? 0) }

    // MARK: Channels

    /// Opens a channel; nil when the connection is not open or has no number left.
    func openChannel(_ handler: any ChannelHandler, readsAllHeaders: Bool = false) -> Channel? {
        guard self.machine.isOpen else { return nil }
        let free = self.channels.dropFirst().firstIndex { $0 == nil } ?? self.channels.count
        guard free <= Int(self.channelMax) else { return nil }
        let number = UInt16(free)
        let channel = Channel(number: number, connection: self, handler: handler, readsAllHeaders: readsAllHeaders)
        if free == self.channels.count { self.channels.append(nil) }
        self.channels[free] = channel
        channel.send(AMQP_CHANNEL_OPEN_METHOD, amqp_channel_open_t())
        return channel
    }

    // MARK: Writing

    func setNeedsFlush(_ channel: Channel) {
        self.flushing.append(channel)
        self.transport?.setNeedsFlush()
    }

    /// To be called after anything was encoded.
    func didEncode() {
        self.heartbeat.sent(at: self.loop.now)
        self.transport?.setNeedsFlush()
    }

    private func gather() {
        let flushing = self.flushing
        self.flushing.removeAll(keepingCapacity: true)
        for channel in flushing {
            channel.needsFlush = false
            if channel.isOpen { channel.handler.channelWillFlush(channel) }
        }
    }

    private func flush(to transport: Transport) {
        self.encoder.take { transport.write($0) }
    }

    // MARK: Reading

    private func handle(_ frame: borrowing amqp_frame_t) throws(BrokerError) {
        switch Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD:
            let method = frame.payload.method
            guard frame.channel == 0 else { return try self.handle(method, on: frame.channel) }
            self.handleOnConnection(method)
        case AMQP_FRAME_HEADER:
            let payload = frame.payload.properties
            guard payload.class_id == UInt16(AMQP_BASIC_CLASS), let decoded = payload.decoded else {
                throw .violation("content of an unknown class")
            }
            let properties = decoded.assumingMemoryBound(to: amqp_basic_properties_t.self)
            try self.channel(frame.channel).header(properties.pointee, bodySize: payload.body_size)
        case AMQP_FRAME_BODY:
            try self.channel(frame.channel).body(frame.payload.body_fragment.buffer)
        case AMQP_FRAME_HEARTBEAT:
            break
        default:
            throw .violation("AMQP versions do not match")
        }
    }

    private func channel(_ number: UInt16) throws(BrokerError) -> Channel {
        guard Int(number) < self.channels.count, let channel = self.channels[Int(number)] else {
            throw .violation("a frame on channel \(number), which is not open")
        }
        return channel
    }

    private func handleOnConnection(_ method: amqp_method_t) {
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
        if method.id == AMQP_CHANNEL_CLOSE_OK_METHOD { return self.free(number, ifClosing: true) }
        let channel = try self.channel(number)
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
            self.free(number, ifClosing: false)
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

    private func free(_ number: UInt16, ifClosing: Bool) {
        guard Int(number) < self.channels.count, let channel = self.channels[Int(number)] else { return }
        if !ifClosing || channel.state == .closing { self.channels[Int(number)] = nil }
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

    // MARK: Acting

    /// Ends it in good order: what was encoded is sent, the broker confirms, nothing more is heard on channels.
    ///
    /// The delegate is told as always. A broker that does not answer within two seconds is left.
    func close() {
        for channel in self.channels.compactMap({ $0 }) where channel.isOpen {
            channel.handler.channelWillFlush(channel)
        }
        self.act(on: .wantsClose)
    }

    /// Ends it at once, as a crash would: nothing more is sent or heard, not even by the delegate.
    func abandon() {
        self.delegate = nil
        self.act(on: .failed(.closed))
    }

    /// The peer, or our use of it, went wrong: ends it with this error.
    func fail(_ error: BrokerError) {
        self.act(on: .failed(error))
    }

    private func act(on event: ConnectionMachine.Event) {
        for action in self.machine.handle(event) { self.perform(action) }
    }

    private func perform(_ action: ConnectionMachine.Action) {
        switch action {
        case .sendProtocolHeader:
            self.encoder.protocolHeader()
            self.didEncode()
            self.setAlarm(at: self.loop.now + self.settings.transport.connectTimeout)
        case .sendStartOK:
            self.sendStartOK()
        case .sendTuneOKAndOpen(let limits):
            self.tune(limits)
        case .opened:
            self.heartbeat.received(at: self.loop.now)
            self.beat()
            self.delegate?.connectionDidOpen(self)
        case .blocked(let reason):
            self.blockedReason = reason
            self.delegate?.connectionDidChangeBlocked(self)
        case .sendClose:
            let text = self.encoder.arena.short("goodbye")
            let method = amqp_connection_close_t(reply_code: 200, reply_text: text, class_id: 0, method_id: 0)
            self.encoder.method(AMQP_CONNECTION_CLOSE_METHOD, channel: 0, method)
            self.didEncode()
            self.setAlarm(at: self.loop.now + .seconds(2))
        case .sendCloseOK:
            self.encoder.method(AMQP_CONNECTION_CLOSE_OK_METHOD, channel: 0, amqp_connection_close_ok_t())
        case .ended(let error):
            self.end(error)
        }
    }

    private func end(_ error: BrokerError) {
        self.alarm?.cancel()
        if let transport = self.transport, !transport.isClosed {
            self.flush(to: transport)
            // A peer that still listens should get our last words, such as a close-ok.
            self.delegate != nil && error.isSaid ? transport.closeWhenSent() : transport.close()
        }
        self.transport = nil
        let channels = self.channels.compactMap { $0 }
        self.channels = [nil]
        self.flushing = []
        let delegate = self.delegate
        self.delegate = nil
        for channel in channels { channel.didClose(error) }
        delegate?.connection(self, didClose: error)
    }

    private func sendStartOK() {
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

    private func tune(_ limits: ConnectionMachine.Limits) {
        self.channelMax = limits.channelMax
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

    // MARK: Time

    private func setAlarm(at time: MonotonicTime) {
        self.alarm?.cancel()
        self.alarm = self.loop.at(time) { [weak self] in self?.alarmRang() }
    }

    private func alarmRang() {
        self.machine.isOpen ? self.beat() : self.act(on: .failed(.timeout))
    }

    private func beat() {
        switch self.heartbeat.check(at: self.loop.now) {
        case .dead:
            self.act(on: .failed(.silent))
        case .send:
            self.encoder.heartbeat()
            self.didEncode()
            self.beat()
        case .wait(let time):
            self.setAlarm(at: time)
        }
    }
}

extension Connection: TransportDelegate {
    func transportDidOpen(_: Transport) {
        self.act(on: .transportOpened)
    }

    func transport(_: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        self.heartbeat.received(at: self.loop.now)
        do throws(BrokerError) {
            try self.decoder.decode(bytes) { frame throws(BrokerError) in
                try self.handle(frame)
                return self.machine.state != .closed
            }
        } catch {
            self.act(on: .failed(error))
        }
    }

    func transportWillFlush(_ transport: Transport) {
        self.gather()
        self.flush(to: transport)
    }

    func transport(_: Transport, didClose error: TransportError) {
        self.transport = nil
        self.act(on: .failed(.transport(error)))
    }
}

/// Hears what happens to a connection as a whole, on its loop.
protocol ConnectionDelegate: AnyObject {
    func connectionDidOpen(_ connection: Connection)
    /// `blockedReason` has changed.
    func connectionDidChangeBlocked(_ connection: Connection)
    /// It is over; channels have been told before. Called once.
    func connection(_ connection: Connection, didClose error: BrokerError)
}

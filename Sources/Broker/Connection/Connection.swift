internal import CRabbitMQ
internal import Loop
internal import Push
internal import Wire

/// One AMQP connection: it connects, lives, closes, is thrown away. Reconnecting is ``BrokerClient``'s business.
///
/// The decisions are ``ConnectionMachine``'s and ``HeartbeatMonitor``'s; this is their shell over a transport.
final class Connection {
    private let loop: EventLoop
    let settings: BrokerSettings
    let decoder = FrameDecoder()
    let encoder = FrameEncoder()
    private var delegate: (any ConnectionDelegate)?
    private var machine = ConnectionMachine()
    private var transport: Transport?
    var channels = ChannelTable()
    private var flushing: [Channel] = []
    var heartbeat: HeartbeatMonitor
    private var alarm: Deadline?

    /// What the broker calls itself, such as `RabbitMQ 3.10.8`; empty before it is known.
    var product = ""
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
        guard self.machine.isOpen, let number = self.channels.freeNumber else { return nil }
        let channel = Channel(number: number, connection: self, handler: handler, readsAllHeaders: readsAllHeaders)
        self.channels.add(channel)
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

    // MARK: Acting

    /// Ends it in good order: what was encoded is sent, the broker confirms, nothing more is heard on channels.
    ///
    /// The delegate is told as always. A broker that does not answer within two seconds is left.
    func close() {
        for channel in self.channels.all where channel.isOpen {
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

    func act(on event: ConnectionMachine.Event) {
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
        let channels = self.channels.all
        self.channels = ChannelTable()
        self.flushing = []
        let delegate = self.delegate
        self.delegate = nil
        for channel in channels { channel.didClose(error) }
        delegate?.connection(self, didClose: error)
    }

    // MARK: Time

    deinit {
        self.alarm?.cancel()
    }

    private func setAlarm(at time: MonotonicTime) {
        self.alarm?.cancel()
        self.alarm = self.loop.at(time) { [unowned self] in self.alarmRang() }
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

internal import CRabbitMQ
internal import Push
internal import Synchronization

/// One life of one channel. It opens, lives, closes; a new one gets a new epoch.
final class Channel {
    enum State {
        case opening, open, closing, closed
    }

    /// Larger messages are refused by closing the channel; RabbitMQ 3.x takes 128 MiB, later ones less.
    static let bodyLimit: UInt64 = 128 << 20

    let number: UInt16
    let epoch: UInt32
    unowned let connection: Connection
    let handler: any ChannelHandler
    /// Whether deliveries carry all their headers, for display.
    let readsAllHeaders: Bool
    private(set) var state = State.opening
    var needsFlush = false

    // The message that is coming in.
    private var kind: ContentKind?
    private var incoming = Delivery()
    private var hasHeader = false
    private var missing: UInt64 = 0
    private var exchanges = Interner()
    private var routingKeys = Interner()
    private var contentTypes = Interner()

    private static let epochs = Atomic<UInt32>(0)

    init(number: UInt16, connection: Connection, handler: any ChannelHandler, readsAllHeaders: Bool) {
        self.number = number
        self.epoch = Self.epochs.add(1, ordering: .relaxed).newValue
        self.connection = connection
        self.handler = handler
        self.readsAllHeaders = readsAllHeaders
    }

    var isOpen: Bool { self.state == .open }

    // MARK: From the broker

    func didOpen() {
        guard self.state == .opening else { return }
        self.state = .open
        self.handler.channelDidOpen(self)
    }

    /// The broker closed it or the connection ended.
    func didClose(_ error: BrokerError) {
        let wasOurs = self.state == .closing || self.state == .closed
        self.state = .closed
        if !wasOurs { self.handler.channel(self, didClose: error) }
    }

    func receive(_ method: ChannelMethod) {
        guard self.state == .open else { return }
        self.handler.channel(self, didReceive: method)
    }

    func confirmed(_ sequence: UInt64, multiple: Bool, isNack: Bool) {
        guard self.state == .open else { return }
        self.handler.channel(self, didConfirm: sequence, multiple: multiple, isNack: isNack)
    }

    /// A method with content: its header and body follow in frames of their own.
    func begin(
        _ kind: ContentKind,
        tag: UInt64,
        redelivered: Bool,
        exchange: amqp_bytes_t,
        routingKey: amqp_bytes_t
    ) throws(BrokerError) {
        guard self.kind == nil else { throw .violation("a message began before the last one was complete") }
        self.kind = kind
        self.hasHeader = false
        self.incoming.id = DeliveryID(epoch: self.epoch, channel: self.number, tag: tag)
        self.incoming.redelivered = redelivered
        self.incoming.exchange = self.exchanges.string(exchange)
        self.incoming.routingKey = self.routingKeys.string(routingKey)
    }

    func header(_ properties: amqp_basic_properties_t, bodySize: UInt64) throws(BrokerError) {
        guard let kind = self.kind, !self.hasHeader else { throw .violation("a content header out of place") }
        self.hasHeader = true
        self.missing = bodySize
        self.read(properties)
        if case .returned(let code, let text, _) = kind, properties._flags & Self.correlationID != 0 {
            let sequence = UInt64(properties.correlation_id.string)
            self.kind = .returned(code: code, text: text, sequence: sequence)
        }
        if bodySize > Self.bodyLimit, self.state == .open {
            let error = BrokerError.channelClosed(code: 311, text: "a message of \(bodySize) bytes is too large")
            self.close(code: 311, text: "message too large")
            self.handler.channel(self, didClose: error)
        }
        if bodySize == 0 { self.complete() }
    }

    /// The announced size is a claim until the bytes are here: memory grows with what arrives.
    func body(_ fragment: UnsafeRawBufferPointer) throws(BrokerError) {
        guard self.kind != nil, self.hasHeader, fragment.count <= self.missing else {
            throw .violation("a body frame out of place")
        }
        self.missing -= UInt64(fragment.count)
        if self.state == .open {
            if self.incoming.body.isEmpty, self.missing == 0 {
                self.incoming.body = Array(fragment)
            } else {
                self.incoming.body.append(contentsOf: fragment)
            }
        }
        if self.missing == 0 { self.complete() }
    }

    private func complete() {
        guard let kind = self.kind else { return }
        self.kind = nil
        var delivery = Delivery()
        swap(&delivery, &self.incoming)
        // What arrives while we close is requeued by the broker.
        guard self.state == .open else { return }
        self.handler.channel(self, didReceive: kind, delivery)
    }

    private func read(_ properties: amqp_basic_properties_t) {
        let flags = properties._flags
        if flags & Self.messageID != 0 { self.incoming.messageID = properties.message_id.array }
        if flags & Self.contentType != 0 {
            self.incoming.contentType = self.contentTypes.string(properties.content_type)
        }
        if flags & Self.timestamp != 0 {
            self.incoming.timestamp = UnixTime(seconds: Int64(clamping: properties.timestamp))
        }
        if flags & Self.headers != 0 {
            self.incoming.headers = HeaderReader.read(properties.headers, readsAll: self.readsAllHeaders)
        }
    }

    private static let messageID = amqp_flags_t(AMQP_BASIC_MESSAGE_ID_FLAG)
    private static let contentType = amqp_flags_t(AMQP_BASIC_CONTENT_TYPE_FLAG)
    private static let timestamp = amqp_flags_t(AMQP_BASIC_TIMESTAMP_FLAG)
    private static let headers = amqp_flags_t(AMQP_BASIC_HEADERS_FLAG)
    private static let correlationID = amqp_flags_t(AMQP_BASIC_CORRELATION_ID_FLAG)

    // MARK: From us

    /// Asks that the handler's `channelWillFlush` is called when the turn ends.
    func setNeedsFlush() {
        guard !self.needsFlush, self.state == .open else { return }
        self.needsFlush = true
        self.connection.setNeedsFlush(self)
    }

    /// Ends it; the handler hears nothing more. The broker requeues what was not settled.
    func close() {
        self.close(code: 200, text: "done")
    }

    private func close(code: UInt16, text: String) {
        guard self.state == .open || self.state == .opening else { return }
        self.handler.channelWillFlush(self)
        self.state = .closing
        let text = self.connection.encoder.arena.short(text)
        let method = amqp_channel_close_t(reply_code: code, reply_text: text, class_id: 0, method_id: 0)
        self.send(AMQP_CHANNEL_CLOSE_METHOD, method)
    }

    func send<Method>(_ id: amqp_method_number_t, _ method: Method, room: Int = 2048) {
        self.connection.encoder.method(id, channel: self.number, method, room: room)
        self.connection.didEncode()
    }
}

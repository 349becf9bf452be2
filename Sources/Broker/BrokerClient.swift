package import Loop
internal import Push
package import Wire

/// Keeps one connection to the broker alive: reconnects with growing, jittered waits, and brings back what lives on
/// it.
///
/// A worker has two: one consumes and acknowledges, one publishes. During a memory or disk alarm RabbitMQ stops
/// reading from connections that have published, and acknowledgements on them would be stuck
/// (https://www.rabbitmq.com/alarms.html).
package final class BrokerClient {
    package enum State: Equatable, Sendable {
        case connecting
        case connected
        /// No connection for this reason; the next try is under way or due soon.
        case waiting(BrokerError)
        case closing
        case closed
    }

    private let settings: BrokerSettings
    private let tls: TLSContext?
    private let loop: EventLoop
    /// Held until it is closed: a weak reference would make every reference to it dearer.
    private var delegate: (any BrokerClientDelegate)?
    private var connection: Connection?
    private var backoff: ReconnectBackoff
    private var retry: Deadline?
    private var connectedSince: MonotonicTime?
    private var consumers: [Consumer] = []
    private var publishers: [Publisher] = []

    package private(set) var state = State.connecting
    /// Connections made, since the beginning.
    package private(set) var connects = 0
    /// What the broker calls itself, such as `RabbitMQ 3.10.8`; empty before the first connection.
    package private(set) var product = ""

    /// Begins to connect in the loop's next turn.
    /// - Throws: when the file of trusted authorities cannot be used.
    package init(
        _ settings: BrokerSettings,
        on loop: EventLoop,
        delegate: any BrokerClientDelegate
    ) throws(TLSContextError) {
        self.settings = settings
        self.tls = try settings.makeTLS()
        self.loop = loop
        self.delegate = delegate
        self.backoff = settings.backoff
        self.connect()
    }

    /// Why the broker takes no publishes on this connection, if it does not (AMQP `connection.blocked`).
    package var blockedReason: String? { self.connection?.blockedReason }

    // MARK: What lives on the connection

    /// Consumes from a queue from now on; see ``Consumer``. The queue need not exist yet.
    /// - Parameters:
    ///   - consumerTag: shown by the broker's tools; unique per client and queue.
    ///   - readsAllHeaders: whether deliveries carry all their headers, for display.
    package func consume(
        queue: String,
        prefetch: Int,
        consumerTag: String,
        readsAllHeaders: Bool = false,
        delegate: any ConsumerDelegate
    ) -> Consumer {
        let consumer = Consumer(
            queue: queue,
            prefetch: prefetch,
            tag: consumerTag,
            readsAllHeaders: readsAllHeaders,
            client: self,
            backoff: self.settings.backoff,
            loop: self.loop,
            delegate: delegate
        )
        self.consumers.append(consumer)
        if self.state == .connected { consumer.attach() }
        return consumer
    }

    /// A channel for publishing with confirms; see ``Publisher``.
    package func makePublisher(
        _ settings: Publisher.Settings = Publisher.Settings(),
        delegate: any PublisherDelegate
    ) -> Publisher {
        let publisher = Publisher(settings, backoff: self.settings.backoff, on: self.loop, delegate: delegate)
        self.publishers.append(publisher)
        if self.state == .connected, let connection = self.connection { publisher.attach(connection) }
        return publisher
    }

    func openChannel(_ handler: any ChannelHandler, readsAllHeaders: Bool) -> Channel? {
        self.connection?.openChannel(handler, readsAllHeaders: readsAllHeaders)
    }

    func forget(_ consumer: Consumer) {
        self.consumers.removeAll { $0 === consumer }
    }

    // MARK: Connecting

    private func connect() {
        self.connection = Connection(self.settings, tls: self.tls, on: self.loop, delegate: self)
    }

    private func reconnectLater(_ error: BrokerError) {
        // A connection that is closed as soon as it is made would otherwise be made again at full speed.
        if let since = self.connectedSince, self.loop.now - since > .seconds(5) { self.backoff.reset() }
        self.connectedSince = nil
        var delay = self.backoff.next(random: .random(in: .min ... .max))
        // Accounts get locked for less: at most one try a second with credentials that were refused.
        if case .refused = error { delay = max(delay, .seconds(1)) }
        self.retry = self.loop.after(delay) { [weak self] in self?.connect() }
    }

    private func become(_ state: State) {
        guard state != self.state else { return }
        self.state = state
        self.delegate?.brokerClient(self, didChange: state)
    }

    // MARK: Ending

    /// Ends it in good order: consumers take nothing more, what was settled and published so far is sent, and the
    /// broker has taken note of it. The delegate hears `closed` when it is done, within about four seconds at most.
    ///
    /// Open deliveries go back to their queues; publishes without a confirm are reported as unknown.
    package func close() {
        guard self.state != .closed, self.state != .closing else { return }
        self.retry?.cancel()
        guard let connection = self.connection else { return self.finish() }
        self.become(.closing)
        var unfinished = self.consumers.count
        guard unfinished > 0, connection.isOpen else { return connection.close() }
        self.retry = self.loop.after(.seconds(2)) { connection.close() }
        for consumer in self.consumers {
            consumer.finish { [weak self] in
                unfinished -= 1
                guard unfinished == 0, let self else { return }
                self.retry?.cancel()
                // Not at once: this may be called from within what the connection reads or gathers.
                self.retry = self.loop.after(.zero) { connection.close() }
            }
        }
    }

    private func finish() {
        self.connection = nil
        for publisher in self.publishers { publisher.end() }
        for consumer in self.consumers { consumer.end() }
        self.become(.closed)
        self.delegate = nil
    }
}

extension BrokerClient: ConnectionDelegate {
    func connectionDidOpen(_ connection: Connection) {
        self.connects += 1
        self.product = connection.product
        self.connectedSince = self.loop.now
        self.become(.connected)
        for consumer in self.consumers { consumer.attach() }
        for publisher in self.publishers { publisher.attach(connection) }
    }

    func connectionDidChangeBlocked(_ connection: Connection) {
        for publisher in self.publishers { publisher.didChangeBlocked(connection.blockedReason) }
        self.delegate?.brokerClient(self, didChangeBlocked: connection.blockedReason)
    }

    func connection(_ connection: Connection, didClose error: BrokerError) {
        let wasBlocked = connection.blockedReason != nil
        self.connection = nil
        for publisher in self.publishers { publisher.detach() }
        if wasBlocked { self.delegate?.brokerClient(self, didChangeBlocked: nil) }
        guard self.state != .closing else {
            self.retry?.cancel()
            return self.finish()
        }
        self.become(.waiting(error))
        // The delegate may have closed the client.
        if self.state != .closed { self.reconnectLater(error) }
    }
}

/// Hears how a client's connection fares, always on the loop.
package protocol BrokerClientDelegate: AnyObject {
    func brokerClient(_ client: BrokerClient, didChange state: BrokerClient.State)
    /// The broker takes no publishes for this reason, or takes them again.
    func brokerClient(_ client: BrokerClient, didChangeBlocked reason: String?)
}

extension BrokerClientDelegate {
    package func brokerClient(_: BrokerClient, didChangeBlocked _: String?) {}
}

internal import Loop
internal import Push

/// Takes messages from one queue for as long as the client lives, and tells the broker what became of each.
///
/// Survives the loss of connection, channel and queue: it comes back when they do. Settlements of a turn leave
/// together when the turn ends.
package final class Consumer {
    /// What it is doing.
    package enum State: Equatable, Sendable {
        /// No connection yet, or none any more.
        case disconnected
        /// On the way to consume.
        case starting
        case consuming(prefetch: Int)
        /// Nothing is wanted, so nothing is held.
        case paused
        /// It cannot consume for this reason and tries again; for a 404 the queue is not there.
        ///
        /// `timeout`: the broker has not answered for ten seconds, as happens when a quorum queue has no leader. The
        /// question stands; closing the connection over it would only harm the other queues.
        case waiting(BrokerError)
        case stopped
    }

    package let queue: String
    private let tag: String
    private let readsAllHeaders: Bool
    private let loop: EventLoop
    private unowned let client: BrokerClient
    /// Held until the end: a weak reference would make every reference to it dearer.
    private var delegate: (any ConsumerDelegate)?
    private var machine: ConsumerMachine
    private var ledger = DeliveryLedger()
    private(set) var channel: Channel?
    private var backoff: ReconnectBackoff
    private var retry: Deadline?
    private var consumingSince: MonotonicTime?
    private var generation = 0
    private var prefetch: Int
    private var isPaused = false
    private var problem: BrokerError?
    private var patience: Deadline?
    private var lastSettlement: MonotonicTime?
    private var finishing: Finishing?
    private var isOverdue = false
    /// What the queue held when it was found, before any of it was taken; nil as long as it was not.
    package private(set) var depthWhenFound: BrokerSession.QueueDepth?
    /// The last state reported.
    package private(set) var state = State.disconnected
    /// Whether it asks for deliveries. Some come although it does not: they were on their way when it stopped.
    package var takesDeliveries: Bool { self.machine.wanted > 0 }

    init(
        queue: String,
        prefetch: Int,
        tag: String,
        readsAllHeaders: Bool,
        client: BrokerClient,
        backoff: ReconnectBackoff,
        loop: EventLoop,
        delegate: any ConsumerDelegate
    ) {
        self.queue = queue
        self.tag = tag
        self.readsAllHeaders = readsAllHeaders
        self.client = client
        self.loop = loop
        self.backoff = backoff
        self.prefetch = max(0, prefetch)
        self.delegate = delegate
        self.machine = ConsumerMachine(wanted: prefetch)
    }

    /// Deliveries that wait for a settlement.
    package var openCount: Int { self.ledger.openCount }
    /// Settlements dropped because their channel was gone, since the beginning. Their messages come again.
    package var staleSettlements: Int { self.ledger.staleCount }
    /// Settlements refused because the delivery was settled before, since the beginning. Should stay 0.
    package var refusedSettlements: Int { self.ledger.refusedCount }

    // MARK: Flow

    /// How many deliveries may be open at a time, at most 65535; 0 means hold nothing.
    ///
    /// RabbitMQ knows no change, only a new consumer. What is open stays open and counts apart: after a change, up to
    /// twice the new number may be open for a while. Each change costs the broker a round trip, so do not change it
    /// for every message.
    package func setPrefetch(_ count: Int) {
        self.prefetch = min(max(0, count), Int(UInt16.max))
        self.act(on: .wants(self.isPaused ? 0 : self.prefetch))
    }

    /// Takes no more until `resume`; deliveries on the way are given back, open ones stay open.
    package func pause() {
        self.isPaused = true
        self.act(on: .wants(0))
    }

    package func resume() {
        self.isPaused = false
        self.act(on: .wants(self.prefetch))
    }

    /// Ends it for good, after the broker has taken note of what was settled; what is open goes back to the queue.
    package func cancel() {
        guard self.finishing == nil else { return }
        self.finish { [weak self] in
            guard let self else { return }
            self.retry?.cancel()
            self.act(on: .stop)
            self.client.forget(self)
        }
    }

    // MARK: Settling

    /// The message is done with. Says whether that reaches the broker: an id of a channel that is gone does not, nor
    /// does one settled before.
    @discardableResult
    package func ack(_ id: DeliveryID) -> Bool {
        self.settled(self.ledger.ack(id))
    }

    /// The message is not wanted: given back to the queue, or dead-lettered by the queue's own rule.
    @discardableResult
    package func reject(_ id: DeliveryID, requeue: Bool) -> Bool {
        self.settled(self.ledger.reject(id, requeue: requeue))
    }

    // MARK: Finishing

    /// Holds nothing more, and calls back when the broker has taken note of every settlement so far.
    ///
    /// Closing right behind a burst of acks loses some of them: RabbitMQ's channel holds back settlements of quorum
    /// queues while the queue is busy and forgets them when it ends (up to 560 of 50,000 came again, seen on 3.10.8).
    /// The answer to a cancel comes through the queue's own log, after what the channel had sent before; whatever it
    /// held back goes out on that, ahead of our next question. Without a consumer to cancel only time helps.
    func finish(_ completion: @escaping () -> Void) {
        if let channel = self.channel, channel.isOpen { self.channelWillFlush(channel) }
        self.finishing = Finishing(completion: completion)
        let wasIdle = self.machine.state == .idle
        self.isPaused = true
        self.act(on: .wants(0))
        guard wasIdle, let settled = self.lastSettlement else { return self.proceedToFinish() }
        self.finishing?.notBefore = settled + Self.quietTime
        self.loop.at(settled + Self.quietTime) { [weak self] in self?.proceedToFinish() }
    }

    private static let quietTime = Duration.milliseconds(200)

    private struct Finishing {
        let completion: () -> Void
        var notBefore = MonotonicTime(nanoseconds: .min)
        var hasAsked = false
    }

    private func proceedToFinish() {
        guard let finishing = self.finishing, finishing.notBefore <= self.loop.now else { return }
        switch self.machine.state {
        case .openingChannel, .lookingForQueue, .starting, .consuming, .cancelling:
            return
        case .idle where !finishing.hasAsked:
            guard let channel = self.channel else { return }
            self.finishing?.hasAsked = true
            self.channelWillFlush(channel)
            channel.declareQueue(self.queue, passive: true)
        case .idle:
            return
        case .detached, .waiting, .stopped:
            self.finishing = nil
            finishing.completion()
        }
    }

    private func settled(_ answer: DeliveryLedger.Answer) -> Bool {
        guard answer == .accepted else { return false }
        self.channel?.setNeedsFlush()
        return true
    }

    // MARK: Acting

    private var currentTag: String { "\(self.tag).\(self.generation)" }

    func attach() { self.act(on: .attached) }

    private func act(on event: ConsumerMachine.Event) {
        let before = self.machine.state
        defer { if self.machine.state != before { self.expectAnswer() } }
        if let action = self.machine.handle(event, open: self.ledger.openCount) { self.perform(action) }
        self.report()
        self.proceedToFinish()
    }

    private func perform(_ action: ConsumerMachine.Action) {
        switch action {
        case .openChannel:
            guard let channel = self.client.openChannel(self, readsAllHeaders: self.readsAllHeaders) else { return }
            self.channel = channel
        case .lookForQueue:
            self.channel?.declareQueue(self.queue, passive: true)
        case .start(let prefetch):
            // A tag of its own each time: RabbitMQ 3.10.8 keeps a cancelled consumer of a quorum queue while it has
            // open deliveries. One that takes the tag again goes on with its numbering, which the broker's own client
            // takes for a gap, and filling it ends the whole connection (541 INTERNAL_ERROR).
            self.generation += 1
            self.channel?.setPrefetch(prefetch)
            self.channel?.consume(queue: self.queue, tag: self.currentTag)
        case .cancel:
            self.channel?.cancelConsumer(tag: self.currentTag)
        case .retryLater:
            // Only what has gone well for a while earns a quick retry.
            if let since = self.consumingSince, self.loop.now - since > .seconds(10) { self.backoff.reset() }
            self.consumingSince = nil
            let delay = self.backoff.next(random: .random(in: .min ... .max))
            self.retry?.cancel()
            self.retry = self.loop.after(delay) { [unowned self] in self.act(on: .retryDue) }
        case .closeChannel:
            self.channel?.close()
            self.lose(.closed)
        }
    }

    /// Questions to the broker have no time limit of their own; this one is for whoever looks at the state.
    private func expectAnswer() {
        self.patience?.cancel()
        self.patience = nil
        self.isOverdue = false
        switch self.machine.state {
        case .openingChannel, .lookingForQueue, .starting, .cancelling:
            self.patience = self.loop.after(.seconds(10)) { [unowned self] in
                self.isOverdue = true
                self.report()
            }
        case .detached, .idle, .consuming, .waiting, .stopped: break
        }
    }

    private func lose(_ error: BrokerError) {
        self.channel = nil
        let lost = self.ledger.end()
        if lost > 0 { self.delegate?.consumer(self, didLose: lost, error) }
    }

    private func report() {
        let state = self.currentState
        guard state != self.state else { return }
        self.state = state
        self.delegate?.consumer(self, didChange: state)
        if state == .stopped { self.delegate = nil }
    }

    /// Its client is closed, and nothing will come any more.
    func end() { self.delegate = nil }

    deinit {
        self.retry?.cancel()
        self.patience?.cancel()
    }

    private var currentState: State {
        switch self.machine.state {
        case .detached: .disconnected
        case .waiting: .waiting(self.problem ?? .closed)
        case .consuming(let prefetch): .consuming(prefetch: prefetch)
        case .idle where self.machine.wanted == 0: .paused
        case .stopped: .stopped
        case _ where self.isOverdue: .waiting(.timeout)
        case .openingChannel, .lookingForQueue, .idle, .starting, .cancelling:
            // While it only looks again for a queue that is not there, nothing has changed.
            if case .waiting = self.state { self.state } else { .starting }
        }
    }
}

extension Consumer: ChannelHandler {
    func channelDidOpen(_ channel: Channel) {
        guard channel === self.channel else { return }
        self.ledger.begin(epoch: channel.epoch)
        self.act(on: .channelOpened)
    }

    func channel(_ channel: Channel, didReceive method: ChannelMethod) {
        guard channel === self.channel else { return }
        switch method {
        case .queueDeclareOK(let messages, let consumers):
            if let finishing = self.finishing, finishing.hasAsked {
                self.finishing = nil
                return finishing.completion()
            }
            self.depthWhenFound = BrokerSession.QueueDepth(messages: Int(messages), consumers: Int(consumers))
            self.act(on: .queueFound)
        case .consumeOK:
            self.consumingSince = self.loop.now
            self.problem = nil
            self.act(on: .started)
        case .cancelOK: self.act(on: .cancelled)
        case .cancelledByBroker:
            self.problem = .channelClosed(code: 404, text: "the broker ended the consumer of queue '\(self.queue)'")
            self.act(on: .cancelledByBroker)
        default: break
        }
    }

    func channel(_ channel: Channel, didReceive kind: ContentKind, _ delivery: consuming Delivery) {
        guard channel === self.channel, kind == .delivery else { return }
        let id = delivery.id
        guard self.ledger.delivered(id.tag) else {
            return channel.connection.fail(.violation("delivery tag \(id.tag) is not the next one"))
        }
        guard let delegate = self.delegate else {
            self.reject(id, requeue: true)
            return
        }
        delegate.consumer(self, didReceive: delivery)
    }

    func channelWillFlush(_ channel: Channel) {
        guard channel === self.channel, self.ledger.hasSettlements else { return }
        self.ledger.takeSettlements { channel.settle($0) }
        self.lastSettlement = self.loop.now
        if self.machine.isWaitingForRoom { self.act(on: .settled) }
    }

    func channel(_ channel: Channel, didClose error: BrokerError) {
        guard channel === self.channel else { return }
        self.lose(error)
        if case .channelClosed = error {
            self.problem = error
            self.act(on: .channelClosed)
        } else {
            self.retry?.cancel()
            self.act(on: .detached)
        }
    }
}

/// Is given what a consumer takes, always on the loop.
package protocol ConsumerDelegate: AnyObject {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery)
    /// Open deliveries are void: the broker hands them out again, to us or others. What is known about them may be
    /// forgotten; settling them does nothing.
    func consumer(_ consumer: Consumer, didLose openDeliveries: Int, _ reason: BrokerError)
    func consumer(_ consumer: Consumer, didChange state: Consumer.State)
}

internal import Broker
internal import Loop
internal import Push
internal import Wire

/// Goes through the dead-letter queue once, from its head to where its end was when it began, on one loop.
///
/// AMQP can only take messages: each letter is taken and held until somebody decides. One that is removed is acknowledged;
/// all others are given back when the walk ends, and so they are when the process dies. While it goes on nobody else sees
/// the letters that it holds. Their order is not kept: what one consumer gives back is handed to the next that has room.
///
/// A quorum queue gives a consumer as many letters as its prefetch; when all of them are held, another consumer takes
/// the next ones. That bounds what is on its way at any time, however many letters there are.
final class DeadLetterWalk {
    /// Where a letter is held.
    struct Place {
        fileprivate let consumer: Consumer
        fileprivate let delivery: DeliveryID
    }

    /// How far it came.
    struct End: Sendable {
        /// Letters in the queue when it began.
        var ready = 0
        /// Letters that were seen.
        var seen = 0
        /// Others who were reading then; they may have held letters back.
        var others = 0
        /// Whether all letters were seen.
        var isComplete: Bool { self.seen >= self.ready }
    }

    /// Is given every letter, and decides about each with `hold` or `remove`, at once or later.
    private let visit: (DeadLetterWalk, Delivery, Place) -> Void
    private let finished: (Result<End, DeadLetterFailure>) -> Void
    private let loop: EventLoop
    private let timeout: Duration
    private var client: BrokerClient?
    private var publisher: Publisher?
    private var published: [UInt64: (PublishOutcome) -> Void] = [:]
    private var nextToken: UInt64 = 0
    private var newest: Consumer?
    /// Consumers that are not stopped.
    private var active: [Consumer] = []
    private var removed = 0
    private var prefetch = DeadLetterPrefetch()
    private var consumers = 0
    /// Letters given to the visitor and not decided.
    private(set) var pending = 0
    private var state = End()
    private var hasBegun = false
    private var isStopping = false
    private var isOver = false
    private var outcome: Result<End, DeadLetterFailure>?
    private var watch: Deadline?
    private var recount: DeadLetterCount?
    private var lastNews: MonotonicTime

    /// Called when there is room for another publish after `publish` had none.
    var canPublish: (() -> Void)?

    /// Begins at once; `finished` is called once, when everything is settled and the connection closed.
    init(
        _ settings: BrokerSettings,
        timeout: Duration,
        on loop: EventLoop,
        visit: @escaping (DeadLetterWalk, Delivery, Place) -> Void,
        finished: @escaping (Result<End, DeadLetterFailure>) -> Void
    ) {
        self.loop = loop
        self.timeout = timeout
        self.visit = visit
        self.finished = finished
        self.lastNews = loop.now
        var settings = settings
        settings.transport.connectTimeout = timeout
        do throws(TLSContextError) {
            self.client = try BrokerClient(settings, on: loop, delegate: self)
            self.keepWatch()
        } catch {
            self.isOver = true
            finished(.failure(.context(error)))
        }
    }

    // MARK: Deciding

    /// The letter stays in the queue.
    func hold(_ place: Place) {
        if place.consumer === self.newest { self.prefetch.held += 1 }
        self.decided()
    }

    /// The letter is done with.
    func remove(_ place: Place) {
        place.consumer.ack(place.delivery)
        self.removed += 1
        if place.consumer === self.newest { self.prefetch.removed += 1 }
        self.decided()
    }

    private func decided() {
        self.pending -= 1
        self.lastNews = self.loop.now
        self.goOn()
    }

    /// Shows no more letters; ends when those that were shown are decided.
    func stop() {
        guard !self.isStopping else { return }
        self.isStopping = true
        self.goOn()
    }

    /// Ends now, whatever is undecided or on its way.
    func giveUp() { self.end(.failure(.timeout)) }

    /// Why RabbitMQ takes no publishes now, if it does not.
    var blockedReason: String? { self.client?.blockedReason }

    /// Publishes something and tells what became of it.
    /// - Returns: false if there is no room; `canPublish` is called later.
    func publish(_ message: Message, _ completion: @escaping (PublishOutcome) -> Void) -> Bool {
        guard let client = self.client, !self.isOver else { return false }
        let publisher = self.publisher ?? client.makePublisher(delegate: self)
        self.publisher = publisher
        guard publisher.publish(message, token: self.nextToken) else { return false }
        self.published[self.nextToken] = completion
        self.nextToken += 1
        return true
    }

    // MARK: Going on

    /// The queue is found: what it holds now is what the walk is about.
    private func begin(_ consumer: Consumer) {
        guard !self.hasBegun, let depth = consumer.depthWhenFound else { return }
        self.hasBegun = true
        self.state.ready = depth.messages
        self.state.others = depth.consumers
        self.goOn()
    }

    private func goOn() {
        guard self.hasBegun, !self.isOver else { return }
        if self.isStopping || self.state.isComplete {
            if self.pending == 0 { self.end(.success(self.state)) }
        } else if self.prefetch.needsMore {
            self.consume()
        }
    }

    private func consume() {
        guard let client = self.client else { return }
        self.consumers += 1
        let consumer = client.consume(
            queue: FleetTopology.dead,
            prefetch: self.prefetch.next(),
            consumerTag: "pushfleet-dead-\(self.consumers)",
            readsAllHeaders: true,
            delegate: self
        )
        self.newest = consumer
        self.active.append(consumer)
    }

    /// Looks every half second whether anything still goes on.
    private func keepWatch() {
        self.watch = self.loop.after(.milliseconds(500)) { [weak self] in
            guard let self, !self.isOver else { return }
            let silence = self.loop.now - self.lastNews
            if self.pending == 0 {
                // The rest is held by somebody else, or was taken.
                if self.hasBegun, silence > .seconds(3) { return self.end(.success(self.state)) }
                if silence > self.timeout { return self.end(.failure(.timeout)) }
            }
            self.keepWatch()
        }
    }

    private func end(_ result: Result<End, DeadLetterFailure>) {
        guard !self.isOver else { return }
        self.isOver = true
        self.watch?.cancel()
        self.outcome = result
        // Not at once: this may be called from within what the connection reads.
        self.loop.after(.zero) { self.leave() }
    }

    // MARK: Giving back

    private func leave() {
        guard case .success? = self.outcome, !self.active.isEmpty else { return self.close() }
        // Whatever hangs, the broker has everything back when the connection ends.
        self.watch = self.loop.after(self.timeout) { [weak self] in self?.close() }
        for consumer in self.active { consumer.cancel() }
    }

    /// All letters are on their way back. Whoever looks next should see them all.
    private func awaitReturn(_ tries: Int = 100) {
        guard let client = self.client else { return }
        self.recount = DeadLetterCount(client, number: tries) { [weak self] count in
            guard let self else { return }
            self.recount = nil
            guard let count, count < self.state.ready - self.removed, tries > 0 else { return self.close() }
            self.loop.after(.milliseconds(10)) { [weak self] in self?.awaitReturn(tries - 1) }
        }
    }

    private func close() {
        self.watch?.cancel()
        self.client?.close()
    }
}

extension DeadLetterWalk: BrokerClientDelegate {
    func brokerClient(_: BrokerClient, didChange state: BrokerClient.State) {
        switch state {
        case .connected:
            self.lastNews = self.loop.now
            if self.consumers == 0, !self.isOver { self.consume() }
        case .waiting(let error):
            self.end(.failure(self.consumers == 0 ? .unreachable(error) : .lost(error)))
        case .closed:
            self.client = nil
            self.newest = nil
            self.active = []
            self.recount = nil
            self.publisher = nil
            self.canPublish = nil
            if let outcome = self.outcome.take() { self.finished(outcome) }
        case .connecting, .closing: break
        }
    }
}

extension DeadLetterWalk: ConsumerDelegate {
    func consumer(_ consumer: Consumer, didReceive delivery: consuming Delivery) {
        self.lastNews = self.loop.now
        self.begin(consumer)
        guard !self.isOver, !self.isStopping, self.state.seen < self.state.ready else { return }
        self.state.seen += 1
        self.pending += 1
        self.prefetch.saw(bytes: delivery.body.count)
        let place = Place(consumer: consumer, delivery: delivery.id)
        self.visit(self, delivery, place)
    }

    func consumer(_: Consumer, didLose openDeliveries: Int, _ reason: BrokerError) {
        if !self.isOver, openDeliveries > 0 { self.end(.failure(.lost(reason))) }
    }

    func consumer(_ consumer: Consumer, didChange state: Consumer.State) {
        guard !self.isOver else {
            guard state == .stopped else { return }
            self.active.removeAll { $0 === consumer }
            if self.active.isEmpty { self.loop.after(.zero) { self.awaitReturn() } }
            return
        }
        switch state {
        case .waiting(let error):
            self.end(.failure(error.isNotFound ? .noQueue : .lost(error)))
        case .starting, .consuming: self.begin(consumer)
        case .disconnected, .paused, .stopped: break
        }
    }
}

extension DeadLetterWalk: PublisherDelegate {
    func publisher(_: Publisher, didFinish result: PublishResult) {
        self.published.removeValue(forKey: result.token)?(result.outcome)
    }

    func publisherCanAccept(_: Publisher) { self.canPublish?() }
}

import Push

@testable import Broker
@testable import Store
@testable import Worker

/// A copy on its way to the broker; mirrors `Settler.Pending`.
struct SimulatedPending {
    let id: FlightID
    let flight: SimulatedFlight
    let copy: SimulatedCopy
}

/// Mirrors `WorkerLoop+Settling.swift`, `CopyWriter`, `Settler`, `Publisher` and `Consumer`.
extension SimulatedWorker {
    // MARK: Settle

    func settle(_ flight: SimulatedFlight, _ token: Int, as settlement: Settlement) {
        guard !flight.ledger.isSettled(token) else {
            return self.simulation.fail("w\(self.index) settles push \(flight.message.tokens[token].number) twice")
        }
        self.simulation.note("w\(self.index) push \(flight.message.tokens[token].number): \(settlement)")
        flight.ledger.settle(token, as: settlement)
    }

    func finishIfComplete(_ id: FlightID, _ flight: SimulatedFlight) {
        guard !flight.isLost || self.simulation.bug == .settlesLostDelivery else {
            return self.forgetIfIdle(id, flight)
        }
        guard flight.ledger.isComplete else { return self.markDirty(id, flight) }
        // Most of the broker's own count is left for poison.
        if flight.ledger.givenBack.count == flight.tokenCount, flight.deliveryCount < 10 {
            return self.giveBackWhole(id, flight)
        }
        for copy in self.copies(of: flight) { self.publish(copy, for: id, flight) }
        self.acknowledgeIfDone(id, flight)
    }

    private func copies(of flight: SimulatedFlight) -> [SimulatedCopy] {
        func message(_ tokens: [Int], attempt: Int) -> SimulatedMessage {
            var message = flight.message
            message.tokens = tokens.map { flight.message.tokens[$0] }
            message.attempt = attempt
            message.generation += 1
            message.firstSeen = flight.start
            return message
        }
        var copies: [SimulatedCopy] = []
        for group in flight.ledger.retries {
            let wait = DelayLadder.retry(group.level, random: self.simulation.bits())
            let retry = message(group.tokens, attempt: flight.attempts + (group.counted ? 1 : 0))
            copies.append(
                SimulatedCopy(
                    message: retry,
                    target: .delay(wait.level, expiration: wait.expiration),
                    tokens: group.tokens
                )
            )
        }
        for group in flight.ledger.deadLetters {
            let dead = message(group.tokens, attempt: flight.attempts)
            copies.append(SimulatedCopy(message: dead, target: .dead, tokens: group.tokens))
        }
        for gone in flight.ledger.gone {
            let feedback = message([gone.token], attempt: flight.attempts)
            copies.append(SimulatedCopy(message: feedback, target: .feedback, tokens: [gone.token]))
        }
        let back = flight.ledger.givenBack
        if !back.isEmpty {
            copies.append(SimulatedCopy(message: message(back, attempt: flight.attempts), target: .work, tokens: back))
        }
        return copies
    }

    private func acknowledgeIfDone(_ id: FlightID, _ flight: SimulatedFlight) {
        let isPublished = flight.publishing == 0 || self.simulation.bug == .ackBeforeConfirm
        guard self.flights[id] === flight, isPublished, flight.ledger.isComplete || flight.isLost else { return }
        if flight.isLost, self.simulation.bug != .settlesLostDelivery { return self.forgetIfIdle(id, flight) }
        self.remove(id, flight)
        self.acknowledge(flight)
    }

    private func acknowledge(_ flight: SimulatedFlight) {
        self.simulation.note("w\(self.index) acknowledges \(flight.message.text)")
        let line = flight.line
        var delivery = flight.delivery
        if self.simulation.bug == .settlesLostDelivery, let epoch = line.ledger.epoch {
            delivery = DeliveryID(epoch: epoch, channel: delivery.channel, tag: delivery.tag)
        }
        self.judge(line.ledger.ack(delivery), flight)
    }

    private func judge(_ answer: DeliveryLedger.Answer, _ flight: SimulatedFlight) {
        if answer == .refused {
            self.simulation.fail("w\(self.index) settles delivery \(flight.delivery.tag) a second time")
        }
    }

    // MARK: Give back

    func giveBack(_ push: SendQueue.Push, _ flight: SimulatedFlight) {
        self.settle(flight, push.token, as: .giveBack)
        self.finishIfComplete(push.flight, flight)
    }

    private func giveBackWhole(_ id: FlightID, _ flight: SimulatedFlight) {
        let (key, count) = (flight.key(self.simulation.bug), flight.tokenCount)
        self.simulation.command(of: self) {
            $0.mark(key, [count])
        } _: { [self] (_: Void?) in
            guard self.flights[id] === flight else { return }
            guard !flight.isLost else { return self.forgetIfIdle(id, flight) }
            self.letGo(id, requeue: true)
        }
    }

    func letGo(_ id: FlightID, requeue: Bool) {
        guard let flight = self.flights[id] else { return }
        self.remove(id, flight)
        if requeue { self.judge(flight.line.ledger.reject(flight.delivery, requeue: true), flight) }
    }

    func forgetIfIdle(_ id: FlightID, _ flight: SimulatedFlight) {
        guard self.flights[id] === flight else { return }
        self.markDirty(id, flight)
        guard flight.inFlight == 0, flight.publishing == 0 else { return }
        self.writeDone()
        self.remove(id, flight)
    }

    private func remove(_ id: FlightID, _ flight: SimulatedFlight) {
        self.flights[id] = nil
        flight.line.inFlight -= 1
    }

    /// In the order of their coming.
    var flightIDs: [FlightID] { self.flights.keys.sorted { $0.slot < $1.slot } }

    // MARK: Remember

    private func markDirty(_ id: FlightID, _ flight: SimulatedFlight) {
        guard flight.ledger.hasDirty, !flight.isListedAsDirty else { return }
        flight.isListedAsDirty = true
        self.dirty.append(id)
        guard !self.isWritingDone else { return }
        self.isWritingDone = true
        self.simulation.on(self, after: 20) { [self] in
            self.isWritingDone = false
            self.writeDone()
        }
    }

    private func writeDone() {
        let ids = self.dirty
        self.dirty = []
        for id in ids {
            guard let flight = self.flights[id] else { continue }
            flight.isListedAsDirty = false
            let (key, tokens) = (flight.key(self.simulation.bug), flight.ledger.takeDirty())
            self.simulation.command(of: self) {
                $0.mark(key, tokens)
            } _: { (_: Void?) in
            }
        }
    }

    // MARK: Publish and confirm

    func publish(_ copy: SimulatedCopy, for id: FlightID, _ flight: SimulatedFlight) {
        flight.publishing += 1
        self.simulation.note("w\(self.index) publishes \(copy.message.text) to \(copy.target)")
        self.tryToPublish(SimulatedPending(id: id, flight: flight, copy: copy))
    }

    private func tryToPublish(_ item: SimulatedPending) {
        self.pendingCount += 1
        self.pending[self.pendingCount] = item
        self.outbox.append(self.pendingCount)
    }

    func flushOutbox() {
        guard let link = self.publishing, !self.outbox.isEmpty else { return }
        let tokens = self.outbox
        self.outbox = []
        let deadline = self.now + .seconds(10)
        for token in tokens {
            guard let item = self.pending[token] else { continue }
            let number = self.confirms.sent(token: token, deadline: deadline)
            self.simulation.broker.publish(item.copy, number: number, on: link)
        }
        self.simulation.schedule(after: 10_050) { [self] in
            guard let due = self.confirms.nextDeadline, due <= self.now else { return }
            self.simulation.on(self, after: 0) { [self] in
                var results: [PublishResult] = []
                self.confirms.expire(at: self.now) { results.append($0) }
                for result in results { self.finished(result) }
            }
        }
    }

    func confirmed(_ number: UInt64, isNack: Bool, on link: BrokerModel.Link) {
        guard link === self.publishing else { return }
        var results: [PublishResult] = []
        guard self.confirms.confirm(number, multiple: false, isNack: isNack, { results.append($0) }) else {
            return self.simulation.fail("w\(self.index) hears a confirm for what it never sent")
        }
        for result in results { self.finished(result) }
    }

    private func finished(_ result: PublishResult) {
        guard let item = self.pending.removeValue(forKey: result.token), self.flights[item.id] === item.flight else {
            return
        }
        let flight = item.flight
        if result.outcome == .confirmed {
            flight.publishing -= 1
            for token in item.copy.tokens { flight.ledger.confirm(token) }
            self.acknowledgeIfDone(item.id, flight)
            if self.flights[item.id] != nil { self.markDirty(item.id, flight) }
            return
        }
        guard self.isWanted(item) else { return }
        self.putOff.append(item)
        guard self.putOff.count == 1 else { return }
        self.simulation.on(self, after: 1_000) { [self] in
            let items = self.putOff
            self.putOff = []
            for item in items where self.flights[item.id] === item.flight && self.isWanted(item) {
                self.tryToPublish(item)
            }
        }
    }

    private func isWanted(_ item: SimulatedPending) -> Bool {
        guard item.flight.isLost else { return true }
        item.flight.publishing -= 1
        self.forgetIfIdle(item.id, item.flight)
        return false
    }

    // MARK: The broker's connections

    func connectBroker() {
        self.simulation.on(self, after: self.simulation.some(20...500)) { [self] in
            guard self.consuming == nil || self.publishing == nil, self.shutdown.phase != .closing else { return }
            let broker = self.simulation.broker
            if self.brokerCutUntil > self.simulation.now || broker.isAway { return self.connectBroker() }
            if self.publishing == nil { self.publishing = broker.connect(self) }
            guard self.consuming == nil else { return }
            self.consuming = broker.connect(self)
            for line in self.lines { self.act(line, on: .attached) }
        }
    }

    /// A connection is gone, as the worker sees it.
    func linkLost(_ link: BrokerModel.Link) {
        if link === self.publishing {
            self.publishing = nil
            var results: [PublishResult] = []
            self.confirms.end(.silent) { results.append($0) }
            for result in results { self.finished(result) }
        } else if link === self.consuming {
            self.consuming = nil
            for line in self.lines {
                self.lose(line)
                self.act(line, on: .detached)
            }
        } else {
            return
        }
        self.simulation.note("w\(self.index) lost the broker")
        self.connectBroker()
    }

    /// Mirrors `WorkerLoop.deliveriesLost`.
    private func lose(_ line: SimulatedLine) {
        line.channel = nil
        guard line.ledger.end() > 0 else { return }
        for id in self.flightIDs {
            guard let flight = self.flights[id], flight.line === line else { continue }
            flight.isLost = true
            if self.simulation.bug != .settlesLostDelivery { self.forgetIfIdle(id, flight) }
        }
        self.writeDone()
    }

    // MARK: Consume

    func updatePrefetches() {
        let allowed = self.shutdown.isDraining ? 0 : self.connectionsAllowed
        let claims = self.lines.map {
            PrefetchShares.Claim(weight: 1, demand: $0.isOpen ? $0.prefetch.wish(at: self.now) : 0)
        }
        let capacity = allowed * self.simulation.setup.prefetchPerConnection
        let shares = PrefetchShares.divide(capacity: capacity, among: claims)
        for (line, share) in zip(self.lines, shares) {
            guard let prefetch = line.newPrefetch(share: allowed > 0 ? share : nil) else { continue }
            self.act(line, on: .wants(prefetch))
        }
    }

    private func act(_ line: SimulatedLine, on event: ConsumerMachine.Event) {
        guard let action = line.machine.handle(event, open: line.ledger.openCount) else { return }
        let broker = self.simulation.broker
        switch action {
        case .openChannel: if let link = self.consuming { broker.openChannel(line: line.index, on: link) }
        case .lookForQueue: if let channel = line.channel { broker.lookForQueue(on: channel) }
        case .start(let prefetch): if let channel = line.channel { broker.consume(on: channel, prefetch: prefetch) }
        case .cancel: if let channel = line.channel { broker.cancel(on: channel) }
        case .closeChannel: self.lose(line)
        case .retryLater:
            let delay = line.backoff.next(random: self.simulation.bits())
            self.simulation.on(self, after: Int(delay.milliseconds)) { [self] in self.act(line, on: .retryDue) }
        }
    }

    func channelOpened(_ channel: BrokerModel.Channel) {
        guard channel.link === self.consuming else { return }
        let line = self.lines[channel.line]
        line.channel = channel
        line.ledger.begin(epoch: channel.epoch)
        self.act(line, on: .channelOpened)
    }

    func consumer(_ channel: BrokerModel.Channel, _ event: ConsumerMachine.Event) {
        let line = self.lines[channel.line]
        if line.channel === channel { self.act(line, on: event) }
    }

    func deliver(_ delivery: SimulatedDelivery, on channel: BrokerModel.Channel) {
        let line = self.lines[channel.line]
        guard line.channel === channel else { return }
        guard line.ledger.delivered(delivery.id.tag) else {
            return self.simulation.fail("w\(self.index) is handed delivery \(delivery.id.tag) out of order")
        }
        self.received(delivery, on: line)
    }

    func flushSettlements() {
        for line in self.lines where line.ledger.hasSettlements {
            var settlements: [DeliveryLedger.Settlement] = []
            line.ledger.takeSettlements { settlements.append($0) }
            if let channel = line.channel { self.simulation.broker.settle(settlements, on: channel) }
            if line.machine.isWaitingForRoom { self.act(line, on: .settled) }
        }
    }
}

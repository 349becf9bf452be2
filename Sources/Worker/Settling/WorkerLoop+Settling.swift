internal import Broker
internal import Loop
internal import Push
internal import Store

/// The end of a message's way: every token is settled, what must go on is published and confirmed, and then the
/// delivery is acknowledged, given back or forgotten. Exactly one of these.
extension WorkerLoop {
    // MARK: Settle

    func settle(_ id: FlightID, _ token: Int, as settlement: Settlement, because reason: String = "") {
        let flight = self.flights[id]
        flight.ledger.settle(token, as: settlement)
        self.trace(flight, token, settlement, because: reason)
        let counters = flight.line.counters
        switch settlement {
        case .delivered:
            self.counters.add(.delivered, counters)
            guard flight.wantsReceipt else { break }
            self.publish(self.copies.receipt(flight, delivered: token, now: self.loop.wallTime), for: id)
        case .retry: self.counters.add(.retried, reason, counters)
        case .deadLetter(let reason, _):
            self.counters.add(.deadLettered, reason.rawValue, counters)
            if reason == .expired { self.counters.add(.expired, counters) }
            if reason == .suspectToken { self.counters.add(.suspectTokens, counters) }
        case .tokenGone: self.counters.add(.tokensGone, counters)
        case .giveBack: self.counters.add(.givenBack, counters)
        }
    }

    /// Once every token is settled, what must go on is published; with nothing to publish the message is done.
    func finishIfComplete(_ id: FlightID) {
        // The broker hands a lost delivery out again: copies would double it. What is done is remembered for then.
        let flight = self.flights[id]
        guard !flight.isLost else { return self.forgetIfIdle(id) }
        guard flight.ledger.isComplete else { return self.markDirty(id) }
        if flight.ledger.givenBack.count == flight.job.tokenCount, flight.deliveryCount < Self.requeueLimit {
            return self.giveBackWhole(id)
        }
        for copy in self.copies.copies(of: flight, now: self.loop.wallTime, random: { .random(in: 0...UInt64.max) }) {
            self.publish(copy, for: id)
        }
        self.acknowledgeIfDone(id)
    }

    func publish(_ copy: Copy, for id: FlightID) {
        self.flights[id].publishing += 1
        self.settler.publish(copy, for: id)
    }

    func confirmed(_ copy: Copy, of id: FlightID) {
        let flight = self.flights[id]
        flight.publishing -= 1
        for token in copy.tokens { flight.ledger.confirm(token) }
        self.acknowledgeIfDone(id)
        if self.flights.contains(id) { self.markDirty(id) }
    }

    /// Whether a copy is not worth another try, since the broker hands the whole message out again: both would be sent.
    func gaveUp(_ id: FlightID) -> Bool {
        guard self.flights[id].isLost else { return false }
        self.flights[id].publishing -= 1
        self.forgetIfIdle(id)
        return true
    }

    private func acknowledgeIfDone(_ id: FlightID) {
        let flight = self.flights[id]
        guard flight.publishing == 0, flight.ledger.isComplete || flight.isLost else { return }
        guard !flight.isLost else { return self.forgetIfIdle(id) }
        self.remove(id, as: .acknowledged)
        flight.line.consumer.ack(flight.delivery)
    }

    // MARK: Give back

    func giveBack(_ id: FlightID, _ token: Int) {
        if self.shutdown.isDraining { self.handedBack += 1 }
        self.settle(id, token, as: .giveBack)
        self.finishIfComplete(id)
    }

    /// Every delivery given back raises the broker's count, and beyond its limit a message is dead. After so many a
    /// copy goes back instead, which begins anew.
    static let requeueLimit = 10

    /// Leaves the rest to the broker.
    func letGo(_ id: FlightID, requeue: Bool) {
        let flight = self.remove(id, as: .returned)
        if requeue { flight.line.consumer.reject(flight.delivery, requeue: true) }
    }

    /// Nothing of it is to be done: another publish of it counts, or it was called off.
    func drop(_ id: FlightID, isCancelled: Bool) {
        for token in 0..<self.flights[id].job.tokenCount {
            self.flights[id].trace(token) { $0.state = isCancelled ? .cancelled : .done }
        }
        let flight = self.remove(id, as: .acknowledged)
        flight.line.consumer.ack(flight.delivery)
    }

    /// The channel of its delivery is gone.
    func deliveryLost(_ id: FlightID) {
        self.flights[id].isLost = true
        self.forgetIfIdle(id)
    }

    /// The delivery is no longer this worker's to answer; once nothing is under way for it, it goes.
    func forgetIfIdle(_ id: FlightID) {
        self.markDirty(id)
        let flight = self.flights[id]
        guard flight.inFlight == 0, flight.publishing == 0 else { return }
        self.writeDone()
        self.remove(id, as: .lost)
    }

    @discardableResult
    private func remove(_ id: FlightID, as end: TrailEnd) -> Flight {
        let flight = self.flights.remove(id)
        self.trace(flight, end)
        flight.line.inFlight -= 1
        return flight
    }
}

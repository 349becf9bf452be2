internal import Broker
internal import Loop
internal import Push
internal import Store

/// How a worker leaves: it takes nothing new, finishes what is in flight, gives the rest back, closes in good order.
extension WorkerLoop {
    /// Takes nothing new, waits for what is in flight as long as the drain timeout allows, gives everything back.
    /// - Parameter completion: called when the worker may leave.
    func drain(_ completion: @escaping () -> Void) {
        guard self.shutdown.begin(at: self.loop.now, within: self.settings.worker.drainTimeout) else { return }
        self.drained = completion
        self.tell.draining(inFlight: self.flights.count)
        self.updatePrefetches()
        for sender in self.allSenders { self.giveBackWaiting(of: sender) }
        self.postVitals()
        self.beat()
        self.every(.milliseconds(20)) { [unowned self] in self.closeIfDrained() }
    }

    private func closeIfDrained() {
        guard self.shutdown.shouldClose(at: self.loop.now, pending: self.flights.count) else { return }
        let left = self.flights.ids
        for id in left { self.abandon(id) }
        self.tell.drained(handedBack: self.handedBack, abandoned: left.count)
        self.postVitals()
        for sender in self.allSenders { sender.drain() }
        self.leave()
    }

    /// Its push may have arrived: the broker hands it to another worker, who counts it as a possible duplicate.
    private func abandon(_ id: FlightID) {
        self.letGo(id, requeue: true)
    }

    private func leave() {
        var steps = self.allSenders.count + 4
        let done: () -> Void = { [self] in
            steps -= 1
            if steps == 0 {
                self.redis.stop()
                self.drained()
            }
        }
        for sender in self.allSenders { sender.release(done) }
        self.trail.stop(done)
        self.flush.stop { [self] _ in self.redis.run(WorkerBeat.goodbye(self.id)) { _ in done() } }
        self.brokerClosed = done
        self.consuming.close()
        self.publishing.close()
    }
}

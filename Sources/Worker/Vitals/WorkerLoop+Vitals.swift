internal import Broker
internal import Loop
internal import Push
internal import Store

/// What probes and metrics are told, without a word from them on the loop's thread.
extension WorkerLoop {
    static let vitalsInterval = Duration.seconds(1)

    /// Called about once a second, and when the worker begins to leave.
    func postVitals() {
        let now = self.loop.now
        let lag = self.vitalsPostedAt.map { now - $0 - Self.vitalsInterval } ?? .zero
        self.vitalsPostedAt = now
        var vitals = WorkerVitals(
            name: self.name,
            time: now,
            requestTimeout: self.settings.worker.requestTimeout
        )
        switch self.shutdown.phase {
        case .running: vitals.phase = .running
        case .draining: vitals.phase = .draining
        case .closing: vitals.phase = .closing
        }
        vitals.isConsumeConnected = self.consuming.state == .connected
        vitals.isPublishConnected = self.publishing.state == .connected
        vitals.isBlocked = self.publishing.blockedReason != nil
        vitals.isRedisUp = self.redis.server != nil
        vitals.arePausesKnown = self.arePausesKnown
        vitals.lanes = self.flush.taken
        vitals.pools = self.allSenders.map(\.vitals)
        for line in self.lines where line.app != nil {
            vitals.prefetch += line.currentPrefetch
            if line.isOpen, (line.sender?.connectionsAllowed ?? 0) > 0 { vitals.wantedQueues += 1 }
            if case .consuming = line.consumer.state { vitals.consumedQueues += 1 }
        }
        vitals.inFlight = self.flights.count
        vitals.outbox = self.settler.unconfirmed
        if vitals.streams == 0 || self.answers != self.answersPosted { self.progressAt = now }
        self.answersPosted = self.answers
        vitals.progressAt = self.progressAt ?? now
        self.vitals.post(vitals, lag: max(.zero, lag))
    }
}

extension Sender {
    /// How this credential's connections fare.
    var vitals: WorkerVitals.Pool {
        var pool = WorkerVitals.Pool(
            name: self.credential.pool,
            allowed: self.connectionsAllowed,
            held: self.connectionsHeld,
            streams: self.inFlight,
            streamLimit: self.streamLimit
        )
        pool.leaseEnds = self.leaseEnds
        pool.problem = self.leaseProblem
        pool.tally = self.connectionTally
        (pool.renewals, pool.failedRenewals) = self.leaseRenewals
        return pool
    }
}

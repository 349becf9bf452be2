internal import APNs
internal import Loop
internal import Push
internal import Store

/// What the worker tells of itself every two seconds.
extension WorkerLoop {
    /// Tells the desk that this worker lives, and what it holds. A lost beat is followed by the next one.
    func beat() {
        var beat = self.identity
        beat.isDraining = self.shutdown.isDraining
        let oldest = self.oldestInHand
        var pauses: [String: (cause: String, since: UnixTime)] = [:]
        for sender in self.allSenders {
            beat.connectionsHeld[sender.credential.pool] = sender.connectionsHeld
            beat.certificatesExpireAt[sender.credential.pool] = sender.certificateExpiry?.notAfter
            self.warnOfExpiry(sender)
        }
        for line in self.lines {
            guard let app = line.app, let lane = line.lane else { continue }
            beat.inFlight["\(app.id).\(lane.rawValue)"] = line.inFlight
            beat.prefetch += line.currentPrefetch
            beat.oldestInHand["\(app.id).\(lane.rawValue)"] = oldest[line.counters]
            guard let cause = line.cause else { continue }
            let last = self.toldPauses[app.id]
            let since = last?.cause == cause ? last?.since : nil
            pauses[app.id] = (cause, since ?? self.loop.wallTime)
        }
        self.toldPauses = pauses
        beat.paused = pauses.mapValues { $0.cause }
        beat.pausedSince = pauses.mapValues { $0.since }
        for line in self.unfinished.retired where line.inFlight > 0 {
            guard let app = line.app, let lane = line.lane else { continue }
            beat.inFlight["\(app.id).\(lane.rawValue)", default: 0] += line.inFlight
        }
        self.send(beat)
        self.askForPauses()
        self.askForDrainOrder()
    }

    /// When the oldest message that it holds was published, by app and lane.
    private var oldestInHand: [CounterSlot: UnixTime] {
        var oldest: [CounterSlot: UnixTime] = [:]
        self.flights.visit { flight in
            guard !flight.isLost else { return }
            let slot = flight.line.counters
            oldest[slot] = min(oldest[slot] ?? flight.published, flight.published)
        }
        return oldest
    }

    /// With nothing new every other beat will do.
    private func send(_ beat: WorkerBeat) {
        let last = self.lastBeat
        self.lastBeat = (beat, isFresh: !(last?.beat == beat && last?.isFresh == true))
        guard self.lastBeat?.isFresh == true else { return }
        self.redis.run(beat.call(after: last?.beat)) { [unowned self] result in
            if case .failure = result { self.lastBeat = nil }
        }
    }

    private func warnOfExpiry(_ sender: Sender) {
        guard let days = sender.certificateExpiry?.warning(at: self.loop.wallTime) else { return }
        self.tell.certificateEnds(sender.credential.name, days: days)
    }
}

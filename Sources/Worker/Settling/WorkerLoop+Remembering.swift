internal import Loop
internal import Push
internal import Store

/// What Redis remembers of unfinished messages, so that a redelivery repeats as little as possible and is counted as a
/// possible duplicate only where it may be one.
extension WorkerLoop {
    // MARK: Claim

    /// A message that is due may have been cancelled, or its publisher may have published it before under another mark:
    /// then it is done with. Without Redis nobody knows, and it is sent.
    func claim(_ id: FlightID, then goOn: @escaping () -> Void) {
        guard let schedule = self.flights[id].schedule else { return self.claimOnce(id, then: goOn) }
        self.ask(ScheduledPush.begin(schedule), for: id, orCount: .cancelled) { [unowned self] in
            self.claimOnce(id, then: goOn)
        }
    }

    private func claimOnce(_ id: FlightID, then goOn: @escaping () -> Void) {
        let flight = self.flights[id]
        guard let mark = flight.once else { return goOn() }
        let call =
            if let letter = flight.replay {
                OnceClaim.call(letter: letter, mark: mark)
            } else {
                OnceClaim.call(message: flight.messageName, mark: mark, tokenCount: flight.job.tokenCount)
            }
        self.ask(call, for: id, orCount: .alreadyDone, then: goOn)
    }

    /// Drops the message if the answer is 0.
    private func ask(
        _ call: ScriptCall,
        for id: FlightID,
        orCount field: CounterField,
        then goOn: @escaping () -> Void
    ) {
        self.redis.run(call) { [unowned self] result in
            guard self.flights.contains(id), !self.flights[id].isLost else { return }
            let flight = self.flights[id]
            guard case .success(.integer(0)) = result else {
                if field == .alreadyDone, flight.replay != nil, case .success(.integer(1)) = result {
                    self.counters.add(.replayed, flight.line.counters, Int64(flight.job.tokenCount))
                }
                return goOn()
            }
            self.counters.add(field, flight.line.counters, Int64(flight.job.tokenCount))
            self.drop(id, isCancelled: field == .cancelled)
        }
    }

    // MARK: Recall

    /// A message that was delivered before may be done in part: Redis knows. The rest is counted as possible duplicates,
    /// unless whoever had the message gave it back untried. Without Redis all of it is sent again, and counted.
    func recall(_ id: FlightID, then decide: @escaping () -> Void) {
        let flight = self.flights[id]
        let count = flight.job.tokenCount
        let call = DoneTokens.take(message: flight.messageName, copy: flight.copyName, tokenCount: count)
        self.redis.run(call) { [unowned self] result in
            guard self.flights.contains(id), !self.flights[id].isLost else { return }
            let memory = DoneTokens.Memory(result, tokenCount: count)
            self.flights[id].ledger = TokenLedger(
                tokenCount: count,
                done: memory.done,
                tellsDelivered: flight.wantsReceipt
            )
            for token in memory.done.tokens { flight.trace(token) { $0.state = .done } }
            self.counters.add(.alreadyDone, flight.line.counters, Int64(memory.done.count))
            if !memory.isUntried {
                self.counters.add(.possibleDuplicates, flight.line.counters, Int64(count - memory.done.count))
            }
            if self.flights[id].ledger.isComplete { return self.finishIfComplete(id) }
            decide()
        }
    }

    // MARK: Remember

    /// Gives a message back that holds no doubt: what of it may have been sent before has been counted, and nothing
    /// since. Redis is told first; otherwise the next worker might ask before it knows.
    func giveBackWhole(_ id: FlightID) {
        self.redis.run(self.mark([self.flights[id].job.tokenCount], of: self.flights[id])) { [unowned self] _ in
            guard self.flights.contains(id) else { return }
            guard !self.flights[id].isLost else { return self.forgetIfIdle(id) }
            self.letGo(id, requeue: true)
        }
    }

    func markDirty(_ id: FlightID) {
        guard self.flights[id].ledger.hasDirty, !self.flights[id].isListedAsDirty else { return }
        self.flights[id].isListedAsDirty = true
        if self.dirty.isEmpty { self.loop.after(.milliseconds(20)) { [unowned self] in self.writeDone() } }
        self.dirty.append(id)
    }

    /// Writes which tokens of unfinished messages are done, so that a redelivery does not send to them again.
    func writeDone() {
        for id in self.dirty where self.flights.contains(id) {
            self.flights[id].isListedAsDirty = false
            let tokens = self.flights[id].ledger.takeDirty()
            self.redis.run(self.mark(tokens, of: self.flights[id])) { _ in }
        }
        self.dirty.removeAll(keepingCapacity: true)
    }

    private func mark(_ tokens: [Int], of flight: Flight) -> ScriptCall {
        DoneTokens.mark(
            message: flight.messageName,
            copy: flight.copyName,
            tokens: tokens,
            life: flight.line.app?.retry.ageLimit ?? .seconds(3600)
        )
    }
}

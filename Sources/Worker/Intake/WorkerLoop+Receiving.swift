internal import APNs
internal import Broker
internal import Loop
internal import Push
internal import Store

/// How a message comes in: received, decoded, admitted. Then it goes on to `Sending`, and nothing flows back.
extension WorkerLoop {
    // MARK: Receive

    func received(_ delivery: Delivery, on line: Line) {
        self.counters.add(.received, line.counters)
        if delivery.redelivered { self.counters.add(.redelivered, line.counters) }
        do throws(Refusal) {
            let job = try self.decode(delivery, on: line)
            self.admit(job, delivery, on: line)
        } catch {
            self.refuse(delivery, error, on: line)
        }
    }

    // MARK: Decode

    private func decode(_ delivery: Delivery, on line: Line) throws(Refusal) -> Job {
        let job = try EnvelopeDecoder.decode(body: delivery.body, fit: line.fit)
        guard let sender = line.sender(for: job) else { throw self.unroutable(job) }
        guard line.isAddressee(of: job) else {
            throw Refusal(
                .appMismatch,
                field: "app",
                "app: the message came through the queue of \(line.app?.id ?? ""); publish with the routing key "
                    + "<app>.<lane> of the app that the body names"
            )
        }
        if line.lint == .strict, let finding = PayloadLint.first(in: job, isBroadcast: job.isBroadcast) {
            throw Refusal(finding)
        }
        if let refusal = sender.refusal(topic: line.topicName(of: job), of: job) { throw refusal }
        if job.isTruncated { self.counters.add(.truncated, line.counters) }
        return job
    }

    /// Why no queue took it.
    private func unroutable(_ job: Job) -> Refusal {
        let name = job.appName
        guard self.settings.apps.contains(where: { $0.id == name }) else {
            return Refusal(
                .unknownApp,
                field: "app",
                "app: \"\(name)\" is not configured; correct it or add it under apps"
            )
        }
        return Refusal(
            .unroutableLane,
            field: "routing key",
            "routing key: it must be <app>.now or <app>.bulk, and the app's queues must be declared"
        )
    }

    /// What is not a job is one dead letter, whole, and costs nobody else anything.
    private func refuse(_ delivery: Delivery, _ refusal: Refusal, on line: Line) {
        let flight = self.flights.insert(Flight(refused: delivery, on: line, now: self.loop.wallTime))
        self.flights[flight].ledger.settle(0, as: .deadLetter(refusal.reason, apns: nil))
        self.flights[flight].refusal = self.words.reason(refusal.reason)
        line.inFlight += 1
        self.counters.add(.deadLettered, refusal.reason.rawValue, line.counters)
        self.publish(self.copies.deadLetter(delivery, refusal, now: self.loop.wallTime), for: flight)
    }

    // MARK: Admit

    private func admit(_ job: Job, _ delivery: Delivery, on line: Line) {
        let now = self.loop.wallTime
        let published = delivery.headers.firstSeen ?? delivery.timestamp
        if let published, delivery.headers.copy == 0, !delivery.redelivered {
            self.counters.received(publishedAt: published, now: now, line.counters)
        }
        line.inFlight += 1
        if line.received(tokens: job.tokenCount) { self.needsPrefetches() }
        let id = self.flights.insert(
            Flight(
                job,
                delivery,
                on: line,
                start: Admission.ageStart(published: published, notBefore: job.notBefore, now: now),
                now: now
            )
        )
        guard delivery.redelivered || delivery.headers.isUnfinished else {
            return self.decide(id, job, published: published, on: line)
        }
        self.recall(id) { [unowned self] in self.decide(id, job, published: published, on: line) }
    }

    private func decide(_ id: FlightID, _ job: Job, published: UnixTime?, on line: Line) {
        guard !line.isRetired else { return self.giveBackOpen(id) }
        let verdict = line.admission.decide(job, published: published, now: self.loop.wallTime)
        let flight = self.flights[id]
        // What is done in part had come due by another worker's clock.
        if case .wait(let until) = verdict, flight.ledger.alreadyDoneCount == 0 {
            return self.hold(id, job, until: until, on: line)
        }
        guard flight.isDoubtful else { return self.act(on: verdict, id, job, on: line) }
        self.claim(id) { [unowned self] in
            guard !line.isRetired else { return self.giveBackOpen(id) }
            self.act(on: verdict, id, job, on: line)
        }
    }

    private func hold(_ id: FlightID, _ job: Job, until: UnixTime, on line: Line) {
        self.counters.add(.held, line.counters)
        let time = until - self.loop.wallTime
        let wait = self.ladder.hold(remaining: time)
        for token in 0..<job.tokenCount {
            self.flights[id].ledger.settle(token, as: .retry(after: wait.level, counted: false))
        }
        self.traceHold(self.flights[id], for: time)
        self.publish(self.copies.hold(self.flights[id], wait), for: id)
    }

    private func act(on verdict: Admission.Verdict, _ id: FlightID, _ job: Job, on line: Line) {
        guard let sender = line.sender(for: job), let lane = line.lane else { return }
        switch verdict {
        case .go:
            if sender === line.broadcasts, self.goesElsewhere(id, sender, on: line) { return }
            // It was on its way when the worker asked for no more.
            guard line.consumer.takesDeliveries else { return self.giveBackOpen(id) }
            sender.enqueue(id, tokens: 0..<job.tokenCount, isUrgent: lane == .now, of: line.turn)
        case .wait: sender.enqueue(id, tokens: 0..<job.tokenCount, isUrgent: lane == .now, of: line.turn)
        case .refuse(let reason):
            for token in self.flights[id].ledger.open { self.settle(id, token, as: .deadLetter(reason, apns: nil)) }
            self.finishIfComplete(id)
        }
    }

    private func giveBackOpen(_ id: FlightID) {
        for token in self.flights[id].ledger.open { self.settle(id, token, as: .giveBack) }
        self.finishIfComplete(id)
    }

    /// Messages are taken as far as connections for other pushes allow. A broadcast without connections of its own goes
    /// back, for the worker whose turn it is, and now and then rests on the way; one that finds too many waiting for a
    /// host that cannot be reached waits in RabbitMQ, so that they do not hold up everything else. While a pause is
    /// probed none may wait here: it could be the one message that is taken.
    private func goesElsewhere(_ id: FlightID, _ sender: Sender, on line: Line) -> Bool {
        let push = SendQueue.Push(flight: id, token: 0)
        if sender.connectionsAllowed == 0 {
            if self.flights[id].deliveryCount < Self.requeueLimit {
                self.giveBack(id, 0)
            } else {
                self.postpone(push, for: .seconds(1), atLeast: false, because: "notConnected")
            }
            return true
        }
        guard sender.isStuck, sender.waiting >= line.currentPrefetch / 8 else { return false }
        self.postpone(push, for: Self.shortestPostponement, atLeast: false, because: "notConnected")
        return true
    }
}

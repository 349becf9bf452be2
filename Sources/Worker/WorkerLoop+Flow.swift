internal import APNs
internal import Broker
internal import Loop
internal import Push
internal import Store

/// A message's way: receive, decode, admit, send, classify. Nothing flows back; how it is settled is in
/// `WorkerLoop+Settling.swift`.
extension WorkerLoop {
    // MARK: Receive

    func received(_ delivery: Delivery, on line: Line) {
        self.counters.add(.received, line.counters)
        if delivery.redelivered { self.counters.add(.redelivered, line.counters) }
        guard !self.shutdown.isDraining else {
            line.consumer.reject(delivery.id, requeue: true)
            return
        }
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
        switch line.kind {
        case .lane(let app, _, _):
            guard line.isAddressee(of: job) else {
                throw Refusal(
                    .appMismatch,
                    field: "app",
                    "app: the message came through the queue of \(app.id); publish with the routing key <app>.<lane> "
                        + "of the app that the body names"
                )
            }
            if line.lint == .strict, let finding = PayloadLint.first(in: job) { throw Refusal(finding) }
            if job.isTruncated { self.counters.add(.truncated, line.counters) }
            return job
        case .unrouted:
            let name = job.appName
            guard self.settings.apps.contains(where: { $0.id == name }) else {
                throw Refusal(
                    .unknownApp,
                    field: "app",
                    "app: \"\(name)\" is not configured; correct it or add it under apps"
                )
            }
            throw Refusal(
                .unroutableLane,
                field: "routing key",
                "routing key: it must be <app>.now or <app>.bulk, and the app's queues must be declared"
            )
        }
    }

    /// What is not a job is one dead letter, whole, and costs nobody else anything.
    private func refuse(_ delivery: Delivery, _ refusal: Refusal, on line: Line) {
        let flight = self.flights.insert(Flight(refused: delivery, on: line, now: self.loop.wallTime))
        self.flights[flight].ledger.settle(0, as: .deadLetter(refusal.reason, apns: nil))
        line.inFlight += 1
        self.counters.add(.deadLettered, refusal.reason.rawValue, line.counters)
        self.publish(self.copies.deadLetter(delivery, refusal, now: self.loop.wallTime), for: flight)
    }

    // MARK: Admit

    private func admit(_ job: Job, _ delivery: Delivery, on line: Line) {
        guard case .lane(_, let lane, let sender) = line.kind else { return }
        let now = self.loop.wallTime
        let published = delivery.headers.firstSeen ?? delivery.timestamp
        line.received(tokens: job.tokenCount)
        line.inFlight += 1
        let id = self.flights.insert(
            Flight(
                job,
                delivery,
                on: line,
                start: Admission.ageStart(published: published, notBefore: job.notBefore, now: now),
                now: now
            )
        )
        switch line.admission.decide(job, published: published, now: now) {
        case .go:
            if delivery.redelivered {
                self.recallDone(id, sender: sender, isUrgent: lane == .now)
            } else {
                sender.enqueue(id, tokens: 0..<job.tokenCount, isUrgent: lane == .now)
            }
        case .wait(let until):
            self.counters.add(.held, line.counters)
            let wait = self.ladder.hold(remaining: until - now)
            for token in 0..<job.tokenCount {
                self.flights[id].ledger.settle(token, as: .retry(after: wait.level, counted: false))
            }
            return self.publish(self.copies.hold(self.flights[id], wait), for: id)
        case .refuse(let reason):
            for token in 0..<job.tokenCount { self.settle(id, token, as: .deadLetter(reason, apns: nil)) }
            self.finishIfComplete(id)
        }
    }

    /// A message that was delivered before may be done in part: Redis knows. Without Redis all of it is sent again,
    /// and counted as possible duplicates.
    private func recallDone(_ id: FlightID, sender: Sender, isUrgent: Bool) {
        let flight = self.flights[id]
        let command = DoneTokens.read(message: flight.messageName, copy: flight.copyName)
        self.redis.send(command) { [weak self] result in
            guard let self, self.flights.contains(id), !self.flights[id].isLost else { return }
            guard !self.shutdown.isDraining else { return self.letGo(id, requeue: true) }
            if case .success(.string(let bitmap)) = result {
                let done = TokenBits(capacity: flight.job.tokenCount, redisBitmap: bitmap)
                self.flights[id].ledger = TokenLedger(tokenCount: flight.job.tokenCount, done: done)
                self.counters.add(.alreadyDone, flight.line.counters, Int64(done.count))
            }
            if self.flights[id].ledger.isComplete { return self.finishIfComplete(id) }
            sender.enqueue(id, tokens: 0..<flight.job.tokenCount, isUrgent: isUrgent)
        }
    }

    // MARK: Send

    /// Sends one push through `submit`, if it is still to be sent.
    func send(_ push: SendQueue.Push, submit: (Job, ApnsID, [UInt8]) -> Void) -> Bool {
        guard self.flights.contains(push.flight), !self.flights[push.flight].isLost,
            !self.flights[push.flight].ledger.isSettled(push.token)
        else { return false }
        let job = self.flights[push.flight].job
        if let expiry = job.expiresAt, expiry.milliseconds > 0, expiry <= self.loop.wallTime {
            self.settle(push.flight, push.token, as: .deadLetter(.expired, apns: nil))
            self.finishIfComplete(push.flight)
            return false
        }
        self.flights[push.flight].inFlight += 1
        self.flights[push.flight].wasSent = true
        let line = self.flights[push.flight].line
        self.counters.add(.attempts, line.counters)
        if self.flights[push.flight].redelivered { self.counters.add(.possibleDuplicates, line.counters) }
        let length = job.writeToken(push.token, to: self.tokenBuffer)
        let id = ApnsID(
            messageID: self.flights[push.flight].messageID,
            token: UnsafeRawBufferPointer(rebasing: self.tokenBuffer[..<length])
        )
        submit(job, id, job.isBroadcast ? line.bundleID : line.topic(job.pushType))
        return true
    }

    // MARK: Classify

    func received(
        _ reply: Reply,
        _ classification: Classification,
        latency: Duration,
        context: UInt64
    ) {
        let (id, token) = (FlightID(context: context), FlightID.token(context: context))
        guard self.flights.contains(id) else { return }
        self.flights[id].inFlight -= 1
        let line = self.flights[id].line
        self.counters.observe(.apnsLatency, latency, line.counters)
        if case .delivered = classification.outcome {
            self.counters.observe(.endToEnd, self.loop.wallTime - self.flights[id].published, line.counters)
            if line.accepted() { self.resumed(line) }
            self.settle(id, token, as: .delivered)
            return self.finishIfComplete(id)
        }
        // The pool does not know what was asked. What it judges by itself, the connection's fate, is the same for both.
        let isBroadcast = self.flights[id].job.isBroadcast
        let classification = isBroadcast ? Classification.classify(reply, api: .broadcast) : classification
        self.counters.add(.answered, reply.counterName, line.counters)
        if classification.alert { self.tell.alert(reply, app: line.app?.id ?? "") }
        if classification.flags.contains(.pauseLane) { self.pause(line, reason: reply.reason) }
        self.apply(classification, apns: reply.reason, id, token, because: reply.counterName)
    }

    func failed(_ failure: SendFailure, context: UInt64) {
        let (id, token) = (FlightID(context: context), FlightID.token(context: context))
        guard self.flights.contains(id) else { return }
        self.flights[id].inFlight -= 1
        self.counters.add(.unanswered, failure.cause.name, self.flights[id].line.counters)
        self.apply(Classification.classify(failure), apns: nil, id, token, because: failure.cause.name)
    }

    /// - Parameters:
    ///   - apns: what Apple said; it stands in the dead letter if this was the last word.
    ///   - reason: for the counter of retries: the same, or why there was no answer.
    private func apply(
        _ classification: Classification,
        apns: ApnsReason?,
        _ id: FlightID,
        _ token: Int,
        because reason: String
    ) {
        let flight = self.flights[id]
        guard !flight.isLost else { return self.forgetIfIdle(id) }
        guard let app = flight.line.app, let lane = flight.line.lane, let sender = flight.line.sender else { return }
        switch classification.outcome {
        case .delivered:
            self.settle(id, token, as: .delivered)
        case .retry(let counts, let possibleDuplicate, let floor):
            if possibleDuplicate { self.counters.add(.possibleDuplicates, flight.line.counters) }
            if self.shutdown.isDraining, !counts { return self.giveBack(id, token) }
            // Certainly not processed: resent at once on another connection, as long as that does not go on for ever.
            if !counts, floor == nil, flight.resends < Self.resendLimit {
                self.flights[id].resends += 1
                self.counters.add(.resent, flight.line.counters)
                return sender.enqueue(id, tokens: token..<token + 1, isUrgent: lane == .now)
            }
            let next = app.retry.next(
                attempts: flight.attempts + 1,
                now: self.loop.wallTime,
                start: flight.start,
                expiresAt: flight.job.expiresAt,
                floor: floor,
                ladder: self.ladder
            )
            switch next {
            case .retry(let level):
                self.settle(id, token, as: .retry(after: level, counted: counts), because: reason)
            case .stop(let stop): self.settle(id, token, as: .deadLetter(stop, apns: apns))
            }
        case .deadLetter(let verdict):
            self.settle(id, token, as: .deadLetter(verdict, apns: apns))
        case .tokenGone(let time, let reason):
            self.settle(id, token, as: .tokenGone(at: time, reason))
        case .suspectToken(let reason):
            self.settle(id, token, as: .deadLetter(.suspectToken, apns: reason))
        case .credentialFault(let reason):
            let onceMore = classification.flags.contains(.retryOnce) || classification.refreshProviderToken
            if onceMore, flight.resends == 0 {
                self.flights[id].resends += 1
                return sender.enqueue(id, tokens: token..<token + 1, isUrgent: lane == .now)
            }
            self.pause(flight.line, reason: reason)
            return self.giveBack(id, token)
        }
        self.finishIfComplete(id)
    }

    private static let resendLimit = 20
}

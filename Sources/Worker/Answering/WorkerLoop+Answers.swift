internal import APNs
internal import Broker
internal import Loop
internal import Push
internal import Store

/// What Apple's answer to a push means, and what becomes of the token.
extension WorkerLoop {
    // MARK: Classify

    func received(
        _ reply: Reply,
        _ classification: Classification,
        latency: Duration,
        context: UInt64,
        connection: Int,
        from sender: Sender
    ) {
        self.answers &+= 1
        let (id, token) = (FlightID(context: context), FlightID.token(context: context))
        guard let flight = self.flights.find(id) else { return }
        flight.inFlight -= 1
        let line = flight.line
        sender.ended(line.turn.app)
        let hash = flight.fingerprint(token)
        flight.answered(
            token,
            after: flight.milliseconds(at: self.loop.wallTime),
            connection: connection,
            name: reply.status == 200 ? 0 : self.words.answer(reply)
        )
        let answered = PushAnswered(line: line, context: context)
        self.counters.observe(.apnsLatency, latency, line.counters)
        if flight.wantsReceipt { flight.latencies[token] = latency.milliseconds }
        if case .delivered = classification.outcome {
            self.counters.observe(.endToEnd, self.loop.wallTime - flight.published, line.counters)
            self.hear(.accepted, of: answered)
            if !line.gate.doubts.isEmpty {
                let topic = self.topic(of: flight.job, on: line)
                line.gate.accepted(topic, sentAt: self.loop.now - latency)
            }
            self.settle(id, token, as: .delivered)
            self.finishIfComplete(id)
            return self.releaseToken(hash, accepted: true)
        }
        // The pool does not know what was asked. What it judges by itself, the connection's fate, is the same for both.
        let isBroadcast = flight.job.isBroadcast
        let classification = isBroadcast ? Classification.classify(reply, api: .broadcast) : classification
        self.counters.add(.answered, reply.counterName, line.counters)
        if classification.alert { self.tell.alert(reply, app: line.app?.id ?? "") }
        self.hear(
            classification.evidence,
            isOutage: reply.status >= 500 && classification.evidence == .nothing,
            isTopicFault: classification.flags.contains(.topicScoped),
            of: answered
        )
        if classification.flags.contains(.pauseLane) { self.pause(line, .credential, reason: reply.reason) }
        if case .credentialFault(let reason) = classification.outcome, !flight.isLost {
            self.credentialFault(reason, classification, answered, id, token, sentAt: self.loop.now - latency)
        } else {
            self.apply(classification, apns: reply.reason, answered, hash, id, token, because: reply.counterName)
        }
        self.releaseToken(hash, accepted: false)
    }

    func failed(_ failure: SendFailure, context: UInt64, connection: Int, from sender: Sender) {
        self.answers &+= 1
        let (id, token) = (FlightID(context: context), FlightID.token(context: context))
        guard let flight = self.flights.find(id) else { return }
        flight.inFlight -= 1
        let line = flight.line
        sender.ended(line.turn.app)
        let hash = flight.fingerprint(token)
        flight.answered(
            token,
            after: flight.milliseconds(at: self.loop.wallTime),
            connection: connection,
            name: self.words.failure(failure)
        )
        let answered = PushAnswered(line: line, context: context)
        let classification = Classification.classify(failure)
        self.counters.add(.unanswered, failure.cause.name, line.counters)
        self.hear(classification.evidence, isOutage: failure == .maybeSent(.timeout), of: answered)
        self.apply(classification, apns: nil, answered, hash, id, token, because: failure.cause.name)
        self.releaseToken(hash, accepted: false)
    }

    private func releaseToken(_ hash: UInt64, accepted: Bool) {
        for push in self.throttle.answered(hash, accepted: accepted) { self.enqueueAgain(push) }
    }

    /// - Parameters:
    ///   - apns: what Apple said; it stands in the dead letter if this was the last word.
    ///   - reason: for the counter of retries: the same, or why there was no answer.
    private func apply(
        _ classification: Classification,
        apns: ApnsReason?,
        _ answered: PushAnswered,
        _ hash: UInt64,
        _ id: FlightID,
        _ token: Int,
        because reason: String
    ) {
        let flight = self.flights[id]
        guard !flight.isLost else { return self.forgetIfIdle(id) }
        guard let app = flight.line.app else { return }
        switch classification.outcome {
        case .delivered:
            self.settle(id, token, as: .delivered)
        case .retry(let counts, let possibleDuplicate, let floor):
            if possibleDuplicate { self.counters.add(.possibleDuplicates, flight.line.counters) }
            if !counts, self.shutdown.isDraining || flight.line.passage == .giveBack {
                return self.giveBack(id, token)
            }
            // Certainly not processed: resent at once on another connection, as long as that does not go on for ever.
            if !counts, floor == nil, flight.resends < Self.resendLimit * flight.job.tokenCount {
                flight.resends += 1
                self.counters.add(.resent, flight.line.counters)
                return self.enqueueAgain(SendQueue.Push(flight: id, token: token))
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
                if classification.flags.contains(.sameTokenOnly) {
                    // As long as the first of its copies may take to come back.
                    self.throttle.rest(hash, until: self.loop.now + level.duration * 4 / 5)
                }
                self.settle(id, token, as: .retry(after: level, counted: counts), because: reason)
            case .stop(let stop): self.settle(id, token, as: .deadLetter(stop, apns: apns))
            }
        case .deadLetter(let verdict):
            self.settle(id, token, as: .deadLetter(verdict, apns: apns))
        case .tokenGone(let time, let reason):
            self.settle(id, token, as: .tokenGone(at: time, reason))
        case .suspectToken(let reason):
            // What was on its way when the breaker opened may be fine once the configuration is.
            if answered.isLate { return self.giveBack(id, token) }
            self.settle(id, token, as: .deadLetter(.suspectToken, apns: reason))
        case .credentialFault(let reason):
            // Only answers say so, and those are not judged here.
            self.pause(flight.line, .credential, reason: reason)
            return self.giveBack(id, token)
        }
        self.finishIfComplete(id)
    }

    private func credentialFault(
        _ reason: ApnsReason?,
        _ classification: Classification,
        _ answered: PushAnswered,
        _ id: FlightID,
        _ token: Int,
        sentAt time: MonotonicTime
    ) {
        let line = answered.line
        let isScoped = classification.flags.contains(.topicScoped)
        let topic = isScoped ? self.topic(of: self.flights[id].job, on: line) : []
        let onceMore = classification.flags.contains(.retryOnce) || classification.refreshProviderToken
        if onceMore, !answered.isProbe, line.passage == .go, line.gate.topics[topic] == nil,
            !line.gate.doubts[topic, default: CredentialDoubt()].refused(sentAt: time, at: self.loop.now),
            self.flights[id].takeSecondChance(token)
        {
            return self.enqueueAgain(SendQueue.Push(flight: id, token: token))
        }
        line.gate.doubts[topic] = nil
        guard isScoped else {
            self.pause(line, .credential, reason: reason)
            return self.giveBack(id, token)
        }
        self.pauseTopic(topic, of: line, reason: reason)
        self.postpone(
            SendQueue.Push(flight: id, token: token),
            for: Self.shortestPostponement,
            atLeast: false,
            because: reason?.counterName ?? "none"
        )
    }

    private static let resendLimit = 20
}

extension Classification {
    /// What it says of app and credential.
    var evidence: Pause.Evidence {
        switch self.outcome {
        case .delivered, .tokenGone: .accepted
        case .suspectToken: .suspect
        case .credentialFault: self.flags.contains(.topicScoped) ? .answered : .refused
        case .deadLetter: self.flags.contains(.pauseLane) ? .refused : .answered
        case .retry(let counts, _, let floor):
            if self.flags.contains(.sameTokenOnly) { .answered } else { !counts && floor == nil ? .unsent : .nothing }
        }
    }
}

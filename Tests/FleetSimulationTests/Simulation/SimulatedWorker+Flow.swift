import Push

@testable import APNs
@testable import Broker
@testable import Store
@testable import Worker

/// One message between its delivery and its acknowledgement; mirrors `Flight`.
final class SimulatedFlight {
    let delivery: DeliveryID
    let line: SimulatedLine
    let message: SimulatedMessage
    let start: UnixTime
    let deliveryCount: Int
    var ledger: TokenLedger
    var inFlight = 0
    var wasSent = false
    var publishing = 0
    var resends = 0
    var secondChances: Set<Int> = []
    var isLost = false
    var isListedAsDirty = false

    init(_ delivery: SimulatedDelivery, on line: SimulatedLine, start: UnixTime) {
        self.delivery = delivery.id
        self.line = line
        self.message = delivery.message
        self.start = start
        self.deliveryCount = delivery.deliveryCount
        self.ledger = TokenLedger(tokenCount: delivery.message.tokens.count)
    }

    var attempts: Int { self.message.attempt }
    var tokenCount: Int { self.message.tokens.count }

    /// The key of what Redis remembers of it.
    func key(_ bug: SeededBug?) -> String {
        if bug == .copiesShareMemory { return "\(self.message.name).\(self.attempts).\(self.message.tokens[0].number)" }
        return "\(self.message.name).\(self.message.generation).\(self.message.tokens.map(\.number))"
    }
}

/// Mirrors `WorkerLoop+Receiving.swift`, `+Sending`, `+Answers`, `+Pausing` and `+Remembering`, without topics,
/// broadcasts and provider tokens.
extension SimulatedWorker {
    // MARK: Receive and admit

    func received(_ delivery: SimulatedDelivery, on line: SimulatedLine) {
        let message = delivery.message
        let now = self.wallTime
        let published = message.firstSeen ?? message.timestamp
        line.inFlight += 1
        _ = line.prefetch.received(tokens: message.tokens.count, held: line.inFlight)
        self.flightCount += 1
        let id = FlightID(slot: self.flightCount, generation: 0)
        let start = Admission.ageStart(published: published, notBefore: message.notBefore, now: now)
        let flight = SimulatedFlight(delivery, on: line, start: start)
        self.flights[id] = flight
        self.simulation.note(
            "w\(self.index) takes \(message.text) from queue \(line.index)\(delivery.redelivered ? ", again" : "")"
        )
        guard delivery.redelivered else { return self.decide(id, flight, published: published) }
        let (key, count) = (flight.key(self.simulation.bug), flight.tokenCount)
        self.simulation.command(of: self) {
            $0.take(key, tokenCount: count)
        } _: { [self] memory in
            guard self.flights[id] === flight, !flight.isLost else { return }
            if let memory { flight.ledger = TokenLedger(tokenCount: count, done: memory.done) }
            self.simulation.note("w\(self.index) learns that \(flight.ledger.alreadyDoneCount) pushes of it are done")
            self.simulation.tally.alreadyDone += flight.ledger.alreadyDoneCount
            if flight.ledger.isComplete { return self.finishIfComplete(id, flight) }
            self.decide(id, flight, published: published)
        }
    }

    private func decide(_ id: FlightID, _ flight: SimulatedFlight, published: UnixTime) {
        let message = flight.message
        let now = self.wallTime
        let verdict = flight.line.admission.decide(
            expiresAt: message.expiresAt,
            notBefore: message.notBefore,
            published: published,
            now: now
        )
        switch verdict {
        case .go:
            guard flight.line.machine.wanted > 0 else {
                for token in flight.ledger.open { self.settle(flight, token, as: .giveBack) }
                return self.finishIfComplete(id, flight)
            }
            self.enqueue(id, 0..<flight.tokenCount, flight)
        case .wait where flight.ledger.alreadyDoneCount > 0:
            self.enqueue(id, 0..<flight.tokenCount, flight)
        case .wait(let until):
            self.simulation.tally.held += 1
            let wait = self.ladder.hold(remaining: until - now)
            for token in 0..<flight.tokenCount {
                flight.ledger.settle(token, as: .retry(after: wait.level, counted: false))
            }
            var held = message
            held.firstSeen = flight.start
            held.generation += 1
            let copy = SimulatedCopy(
                message: held,
                target: .delay(wait.level, expiration: wait.expiration),
                tokens: Array(0..<flight.tokenCount)
            )
            self.publish(copy, for: id, flight)
        case .refuse(let reason):
            for token in flight.ledger.open { self.settle(flight, token, as: .deadLetter(reason, apns: nil)) }
            self.finishIfComplete(id, flight)
        }
    }

    private func enqueue(_ id: FlightID, _ tokens: Range<Int>, _ flight: SimulatedFlight) {
        self.queue.append(id, tokens: tokens, isUrgent: flight.line.lane == .now, of: AppTurn(app: flight.line.app))
        self.needsPump = true
    }

    func enqueueAgain(_ push: SendQueue.Push) {
        guard let flight = self.flights[push.flight] else { return }
        self.enqueue(push.flight, push.token..<push.token + 1, flight)
    }

    // MARK: Send

    /// Mirrors `WorkerLoop.send` and `mayGo`.
    func mayGo(_ push: SendQueue.Push) -> Bool {
        guard let flight = self.flights[push.flight], !flight.isLost, !flight.ledger.isSettled(push.token) else {
            return false
        }
        if let expiry = flight.message.expiresAt, expiry <= self.wallTime {
            self.settle(flight, push.token, as: .deadLetter(.expired, apns: nil))
            self.finishIfComplete(push.flight, flight)
            return false
        }
        let line = flight.line
        switch line.passage {
        case .go: break
        case .hold:
            self.held.append(push)
            return false
        case .giveBack:
            self.giveBack(push, flight)
            return false
        }
        let rate = line.rate.flatMap { rate in
            self.simulation.bug == .retriesTakeNoToken && flight.attempts > 0 ? nil : rate
        }
        if let rate, !rate.hasToken() {
            rate.wait(push, isUrgent: line.lane == .now)
            return false
        }
        let device = self.hash(flight, push.token)
        switch self.throttle.admit(device, at: self.now) {
        case .go: break
        case .wait:
            self.throttle.wait(push, for: device)
            return false
        case .rest(let until):
            self.simulation.tally.rested += 1
            self.postpone(push, flight, for: until - self.now)
            return false
        }
        rate?.take()
        if !line.isOpen {
            let context = push.flight.context(token: push.token)
            line.gate.pause.sent(context, at: self.now)
            line.credential.circuit.sent(context, at: self.now)
        }
        return true
    }

    private func hash(_ flight: SimulatedFlight, _ token: Int) -> UInt64 {
        UInt64(flight.message.tokens[token].device) &* 0x9e37_79b9_7f4a_7c15
    }

    private func postpone(_ push: SendQueue.Push, _ flight: SimulatedFlight, for time: Duration) {
        let next = self.setup.retry.postponed(
            to: self.ladder.level(atLeast: time),
            now: self.wallTime,
            start: flight.start,
            expiresAt: flight.message.expiresAt
        )
        switch next {
        case .retry(let level): self.settle(flight, push.token, as: .retry(after: level, counted: false))
        case .stop(let stop): self.settle(flight, push.token, as: .deadLetter(stop, apns: nil))
        }
        self.finishIfComplete(push.flight, flight)
    }

    // MARK: Classify

    func answered(_ request: SimulatedConnection.Request, _ reply: Reply, _ classification: Classification) {
        let (id, token) = (FlightID(context: request.context), FlightID.token(context: request.context))
        guard let flight = self.flights[id] else { return }
        flight.inFlight -= 1
        let device = self.hash(flight, token)
        let heard = Heard(flight.line, request.context)
        if case .delivered = classification.outcome {
            self.hear(.accepted, of: heard)
            if flight.line.gate.doubts[[]]?.accepted(sentAt: request.sent) == true { flight.line.gate.doubts[[]] = nil }
            self.settle(flight, token, as: .delivered)
            self.finishIfComplete(id, flight)
            return self.releaseToken(device, accepted: true)
        }
        let evidence = classification.evidence
        self.hear(evidence, isOutage: reply.status >= 500 && evidence == .nothing, of: heard)
        if classification.flags.contains(.pauseLane) { self.pause(flight.line, .credential) }
        if case .credentialFault = classification.outcome, !flight.isLost {
            self.credentialFault(classification, heard, id, flight, token, sentAt: request.sent)
        } else {
            self.apply(classification, reply.reason, heard, id, flight, token)
        }
        self.releaseToken(device, accepted: false)
    }

    func failed(_ context: UInt64, _ failure: SendFailure) {
        let (id, token) = (FlightID(context: context), FlightID.token(context: context))
        guard let flight = self.flights[id] else { return }
        flight.inFlight -= 1
        let device = self.hash(flight, token)
        let heard = Heard(flight.line, context)
        let classification = Classification.classify(failure)
        self.hear(classification.evidence, isOutage: failure == .maybeSent(.timeout), of: heard)
        self.apply(classification, nil, heard, id, flight, token)
        self.releaseToken(device, accepted: false)
    }

    private func releaseToken(_ device: UInt64, accepted: Bool) {
        for push in self.throttle.answered(device, accepted: accepted) { self.enqueueAgain(push) }
    }

    private func apply(
        _ classification: Classification,
        _ apns: ApnsReason?,
        _ heard: Heard,
        _ id: FlightID,
        _ flight: SimulatedFlight,
        _ token: Int
    ) {
        guard !flight.isLost || self.simulation.bug == .settlesLostDelivery else {
            return self.forgetIfIdle(id, flight)
        }
        let push = SendQueue.Push(flight: id, token: token)
        switch classification.outcome {
        case .delivered: self.settle(flight, token, as: .delivered)
        case .retry(let counts, _, let floor):
            if !counts, self.shutdown.isDraining || flight.line.passage == .giveBack {
                return self.giveBack(push, flight)
            }
            if !counts, floor == nil, flight.resends < 20 * flight.tokenCount {
                flight.resends += 1
                if self.simulation.bug != .forgetsResend { self.enqueueAgain(push) }
                return
            }
            let next = self.setup.retry.next(
                attempts: flight.attempts + 1,
                now: self.wallTime,
                start: flight.start,
                expiresAt: flight.message.expiresAt,
                floor: floor,
                ladder: self.ladder
            )
            switch next {
            case .retry(let level):
                if classification.flags.contains(.sameTokenOnly) {
                    self.throttle.rest(self.hash(flight, token), until: self.now + level.duration * 4 / 5)
                }
                self.settle(flight, token, as: .retry(after: level, counted: counts))
            case .stop(let stop): self.settle(flight, token, as: .deadLetter(stop, apns: apns))
            }
        case .deadLetter(let reason): self.settle(flight, token, as: .deadLetter(reason, apns: apns))
        case .tokenGone(let time, let reason): self.settle(flight, token, as: .tokenGone(at: time, reason))
        case .suspectToken(let reason):
            if heard.isLate { return self.giveBack(push, flight) }
            self.settle(flight, token, as: .deadLetter(.suspectToken, apns: reason))
        case .credentialFault:
            self.pause(flight.line, .credential)
            return self.giveBack(push, flight)
        }
        self.finishIfComplete(id, flight)
    }

    private func credentialFault(
        _ classification: Classification,
        _ heard: Heard,
        _ id: FlightID,
        _ flight: SimulatedFlight,
        _ token: Int,
        sentAt time: MonotonicTime
    ) {
        let push = SendQueue.Push(flight: id, token: token)
        let gate = flight.line.gate
        let onceMore = classification.flags.contains(.retryOnce) || classification.refreshProviderToken
        if onceMore, !heard.isProbe, flight.line.passage == .go,
            !gate.doubts[[], default: CredentialDoubt()].refused(sentAt: time, at: self.now),
            flight.secondChances.insert(token).inserted
        {
            return self.enqueueAgain(push)
        }
        gate.doubts[[]] = nil
        self.pause(flight.line, .credential)
        self.giveBack(push, flight)
    }

    // MARK: Pausing

    /// Mirrors `WorkerLoop.hear`.
    private func hear(_ evidence: Pause.Evidence, isOutage: Bool = false, of heard: Heard) {
        let line = heard.line
        if evidence == .accepted, line.isOpen {
            line.credential.circuit.answered()
            _ = line.gate.breaker.answered(isSuspect: false)
            return
        }
        let now = self.now
        if isOutage {
            if line.credential.circuit.failed(at: now) {
                self.simulation.tally.outages += 1
                self.simulation.note("w\(self.index) outage")
                self.changed(.paused)
            }
        } else if evidence != .nothing, evidence != .unsent {
            line.credential.circuit.answered()
        }
        self.changed(line.credential.circuit.heard(evidence, of: heard.context, at: now))
        let change = line.gate.pause.heard(evidence, of: heard.context, at: now)
        if change == .resumed { line.gate.breaker.clear() }
        self.changed(change, app: line.app)
        guard evidence == .accepted || evidence == .suspect, !heard.isLate else { return }
        if line.gate.breaker.answered(isSuspect: evidence == .suspect) { self.pause(line, .suspects) }
    }

    private func changed(_ change: Pause.Change, app: Int? = nil) {
        switch change {
        case .none: return
        case .paused:
            self.updatePrefetches()
            self.giveBackWaiting(app: app)
        case .probesAgain: self.releaseHeld()
        case .resumed:
            self.updatePrefetches()
            self.releaseHeld()
        }
    }

    private func pause(_ line: SimulatedLine, _ cause: Pause.Cause) {
        guard line.gate.pause.begin(cause, at: self.now) else { return }
        self.simulation.tally.pauses += 1
        self.simulation.note("w\(self.index) app \(line.app) pauses: \(cause.rawValue)")
        self.changed(.paused, app: line.app)
    }

    func probeWhatIsDue() {
        for line in self.lines {
            // Each worker by itself, as without Redis: the fleet's part of pauses has a simulation of its own.
            _ = line.gate.pause.unanswered(canProbe: true, at: self.now)
            _ = line.credential.circuit.isDue(at: self.now)
        }
    }

    private func releaseHeld() {
        let pushes = self.held
        self.held = []
        for push in pushes { self.enqueueAgain(push) }
    }

    /// Gives back what waits to be sent, of one app or of all.
    func giveBackWaiting(app: Int? = nil) {
        var pushes = self.queue.takeAll() + self.held + self.throttle.takeWaiting()
        self.held = []
        for rate in self.rates { pushes += rate.takeWaiting() }
        for push in pushes {
            guard let flight = self.flights[push.flight] else { continue }
            if app == nil || app == flight.line.app {
                // A redelivered message is queued whole, with tokens that were done before.
                let isSettled = flight.ledger.isSettled(push.token) && self.simulation.bug != .givesBackDoneTokens
                if !flight.isLost, !isSettled { self.giveBack(push, flight) }
            } else {
                self.enqueueAgain(push)
            }
        }
    }
}

/// How an answer's app stood when it came; mirrors `PushAnswered`.
struct Heard {
    let line: SimulatedLine
    let context: UInt64
    let isProbe: Bool
    let isLate: Bool

    init(_ line: SimulatedLine, _ context: UInt64) {
        self.line = line
        self.context = context
        self.isProbe = !line.gate.pause.isFlowing && line.gate.pause.isProbe(context)
        self.isLate = line.gate.cause == .suspects && !self.isProbe
    }
}

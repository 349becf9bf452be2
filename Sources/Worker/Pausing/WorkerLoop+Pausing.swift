internal import APNs
internal import Broker
internal import Loop
internal import Push
internal import Store

/// What stops an app, one of its topics or a whole credential, and what lets it flow again. The rules are in `Pause`,
/// `SuspectBreaker` and `OutageCircuit`.
extension WorkerLoop {
    // MARK: Hearing

    /// What an answer, or the lack of one, says of the app and the credential, beside what it says of the push.
    /// - Parameters:
    ///   - isOutage: whether it is what an Apple that is down answers.
    ///   - isTopicFault: whether Apple refuses the credential for the push's topic only.
    func hear(
        _ evidence: Pause.Evidence,
        isOutage: Bool = false,
        isTopicFault: Bool = false,
        of push: PushAnswered
    ) {
        let line = push.line
        if evidence == .accepted, line.isOpen, line.gate.topics.isEmpty {
            // Nearly always.
            line.credentialGate.circuit.answered()
            if line.gate.breaker.isYoung { self.answeredEarly(line, isSuspect: false) }
            _ = line.gate.breaker.answered(isSuspect: false)
            return
        }
        let now = self.loop.now
        if isOutage {
            if line.credentialGate.circuit.failed(at: now) { self.outageBegan(line) }
        } else if evidence != .nothing, evidence != .unsent {
            line.credentialGate.circuit.answered()
        }
        self.outage(line.credentialGate.circuit.heard(evidence, of: push.context, at: now), line)
        self.changed(line, line.gate.pause.heard(evidence, of: push.context, at: now))
        if !line.gate.topics.isEmpty { self.hearOfTopic(isTopicFault ? .refused : evidence, of: push, at: now) }
        guard evidence == .accepted || evidence == .suspect, !push.isLate else { return }
        if line.gate.breaker.isYoung { self.answeredEarly(line, isSuspect: evidence == .suspect) }
        if line.gate.breaker.answered(isSuspect: evidence == .suspect) { self.pause(line, .suspects, reason: nil) }
    }

    private func hearOfTopic(_ evidence: Pause.Evidence, of push: PushAnswered, at now: MonotonicTime) {
        let gate = push.line.gate
        for topic in gate.topics.keys where gate.topics[topic]?.isProbe(push.context) == true {
            guard gate.topics[topic]?.heard(evidence, of: push.context, at: now) == .resumed else { continue }
            gate.topics[topic] = nil
            self.tell.topicResumed(push.line.app?.id ?? "", topic: topic)
        }
    }

    func changed(_ line: Line, _ change: Pause.Change) {
        switch change {
        case .none: return
        case .paused:
            self.stopped(line)
            self.tellFleet(of: line)
        case .probesAgain: self.release()
        case .resumed:
            line.gate.breaker.clear()
            for other in self.lines where other.gate === line.gate { self.tell.resumed(other.queue) }
            self.updatePrefetches()
            self.release()
            self.tellFleet(of: line)
        }
    }

    // MARK: Stopping

    /// Stops an app for what Apple says of its credential or its tokens; its messages stay in RabbitMQ.
    func pause(_ line: Line, _ cause: Pause.Cause, reason: ApnsReason?) {
        guard line.gate.pause.begin(cause, at: self.loop.now) else { return }
        self.stopped(line)
        self.tellFleet(of: line)
        for other in self.lines where other.gate === line.gate {
            switch cause {
            case .credential: self.tell.paused(other.queue, reason: reason)
            case .suspects: self.tell.breakerOpened(other.queue)
            case .outage: break
            }
        }
        self.counters.add(cause == .suspects ? .breakerOpened : .credentialPauses, line.counters)
    }

    /// Stops one topic of an app: the credential may not push to it, but may to others.
    func pauseTopic(_ topic: [UInt8], of line: Line, reason: ApnsReason?) {
        guard line.gate.topics[topic, default: Pause()].begin(.credential, at: self.loop.now) else { return }
        self.counters.add(.credentialPauses, line.counters)
        self.tell.topicPaused(line.app?.id ?? "", topic: topic, reason: reason)
    }

    /// What was taken for a stopped app goes back.
    func stopped(_ line: Line) {
        self.updatePrefetches()
        for sender in line.senders { self.giveBackWaiting(of: sender, app: line.app?.id) }
    }

    private func outageBegan(_ line: Line) {
        self.counters.add(.outagePauses, line.counters)
        self.tell.outageBegan(line.sender?.credential.name ?? "")
        self.outage(.paused, line)
    }

    private func outage(_ change: Pause.Change, _ line: Line) {
        switch change {
        case .none: return
        case .paused:
            self.updatePrefetches()
            for sender in line.senders { self.giveBackWaiting(of: sender) }
        case .probesAgain: self.release()
        case .resumed:
            self.tell.outageEnded(line.sender?.credential.name ?? "")
            self.updatePrefetches()
            self.release()
        }
    }

    // MARK: Probing

    /// Lets one push of each pause that is over find out.
    func probeWhatIsDue() {
        let now = self.loop.now
        self.lookAtPauses(at: now)
        for line in self.lines {
            if line.credentialGate.circuit.isDue(at: now) {
                self.tell.probing(line.sender?.credential.name ?? "", .outage)
            }
            for topic in line.gate.topics.keys { _ = line.gate.topics[topic]?.isDue(at: now) }
        }
        self.throttle.forget(restedBefore: now - .seconds(600))
    }

    /// What waited for a probe's answer tries again, and is judged anew.
    private func release() {
        guard !self.held.isEmpty else { return }
        let pushes = self.held
        self.held = []
        for push in pushes { self.enqueueAgain(push) }
    }

    func enqueueAgain(_ push: SendQueue.Push) {
        guard self.flights.contains(push.flight) else { return }
        let line = self.flights[push.flight].line
        if line.isRetired { return self.giveBackUnsent(push) }
        guard let sender = line.sender(for: self.flights[push.flight].job) else { return }
        let tokens = push.token..<push.token + 1
        sender.enqueue(push.flight, tokens: tokens, isUrgent: line.lane == .now, of: line.turn)
    }

    // MARK: Giving back

    /// A push that was never sent; its message goes back to the broker once all of its tokens are settled. A redelivered
    /// message is queued whole, with tokens that were done before.
    private func giveBackUnsent(_ push: SendQueue.Push) {
        let flight = self.flights[push.flight]
        guard !flight.isLost, !flight.ledger.isSettled(push.token) else { return }
        self.giveBack(push.flight, push.token)
    }

    /// Gives back what waits to be sent, of one app or of all that share a credential.
    func giveBackWaiting(of sender: Sender, app: String? = nil) {
        var pushes = sender.takeWaiting()
        pushes += self.held
        self.held = []
        pushes += self.throttle.takeWaiting()
        for line in self.lines + self.unfinished.retired where line.lane == .now {
            pushes += line.gate.rate?.takeWaiting() ?? []
        }
        for push in pushes where self.flights.contains(push.flight) {
            let line = self.flights[push.flight].line
            let own = line.sender(for: self.flights[push.flight].job)
            if own === sender, app == nil || line.app?.id == app {
                self.giveBackUnsent(push)
            } else {
                self.enqueueAgain(push)
            }
        }
    }
}

/// A push whose answer came, or will not come; and how its app stood at that moment.
struct PushAnswered {
    let line: Line
    let context: UInt64
    /// Whether a pause waits for this answer.
    let isProbe: Bool
    /// Whether it was on its way when the breaker opened, so that a suspect answer tells nothing new.
    let isLate: Bool

    init(line: Line, context: UInt64) {
        self.line = line
        self.context = context
        self.isProbe =
            !line.gate.pause.isFlowing && line.gate.pause.isProbe(context)
            || !line.gate.topics.isEmpty && line.gate.topics.values.contains { $0.isProbe(context) }
        self.isLate = line.gate.cause == .suspects && !self.isProbe
    }
}

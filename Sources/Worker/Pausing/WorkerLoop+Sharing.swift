internal import Broker
internal import Loop
internal import Push
internal import Store

/// How an app's pauses become the fleet's, and the fleet's this worker's. The rules are in `SharedPause` and `HandPause`.
extension WorkerLoop {
    // MARK: Telling

    /// Tells Redis what it does not know of the app's pauses yet, or asks for the probe; one order at a time.
    func tellFleet(of line: Line) {
        let gate = line.gate
        guard let app = line.app?.id, !gate.isAsking else { return }
        let now = self.loop.now
        if let (order, name) = gate.hand.order(at: now) {
            return self.send(order, of: line, app, in: name) { [unowned self] pause in
                self.heard(gate.hand.heard(pause, at: self.loop.now), byHand: line)
            } otherwise: {
            }
        }
        guard let order = gate.pause.order(canProbe: self.canProbe(line), at: now) else {
            return self.tellAnswers(of: line, app)
        }
        self.send(order, of: line, app, in: self.name) { [unowned self] pause in
            let change = gate.pause.heard(
                pause,
                answering: order,
                asked: now,
                as: self.id.description,
                at: self.loop.now
            )
            self.heard(change, of: line)
        } otherwise: { [unowned self] in
            guard gate.pause.unanswered(canProbe: self.canProbe(line), at: self.loop.now) else { return }
            self.heard(.probing, of: line)
        }
    }

    /// One of an app's first answers here: the fleet together sees sooner than each worker that an environment is wrong.
    func answeredEarly(_ line: Line, isSuspect: Bool) {
        line.gate.early.answers += 1
        if isSuspect { line.gate.early.suspects += 1 }
        self.tellFleet(of: line)
    }

    private func tellAnswers(of line: Line, _ app: String) {
        let (suspects, answers) = line.gate.early
        guard answers > 0 else { return }
        line.gate.early = (0, 0)
        guard line.gate.breaker.threshold > 0, line.gate.pause.isFlowing else { return }
        let asked = self.loop.now
        let order = PausedApps.Order.answers(
            suspects: suspects,
            of: answers,
            threshold: line.gate.breaker.threshold,
            least: SuspectBreaker.least,
            wait: Pause.Cause.suspects.first
        )
        self.send(order, of: line, app, in: self.name) { [unowned self] pause in
            let worker = self.id.description
            let change = line.gate.pause.heard(pause, answering: order, asked: asked, as: worker, at: self.loop.now)
            if change == .stopped, let pause, pause.since == pause.time {
                // These answers did it.
                self.counters.add(.breakerOpened, line.counters)
                self.tell.breakerOpened(line.queue)
            }
            self.heard(change, of: line)
            if line.gate.early.answers > 0 { self.tellFleet(of: line) }
        } otherwise: {
        }
    }

    private func send(
        _ order: PausedApps.Order,
        of line: Line,
        _ app: String,
        in name: String,
        _ answered: @escaping (AppPause?) -> Void,
        otherwise: @escaping () -> Void
    ) {
        line.gate.isAsking = true
        let call = PausedApps.call(order, app: app, by: self.id.description, name: name)
        self.redis.run(call) { [unowned self] result in
            line.gate.isAsking = false
            guard self.shutdown.phase != .closing else { return }
            guard case .success(let reply) = result, let pauses = PausedApps.answer(reply) else { return otherwise() }
            answered(pauses.first)
        }
    }

    /// Whether a push of it could be sent, but for its pauses.
    private func canProbe(_ line: Line) -> Bool {
        !self.shutdown.isDraining && (line.sender?.connectionsAllowed ?? 0) > 0 && !line.gate.hand.isPaused
            && line.credentialGate.circuit.pause.admission != .giveBack
    }

    // MARK: Hearing

    /// Asks for the pauses of all apps. Before the first answer nothing is taken: an app may be paused.
    func askForPauses() {
        let asked = self.loop.now
        self.redis.run(PausedApps.read) { [unowned self] result in
            guard self.shutdown.phase != .closing else { return }
            switch result {
            case .success(let reply):
                if let pauses = PausedApps.answer(reply) { self.heard(pauses, asked: asked) }
            case .failure(.refused(let error)):
                self.tell.pausesUnknown(error.text, isNew: !self.arePausesKnown)
            case .failure: return
            }
            guard !self.arePausesKnown else { return }
            self.arePausesKnown = true
            self.updatePrefetches()
        }
    }

    private func heard(_ pauses: [AppPause], asked: MonotonicTime) {
        let (worker, now) = (self.id.description, self.loop.now)
        for line in self.lines where line.lane == .now {
            let ofApp = { (kind: AppPause.Kind) in pauses.first { $0.app == line.app?.id && $0.kind == kind } }
            self.heard(line.gate.hand.heard(ofApp(.hand), at: now), byHand: line)
            self.heard(line.gate.pause.heard(ofApp(.fault), asked: asked, as: worker, at: now), of: line)
        }
    }

    private func heard(_ change: SharedPause.Change, of line: Line) {
        switch change {
        case .none: break
        case .stopped:
            self.tell.pausedByFleet(line.app?.id ?? "", line.gate.cause)
            self.stopped(line)
        case .probing:
            self.tell.probing(line.app?.id ?? "", line.gate.cause)
            self.updatePrefetches()
        case .resumed: self.changed(line, .resumed)
        }
        if line.gate.pause.hasNews { self.tellFleet(of: line) }
    }

    private func heard(_ change: SharedPause.Change, byHand line: Line) {
        switch change {
        case .none, .probing: return
        case .stopped:
            self.tell.pausedByHand(line.app?.id ?? "", by: line.gate.hand.by, reason: line.gate.hand.reason)
            self.stopped(line)
        case .resumed:
            self.tell.resumedByHand(line.app?.id ?? "")
            self.updatePrefetches()
        }
    }

    /// What time alone changes.
    func lookAtPauses(at now: MonotonicTime) {
        for line in self.lines where line.lane == .now {
            if line.gate.hand.isOver(at: now) { self.heard(.resumed, byHand: line) }
            self.tellFleet(of: line)
        }
    }
}

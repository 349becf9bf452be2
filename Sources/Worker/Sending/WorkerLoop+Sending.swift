internal import APNs
internal import Broker
internal import Loop
internal import Push
internal import Store

/// What may go to Apple now. A push that may not waits, or is put back.
extension WorkerLoop {
    /// Sends one push through `submit`, if it is still to be sent and may go now.
    func send(_ push: SendQueue.Push, submit: (Job, ApnsID, [UInt8]) -> Void) -> Bool {
        guard let flight = self.flights.find(push.flight), !flight.isLost, !flight.ledger.isSettled(push.token) else {
            return false
        }
        let job = flight.job
        if let expiry = job.expiresAt, expiry.milliseconds > 0, expiry <= self.loop.wallTime {
            self.settle(push.flight, push.token, as: .deadLetter(.expired, apns: nil))
            self.finishIfComplete(push.flight)
            return false
        }
        let line = flight.line
        let length = job.writeToken(push.token, to: self.tokenBuffer)
        let token = UnsafeRawBufferPointer(rebasing: self.tokenBuffer[..<length])
        let hash = TokenThrottle.hash(token)
        guard self.mayGo(push, job, line, hash) else { return false }
        flight.sent(push.token, token, fingerprint: hash, after: flight.milliseconds(at: self.loop.wallTime))
        flight.inFlight += 1
        flight.wasSent = true
        self.counters.add(.attempts, line.counters)
        let id = ApnsID(messageID: flight.messageID, token: token)
        submit(job, id, job.isBroadcast ? line.bundleID : line.topic(job.pushType))
        return true
    }

    /// Whether nothing stops app, credential, topic, rate or token. A push that may not go waits here, or is put back.
    private func mayGo(_ push: SendQueue.Push, _ job: Job, _ line: Line, _ token: UInt64) -> Bool {
        switch line.passage {
        case .go: break
        case .hold:
            self.held.append(push)
            return false
        case .giveBack:
            self.giveBack(push.flight, push.token)
            return false
        }
        let now = self.loop.now
        var topic: [UInt8]?
        if !line.gate.topics.isEmpty {
            let mine = self.topic(of: job, on: line)
            if let pause = line.gate.topics[mine] {
                guard pause.admission == .go else {
                    var rest = Self.shortestPostponement
                    if case .paused(let until) = pause.state { rest = max(rest, until - now) }
                    self.postpone(push, for: rest, atLeast: false, because: ApnsReason.topicDisallowed.text)
                    return false
                }
                topic = mine
            }
        }
        if let rate = line.gate.rate, !rate.hasToken(at: now) {
            rate.wait(push, isUrgent: line.lane == .now)
            return false
        }
        switch self.throttle.admit(token, at: now) {
        case .go: break
        case .wait:
            self.throttle.wait(push, for: token)
            return false
        case .rest(let until):
            self.counters.add(.throttled, line.counters)
            self.postpone(push, for: until - now, atLeast: true, because: ApnsReason.tooManyRequests.text)
            return false
        }
        line.gate.rate?.take(at: now)
        if !line.isOpen || topic != nil {
            let context = push.flight.context(token: push.token)
            line.gate.pause.sent(context, at: now)
            line.credentialGate.circuit.sent(context, at: now)
            if let topic { line.gate.topics[topic]?.sent(context, at: now) }
        }
        return true
    }

    func topic(of job: Job, on line: Line) -> [UInt8] {
        let explicit = job.withTopicOverride { Array($0) }
        return explicit.isEmpty ? line.topic(job.pushType) : explicit
    }

    /// Lets a push wait in RabbitMQ without having been tried.
    func postpone(_ push: SendQueue.Push, for time: Duration, atLeast: Bool, because reason: String) {
        let flight = self.flights[push.flight]
        guard let app = flight.line.app else { return }
        let level = atLeast ? self.ladder.level(atLeast: time) : self.ladder.hold(remaining: time).level
        let next = app.retry.postponed(
            to: level,
            now: self.loop.wallTime,
            start: flight.start,
            expiresAt: flight.job.expiresAt
        )
        switch next {
        case .retry(let level):
            self.settle(push.flight, push.token, as: .retry(after: level, counted: false), because: reason)
        case .stop(let stop): self.settle(push.flight, push.token, as: .deadLetter(stop, apns: nil))
        }
        self.finishIfComplete(push.flight)
    }

    static let shortestPostponement: Duration = .seconds(10)
}

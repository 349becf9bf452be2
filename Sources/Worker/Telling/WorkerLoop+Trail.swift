internal import APNs
internal import Loop
internal import Push
internal import Store

/// What the worker writes of every message for `pushfleet find`: once when it is over, and once before if it takes long.
extension WorkerLoop {
    /// Milliseconds since the message was received.
    func time(since flight: Flight) -> UInt32 {
        UInt32(clamping: self.loop.wallTime.milliseconds - flight.received.milliseconds)
    }

    /// A token is settled.
    func trace(_ flight: Flight, _ token: Int, _ settlement: Settlement, because cause: String) {
        switch settlement {
        case .delivered: flight.trace.update(token) { $0.state = .delivered }
        case .retry(let level, let counted):
            let name = flight.trace[token].isAnswered || cause.isEmpty ? nil : self.words.cause(cause)
            flight.trace.update(token) { trace in
                trace.state = counted ? .retry : .postponed
                trace.detail = UInt32(clamping: level.duration.milliseconds)
                if let name { trace.name = name }
            }
        case .deadLetter(let reason, _):
            let name = self.words.reason(reason)
            flight.trace.update(token) { trace in
                trace.state = .deadLetter
                trace.detail = UInt32(name)
            }
        case .tokenGone(let time, _):
            flight.trace.update(token) { trace in
                trace.state = .gone
                trace.detail = UInt32(clamping: time?.seconds ?? 0)
            }
        case .giveBack: flight.trace.update(token) { $0.state = .returned }
        }
    }

    /// Its message is held until its time has come.
    func traceHold(_ flight: Flight, for time: Duration) {
        for token in 0..<flight.job.tokenCount {
            flight.trace.update(token) { trace in
                trace.state = .held
                trace.detail = UInt32(clamping: time.milliseconds)
            }
        }
    }

    /// The message leaves the worker, or has been there for a while.
    func trace(_ flight: Flight, _ end: TrailEnd) {
        guard self.trail.isOn else { return }
        let message = MessageTrace(
            line: flight.line.trailName,
            received: flight.received,
            published: flight.published,
            attempts: flight.attempts,
            copies: flight.copies,
            deliveries: flight.deliveryCount,
            isRedelivered: flight.isRedelivered,
            isBroadcast: flight.isBroadcast,
            refusal: flight.trace.refusal,
            end: end,
            ended: self.loop.wallTime
        )
        guard flight.trace.refusal == 0 else {
            let nothing = UnsafeBufferPointer<TokenTrace>(start: nil, count: 0)
            return self.trail.append(message, id: flight.messageID, tokens: nothing, earlier: [])
        }
        self.identifyTokens(of: flight)
        let earlier = flight.trace.earlier
        flight.trace.withTokens { self.trail.append(message, id: flight.messageID, tokens: $0, earlier: earlier) }
    }

    /// Tokens that were never sent to are known by nothing yet.
    private func identifyTokens(of flight: Flight) {
        let job = flight.job
        for token in 0..<job.tokenCount where flight.trace[token].hash == 0 && flight.trace[token].state != .done {
            let length = job.writeToken(token, to: self.tokenBuffer)
            let digits = UnsafeRawBufferPointer(rebasing: self.tokenBuffer[..<length])
            flight.trace.update(token) { $0.identify(digits, hash: TokenThrottle.hash(digits)) }
        }
    }

    /// Tells once of what stays long, so that it can be found while it is here, and after a crash.
    func traceWhatStays() {
        let limit = self.loop.wallTime - self.settings.trail.interval
        self.flights.forEach { flight in
            guard !flight.trace.isTold, !flight.isLost, flight.received <= limit else { return }
            flight.trace.isTold = true
            self.trace(flight, .open)
        }
    }
}

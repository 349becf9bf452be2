internal import APNs
internal import Loop
internal import Push
internal import Store

/// What the worker writes of every message for `pushfleet find`: once when it is over, and once before if it takes long.
extension WorkerLoop {
    private static func detail(_ value: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: min(max(0, value), Int64(UInt32.max)))
    }

    /// A token is settled.
    func trace(_ flight: Flight, _ token: Int, _ settlement: Settlement, because cause: String) {
        switch settlement {
        case .delivered: flight.trace(token) { $0.state = .delivered }
        case .retry(let level, let counted):
            flight.trace(token) { trace in
                trace.state = counted ? .retry : .postponed
                trace.detail = Self.detail(level.duration.milliseconds)
                if !trace.isAnswered, !cause.isEmpty { trace.name = self.words.cause(cause) }
            }
        case .deadLetter(let reason, _):
            let name = self.words.reason(reason)
            flight.trace(token) { trace in
                trace.state = .deadLetter
                trace.detail = UInt32(name)
            }
        case .tokenGone(let time, _):
            flight.trace(token) { trace in
                trace.state = .gone
                trace.detail = Self.detail(time?.seconds ?? 0)
            }
        case .giveBack: flight.trace(token) { $0.state = .returned }
        }
    }

    /// Its message is held until its time has come.
    func traceHold(_ flight: Flight, for time: Duration) {
        for token in 0..<flight.job.tokenCount {
            flight.trace(token) { trace in
                trace.state = .held
                trace.detail = Self.detail(time.milliseconds)
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
            refusal: flight.refusal,
            end: end,
            ended: self.loop.wallTime
        )
        guard flight.refusal == 0 else {
            let nothing = UnsafeBufferPointer<TokenTrace>(start: nil, count: 0)
            return self.trail.append(message, id: flight.messageID, tokens: nothing, earlier: [])
        }
        self.identifyTokens(of: flight)
        flight.withTraces {
            self.trail.append(message, id: flight.messageID, tokens: $0, earlier: flight.earlierAnswers)
        }
    }

    /// Tokens that were never sent to are known by nothing yet.
    private func identifyTokens(of flight: Flight) {
        let job = flight.job
        for token in 0..<job.tokenCount {
            flight.trace(token) { trace in
                guard trace.hash == 0, trace.state != .done else { return }
                let length = job.writeToken(token, to: self.tokenBuffer)
                let digits = UnsafeRawBufferPointer(rebasing: self.tokenBuffer[..<length])
                trace.identify(digits, hash: TokenThrottle.hash(digits))
            }
        }
    }

    /// Tells once of what stays long, so that it can be found while it is here, and after a crash.
    func traceWhatStays() {
        let limit = self.loop.wallTime - self.settings.trail.interval
        self.flights.visit { flight in
            guard !flight.isTold, !flight.isLost, flight.received <= limit else { return }
            flight.isTold = true
            self.trace(flight, .open)
        }
    }
}

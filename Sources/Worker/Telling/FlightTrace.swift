internal import Push
internal import Store

/// What the trail will be told of a flight's tokens. One token needs no heap; nothing is copied and no accessor is called,
/// since that would cost more than the trail itself.
extension Flight {
    /// Changes the trace of one token.
    @inline(__always)
    func trace(_ token: Int, _ change: (inout TokenTrace) -> Void) {
        if let traces = self.traces { change(&traces[token]) } else { change(&self.onlyTrace) }
    }

    /// The fingerprint of a token that was sent.
    @inline(__always)
    func fingerprint(_ token: Int) -> UInt64 {
        if let traces = self.traces { traces[token].hash } else { self.onlyTrace.hash }
    }

    /// A request goes out.
    /// - Parameter time: see ``milliseconds(at:)``.
    func sent(_ token: Int, _ digits: UnsafeRawBufferPointer, fingerprint: UInt64, after time: UInt32) {
        self.trace(token) { trace in
            if trace.sends == 0 {
                trace.identify(digits, hash: fingerprint)
            } else if trace.isAnswered {
                if self.earlierAnswers.count < Self.mostEarlierAnswers {
                    self.earlierAnswers.append(EarlierAnswer(token, trace))
                }
                trace.isAnswered = false
                trace.name = 0
            }
            if trace.sends < .max { trace.sends += 1 }
            trace.state = .sent
            trace.time = time
        }
    }

    /// It has its answer, or will have none.
    /// - Parameter name: what it was, unless it was 200.
    func answered(_ token: Int, after time: UInt32, connection: Int, name: UInt16) {
        self.trace(token) { trace in
            trace.isAnswered = true
            trace.state = .waiting
            trace.latency = time >= trace.time ? time - trace.time : 0
            trace.time = time
            trace.connection = UInt16(truncatingIfNeeded: connection)
            trace.name = name
        }
    }

    /// Milliseconds since it was received, as far as the trail can tell.
    @inline(__always)
    func milliseconds(at time: UnixTime) -> UInt32 {
        UInt32(truncatingIfNeeded: min(max(0, time.milliseconds - self.received.milliseconds), Int64(UInt32.max)))
    }

    func withTraces(_ use: (UnsafeBufferPointer<TokenTrace>) -> Void) {
        if let traces = self.traces { return use(UnsafeBufferPointer(start: traces, count: self.job.tokenCount)) }
        withUnsafePointer(to: &self.onlyTrace) { use(UnsafeBufferPointer(start: $0, count: 1)) }
    }

    private static let mostEarlierAnswers = 100
}

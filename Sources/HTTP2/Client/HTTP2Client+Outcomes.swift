internal import Loop
internal import Push
internal import Wire

extension HTTP2Client {
    // MARK: Outcomes

    func finish(_ stream: ClientStream.Pointer, _ failure: StreamFailure) {
        self.waiting.remove(stream)
        self.delegate?.http2(self, context: stream.pointee.context, didFail: failure)
    }

    func answered(_ stream: ClientStream.Pointer) {
        self.gate.earn(FloodGate.perMessage)
        // An answer before the whole body was sent: the rest of the body helps nobody and would hold the stream.
        if !stream.pointee.body.range.isEmpty { self.reset(stream.pointee.id, HTTP2ErrorCode.cancel) }
        self.close(stream, endedByPeer: true) { stream in
            self.waiting.remove(stream)
            self.delegate?.http2(
                self,
                context: stream.pointee.context,
                didReceive: stream.pointee.response(at: self.loop.now)
            )
        }
    }

    /// The response breaks the rules: the request failed, and the stream is reset.
    func malformed(_ stream: ClientStream.Pointer, endedByPeer: Bool) {
        self.reset(stream.pointee.id, HTTP2ErrorCode.protocolError)
        self.close(stream, endedByPeer: endedByPeer) { self.finish($0, .unknown(.malformed)) }
    }

    /// Fails a request whose stream is still open, and resets the stream.
    func abandon(_ stream: ClientStream.Pointer, _ why: StreamFailure.Unknown) {
        let id = stream.pointee.id
        guard id <= self.lastHandedOver else {
            self.held.removeAll { $0.id == id }
            return self.close(stream, endedByPeer: false) { self.finish($0, .notProcessed(.neverSent)) }
        }
        self.reset(id, HTTP2ErrorCode.cancel)
        self.close(stream, endedByPeer: false) { self.finish($0, .unknown(why)) }
    }

    /// Ends a stream.
    /// - Parameter tell: gives the request its outcome; the stream still counts as open while it does.
    func close(_ stream: ClientStream.Pointer, endedByPeer: Bool, _ tell: (ClientStream.Pointer) -> Void) {
        let id = stream.pointee.id
        self.table.remove(id)
        if !endedByPeer { self.cut.insert(id) }
        if !stream.pointee.body.range.isEmpty { self.blocked.removeAll { $0 == id } }
        tell(stream)
        stream.pointee.clear()
        self.streams.give(back: stream)
        self.offerStreams()
    }

    func awaitOldest() {
        self.requestDeadline = self.waiting.oldest.map { oldest in
            self.loop.at(oldest.pointee.startedAt + self.settings.requestTimeout) {
                self.requestsTimedOut()
            }
        }
    }

    private func requestsTimedOut() {
        let started = self.loop.now - self.settings.requestTimeout
        while let oldest = self.waiting.oldest, oldest.pointee.startedAt <= started {
            let action = self.liveness.requestTimedOut(startedAt: oldest.pointee.startedAt, at: self.loop.now)
            if action == .ping {
                self.obey(action)
                self.stayAlive()
            }
            self.abandon(oldest, .timeout)
        }
        guard self.phase != .closed else { return }
        self.awaitOldest()
        self.endIfDrained()
    }

    func offerStreams() {
        self.hasFreedStreams = true
        self.transport?.setNeedsFlush()
    }

    // MARK: Is anybody there?

    func stayAlive() {
        self.aliveDeadline?.cancel()
        self.aliveDeadline = self.loop.at(self.liveness.due) {
            self.obey(self.liveness.check(at: self.loop.now))
            if self.phase != .closed { self.stayAlive() }
        }
    }

    private func obey(_ action: Liveness.Action) {
        switch action {
        case .wait:
            break
        case .ping:
            self.transport?.write(RawFrame.make(type: RawFrame.ping, payload: Array(repeating: 0, count: 8)))
        case .giveUp:
            self.end(.pingTimeout)
        }
    }
}

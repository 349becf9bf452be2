internal import CNghttp2
internal import Loop
internal import Push
internal import Wire

extension HTTP2Client {
    // MARK: Outcomes

    func finish(_ stream: ClientStream.Pointer, _ failure: StreamFailure) {
        self.waiting.remove(stream)
        self.delegate?.http2(self, context: stream.pointee.context, didFail: failure)
    }

    /// Fails a request whose stream is still open, and resets the stream.
    func abandon(_ stream: ClientStream.Pointer, _ why: StreamFailure.Unknown) {
        let id = stream.pointee.id
        nghttp2_submit_rst_stream(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, NGHTTP2_CANCEL.rawValue)
        self.transport?.setNeedsFlush()
        self.finish(stream, id > self.lastHandedOver ? .notProcessed(.neverSent) : .unknown(why))
    }

    func awaitOldest() {
        self.requestDeadline = self.waiting.oldest.map { oldest in
            self.loop.at(oldest.pointee.startedAt + self.settings.requestTimeout) {
                self.requestsTimedOut()
            }
        }
    }

    func requestsTimedOut() {
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

    func obey(_ action: Liveness.Action) {
        switch action {
        case .wait:
            break
        case .ping:
            nghttp2_submit_ping(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
            self.transport?.setNeedsFlush()
        case .giveUp:
            self.end(.pingTimeout)
        }
    }
}

internal import CNghttp2
internal import Loop
package import Wire

extension HTTP2Client: TransportDelegate {
    package func transportDidOpen(_: Transport) {
        if self.phase == .connecting { self.phase = .waitingForSettings }
        self.liveness.bytesArrived(at: self.loop.now)
        self.aliveDeadline = self.loop.after(self.settings.settingsTimeout) {
            self.end(.settingsTimeout)
        }
    }

    package func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        guard let session = self.session, self.phase != .closed else { return }
        if self.liveness.bytesArrived(at: self.loop.now) { self.stayAlive() }
        guard self.gate.bytesArrived(bytes.count, at: self.loop.now) else {
            return self.give(up: .tooMuchData, transport)
        }
        var index = 0
        var result = 0
        self.isInsideSession = true
        while result >= 0, self.phase != .closed, let piece = self.inbound.next(in: bytes, from: &index) {
            switch piece {
            case .received(let range):
                let start = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self) + range.lowerBound
                result = nghttp2_session_mem_recv(session, start, range.count)
            case .held(let held):
                result = nghttp2_session_mem_recv(session, held, held.count)
            case .data(let id):
                if !self.mayArrive("DATA", on: id) { result = Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
            }
        }
        self.isInsideSession = false
        guard self.phase != .closed else { return self.freeSession() }
        guard result >= 0 else {
            return self.give(up: self.violation ?? Violation(Nghttp2Error.text(Int32(result))), transport)
        }
        if nghttp2_session_want_write(session) != 0 { transport.setNeedsFlush() }
        self.endIfSilent(session)
        self.endIfDrained()
    }

    package func transportWillFlush(_ transport: Transport) {
        self.settleDepartures(transport)
        if self.hasFreedStreams {
            self.hasFreedStreams = false
            if self.availableStreams > 0 { self.delegate?.http2HasFreeStreams(self) }
        }
        guard let session = self.session, self.phase != .closed else { return }
        var room = self.settings.transport.highWater - transport.unsentBytes
        while room > 0 {
            var chunk: UnsafePointer<UInt8>?
            self.isInsideSession = true
            let size = nghttp2_session_mem_send(session, &chunk)
            self.isInsideSession = false
            guard self.phase != .closed else { return self.freeSession() }
            guard size >= 0 else { return self.end(.protocolError(Nghttp2Error.text(Int32(size)))) }
            guard size > 0 else { break }
            let bytes = UnsafeRawBufferPointer(start: chunk, count: size)
            self.goodbye = self.goodbye ?? RawFrame.goodbye(in: bytes)
            if self.departing != 0 {
                self.departures.append(self.departing, at: transport.bytesWritten)
                self.departing = 0
            }
            transport.write(bytes)
            room -= size
        }
        self.endIfSilent(session)
        // A reset of ours that just left may have ended the last stream; it still has to reach the kernel.
        if self.phase == .draining, self.waiting.oldest == nil { self.loop.after(.zero) { self.endIfDrained() } }
    }

    package func transport(_: Transport, didClose error: TransportError) {
        self.end(.transport(error))
    }

    func give(up violation: Violation, _ transport: Transport) {
        transport.write(RawFrame.goAway(lastStreamID: 0, violation))
        self.end(.protocolError(violation.rule))
    }

    func settleDepartures(_ transport: Transport) {
        let gone = transport.bytesWritten - transport.unsentBytes
        while let first = self.departures.first, first.offset < gone { self.departures.removeFirst() }
    }

    /// nghttp2 wants nothing more after it has said goodbye for a broken rule, or when GOAWAY left nothing open.
    func endIfSilent(_ session: OpaquePointer) {
        guard self.phase != .closed else { return }
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return }
        if let goodbye = self.goodbye {
            return self.end(.protocolError(Nghttp2Error.text(goodbye: goodbye, detail: self.violation?.rule)))
        }
        self.end(self.waiting.oldest == nil ? .drained : .protocolError("the session ended"))
    }
}

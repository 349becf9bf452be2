internal import CNghttp2
internal import Loop
package import Wire

extension HTTP2Server: TransportDelegate {
    package func transportDidOpen(_ transport: Transport) {
        self.delegate?.http2ServerDidOpen(self)
        transport.setNeedsFlush()
    }

    package func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        guard let session = self.session, !self.isOver else { return }
        guard self.gate.bytesArrived(bytes.count, at: self.loop.now) else {
            return self.give(up: .tooMuchData, transport)
        }
        self.isInsideSession = true
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = nghttp2_session_mem_recv(session, start, bytes.count)
        self.isInsideSession = false
        guard !self.isOver else { return self.freeSession() }
        guard result >= 0 else {
            return self.give(up: self.violation ?? Violation(Nghttp2Error.text(Int32(result))), transport)
        }
        self.writeInjected()
        if nghttp2_session_want_write(session) != 0 { transport.setNeedsFlush() }
        self.endIfSilent()
    }

    package func transportWillFlush(_ transport: Transport) {
        self.settleAnswers(transport)
        guard !self.isSilent else { return }
        self.pull(into: transport, upTo: self.settings.highWater)
        self.endIfSilent()
    }

    package func transport(_: Transport, didClose error: TransportError) {
        self.end(.transport(error))
    }

    func pull(into transport: Transport, upTo highWater: Int) {
        guard !self.isSilent else { return }
        while let session = self.session, !self.isOver, transport.unsentBytes < highWater {
            var chunk: UnsafePointer<UInt8>?
            self.isInsideSession = true
            self.isPulling = true
            let size = nghttp2_session_mem_send(session, &chunk)
            self.isPulling = false
            self.isInsideSession = false
            guard !self.isOver else { return self.freeSession() }
            guard size >= 0 else { return self.end(.protocolError(Nghttp2Error.text(Int32(size)))) }
            guard size > 0 else { return }
            let frame = UnsafeRawBufferPointer(start: chunk, count: size)
            self.goodbye = self.goodbye ?? RawFrame.goodbye(in: frame)
            self.send(frame, over: transport)
        }
    }

    /// Sends what nghttp2 made: one frame, or a HEADERS with its CONTINUATIONs.
    func send(_ frame: UnsafeRawBufferPointer, over transport: Transport) {
        let header = RawFrame.Header(frame)
        if header.type == RawFrame.settings, header.flags == 0 { return self.announce(frame, over: transport) }
        transport.write(frame)
        guard let closed = self.closedBySending else { return }
        self.closedBySending = nil
        if header.stream == closed.id, header.endsStream {
            self.answersUnderWay.append(closed.id, at: transport.bytesWritten)
        } else {
            self.delegate?.http2Server(self, stream: closed.id, didEnd: .reset(closed.code))
        }
    }

    /// Adds MAX_CONCURRENT_STREAMS to an outgoing SETTINGS. nghttp2 does not know of the limit, for it would enforce
    /// it in its own way: by ending the connection.
    func announce(_ frame: UnsafeRawBufferPointer, over transport: Transport) {
        guard !self.limitsToAnnounce.isEmpty, let limit = self.limitsToAnnounce.removeFirst() else {
            return transport.write(frame)
        }
        let others = frame[RawFrame.headerSize...]
        transport.write(RawFrame.settings(others, maxConcurrentStreams: UInt32(clamping: limit)))
    }

    func writeInjected() {
        guard let transport = self.transport, !self.framesToInject.isEmpty else { return }
        self.pull(into: transport, upTo: .max)
        for frame in self.framesToInject { transport.write(frame) }
        self.framesToInject.removeAll()
    }

    func give(up violation: Violation, _ transport: Transport) {
        transport.write(RawFrame.goAway(lastStreamID: self.highestStream, violation))
        self.end(.protocolError(violation.rule))
    }

    func settleAnswers(_ transport: Transport) {
        let gone = transport.bytesWritten - transport.unsentBytes
        while let first = self.answersUnderWay.first, first.offset <= gone {
            self.answersUnderWay.removeFirst()
            self.counters.answered += 1
            self.delegate?.http2Server(self, stream: first.note, didEnd: .answered)
        }
    }

    func endIfSilent() {
        guard let session = self.session, !self.isOver else { return }
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return }
        let broken = self.goodbye.map { Nghttp2Error.text(goodbye: $0, detail: self.violation?.rule) }
        self.end(broken.map { .protocolError($0) } ?? .drained)
    }
}

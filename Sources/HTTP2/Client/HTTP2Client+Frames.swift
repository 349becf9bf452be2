internal import Loop
internal import Push
internal import Wire

// MARK: - What arrives

extension HTTP2Client {
    /// One frame (RFC 9113 §6).
    /// - Throws: the rule that it breaks; then the connection is over.
    func take(_ frame: FrameReader.Frame) throws(Violation) {
        guard self.gate.frameArrived(at: self.loop.now) else { throw .tooManyFrames }
        guard
            self.hasSettings || frame.type == RawFrame.settings && !frame.has(RawFrame.acknowledgement)
                || frame.type == RawFrame.goAway
        else { throw .noSettings }
        guard self.openBlock == nil || frame.type == RawFrame.continuation else {
            throw Violation("a frame between HEADERS and CONTINUATION", code: HTTP2ErrorCode.protocolError)
        }
        switch frame.type {
        case RawFrame.data: try self.takeData(frame)
        case RawFrame.headers: try self.takeHeaders(frame)
        case RawFrame.continuation: try self.takeContinuation(frame)
        case RawFrame.reset: try self.takeReset(frame)
        case RawFrame.settings: try self.takeSettings(frame)
        case RawFrame.ping: try self.takePing(frame)
        case RawFrame.goAway: try self.takeGoAway(frame)
        case RawFrame.windowUpdate: try self.takeWindowUpdate(frame)
        case RawFrame.priority: try frame.mustHave(5, "PRIORITY")
        case RawFrame.pushPromise: throw .init("PUSH_PROMISE though push is off", code: HTTP2ErrorCode.protocolError)
        default: break
        }
    }

    /// The stream that a frame is for; nil if what arrives for it is to be thrown away.
    /// - Throws: there never was such a stream, or the peer had ended it.
    func stream(of frame: FrameReader.Frame, _ name: StaticString, afterEnd: Bool) throws(Violation) -> ClientStream
        .Pointer?
    {
        let id = frame.stream
        if let stream = self.table.find(id), id <= self.lastHandedOver { return stream }
        guard id & 1 == 1, id <= self.lastHandedOver else {
            throw Violation("\(name) on stream \(id), which we never opened", code: HTTP2ErrorCode.protocolError)
        }
        guard afterEnd || self.cut.contains(id) else {
            throw Violation("\(name) after the end of stream \(id)", code: HTTP2ErrorCode.streamClosed)
        }
        return nil
    }

    // MARK: Bodies

    private func takeData(_ frame: FrameReader.Frame) throws(Violation) {
        self.unacknowledgedData += frame.payload.count
        guard self.unacknowledgedData <= Self.receiveWindow else {
            throw Violation("more DATA than we let in", code: HTTP2ErrorCode.flowControlError)
        }
        if self.unacknowledgedData >= Self.receiveWindow / 2 {
            self.transport?.write(RawFrame.windowUpdate(stream: 0, by: UInt32(self.unacknowledgedData)))
            self.unacknowledgedData = 0
        }
        let content = try frame.content("DATA")
        guard let stream = try self.stream(of: frame, "DATA", afterEnd: false) else { return }
        guard stream.pointee.head.takesBody else {
            throw Violation("DATA before HEADERS", code: HTTP2ErrorCode.protocolError)
        }
        let isEnd = frame.has(RawFrame.endStream)
        guard stream.pointee.head.takeBody(content.count, endsStream: isEnd) else {
            return self.malformed(stream, endedByPeer: isEnd)
        }
        let total = stream.pointee.received.count - stream.pointee.keptEnd + content.count
        guard total <= self.settings.maxResponseBody else { return self.malformed(stream, endedByPeer: isEnd) }
        stream.pointee.received.append(content.baseAddress, content.count)
        if !content.isEmpty { self.gate.bodyArrived(content.count) }
        if isEnd { self.answered(stream) }
    }

    // MARK: Streams

    private func takeReset(_ frame: FrameReader.Frame) throws(Violation) {
        try frame.mustHave(4, "RST_STREAM")
        guard let stream = try self.stream(of: frame, "RST_STREAM", afterEnd: true) else { return }
        let code = frame.number(at: 0)
        self.close(stream, endedByPeer: false) {
            self.finish(
                $0,
                code == HTTP2ErrorCode.refusedStream ? .notProcessed(.refused) : .unknown(.reset(code))
            )
        }
    }

    private func takeWindowUpdate(_ frame: FrameReader.Frame) throws(Violation) {
        try frame.mustHave(4, "WINDOW_UPDATE")
        let bytes = Int(frame.number(at: 0) & UInt32(Int32.max))
        guard frame.stream != 0 else {
            guard bytes > 0 else { throw Violation("WINDOW_UPDATE of nothing", code: HTTP2ErrorCode.protocolError) }
            self.window += bytes
            guard self.window <= PeerSettings.mostWindow else {
                throw Violation("a window of \(self.window)", code: HTTP2ErrorCode.flowControlError)
            }
            return self.sendBlocked()
        }
        guard let stream = try self.stream(of: frame, "WINDOW_UPDATE", afterEnd: true) else { return }
        stream.pointee.window += bytes
        guard bytes > 0, stream.pointee.window <= PeerSettings.mostWindow else {
            return self.malformed(stream, endedByPeer: false)
        }
        self.sendBlocked()
    }

    // MARK: The connection

    private func takeSettings(_ frame: FrameReader.Frame) throws(Violation) {
        guard frame.stream == 0 else { throw Violation("SETTINGS on a stream", code: HTTP2ErrorCode.protocolError) }
        if frame.has(RawFrame.acknowledgement) {
            guard self.awaitsAcknowledgement, frame.payload.isEmpty else {
                throw Violation(
                    "an acknowledgement of SETTINGS that nobody asked for",
                    code: HTTP2ErrorCode.protocolError
                )
            }
            self.awaitsAcknowledgement = false
            return
        }
        self.hasSettings = true
        let before = self.peer.initialWindow
        try self.peer.take(frame.payload)
        for size in self.peer.tableSizes { self.encoder.limitTable(to: size) }
        self.transport?.write(RawFrame.settingsAcknowledgement)
        let change = self.peer.initialWindow - before
        if change != 0 {
            var highest = 0
            self.table.visit { stream in
                stream.pointee.window += change
                highest = max(highest, stream.pointee.window)
            }
            guard highest <= PeerSettings.mostWindow else {
                throw Violation("a window of \(highest)", code: HTTP2ErrorCode.flowControlError)
            }
            self.sendBlocked()
        }
        self.changeStreamLimit()
    }

    private func changeStreamLimit() {
        let limit = self.peer.maxConcurrentStreams.map { Int($0) } ?? 100
        let old = self.peerStreamLimit
        self.peerStreamLimit = limit
        if self.phase == .waitingForSettings {
            self.phase = .ready
            self.stayAlive()
            self.delegate?.http2DidBecomeReady(self)
        }
        if limit != old {
            if limit > old { self.offerStreams() }
            self.delegate?.http2(self, didChangeStreamLimit: limit)
        }
    }

    private func takePing(_ frame: FrameReader.Frame) throws(Violation) {
        guard frame.stream == 0 else { throw Violation("PING on a stream", code: HTTP2ErrorCode.protocolError) }
        try frame.mustHave(8, "PING")
        if !frame.has(RawFrame.acknowledgement) {
            let flags = RawFrame.acknowledgement
            self.transport?.write(RawFrame.make(type: RawFrame.ping, flags: flags, payload: Array(frame.payload)))
        }
    }

    private func takeGoAway(_ frame: FrameReader.Frame) throws(Violation) {
        guard frame.stream == 0 else { throw Violation("GOAWAY on a stream", code: HTTP2ErrorCode.protocolError) }
        guard frame.payload.count >= 8 else {
            throw Violation("GOAWAY of \(frame.payload.count) bytes", code: HTTP2ErrorCode.frameSizeError)
        }
        // Servers in the field name a higher stream in a later one: that takes nothing back. An even number, which no
        // stream of ours has, says the same as the odd one below it.
        let named = Int32(frame.number(at: 0) & UInt32(Int32.max))
        let last = min(self.lowestGoAway ?? .max, named > 0 && named & 1 == 0 ? named - 1 : named)
        self.lowestGoAway = last
        let goAway = GoAway(
            lastStreamID: last,
            errorCode: frame.number(at: 4),
            debugData: Array(frame.payload.dropFirst(8).prefix(1024))
        )
        self.drain()
        self.delegate?.http2(self, didReceive: goAway)
        // Some servers say it in place of their first SETTINGS.
        guard self.hasSettings else { return self.end(.refused(goAway.errorCode)) }
        while let newest = self.waiting.newest, newest.pointee.id > last {
            self.close(newest, endedByPeer: false) { self.finish($0, .notProcessed(.goAway)) }
        }
        // What has not left yet must not be begun any more.
        for request in self.held {
            guard let stream = self.table.find(request.id) else { continue }
            self.close(stream, endedByPeer: false) { self.finish($0, .notProcessed(.neverSent)) }
        }
        self.held = []
    }
}

extension FrameReader.Frame {
    /// The number of four bytes at an offset of the payload.
    func number(at offset: Int) -> UInt32 {
        UInt32(bigEndian: self.payload.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    func mustHave(_ size: Int, _ name: StaticString) throws(Violation) {
        guard self.payload.count != size else { return }
        throw Violation("\(name) of \(self.payload.count) bytes", code: HTTP2ErrorCode.frameSizeError)
    }

    /// The payload of DATA or HEADERS without its padding (RFC 9113 §6.1).
    func content(_ name: StaticString) throws(Violation) -> UnsafeRawBufferPointer {
        guard self.has(RawFrame.padded) else { return self.payload }
        guard let padding = self.payload.first, Int(padding) < self.payload.count else {
            throw Violation("\(name) with more padding than there is", code: HTTP2ErrorCode.protocolError)
        }
        return UnsafeRawBufferPointer(rebasing: self.payload[1..<self.payload.count - Int(padding)])
    }
}

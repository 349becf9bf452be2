internal import CNghttp2
internal import Loop
internal import Push

// MARK: - What nghttp2 reports

extension HTTP2Client {
    func stream(_ id: Int32) -> ClientStream.Pointer? {
        if id == self.currentID { return self.current }
        let data = nghttp2_session_get_stream_user_data(self.session, id)
        self.current = data?.assumingMemoryBound(to: ClientStream.self)
        self.currentID = id
        return self.current
    }

    func frameBegins(_ type: UInt8, _ id: Int32) -> Int32 {
        guard self.phase != .closed else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
        // nghttp2 would take it until our SETTINGS is acknowledged; a server has read that before any request.
        guard UInt32(type) != NGHTTP2_PUSH_PROMISE.rawValue else {
            self.violation = Violation("PUSH_PROMISE though push is off", code: HTTP2ErrorCode.protocolError)
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        guard self.gate.frameArrived(at: self.loop.now) else {
            self.violation = .tooManyFrames
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        guard type != RawFrame.headers || self.mayArrive("HEADERS", on: id) else {
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        return 0
    }

    /// False: the peer had ended this stream of ours. nghttp2 would take what comes after without a word.
    func mayArrive(_ frame: StaticString, on id: Int32) -> Bool {
        // Streams that never were are nghttp2's to judge.
        guard id & 1 == 1, id <= self.lastSubmitted, self.stream(id) == nil, !self.cut.contains(id) else { return true }
        self.violation = Violation("\(frame) after the end of stream \(id)", code: HTTP2ErrorCode.streamClosed)
        return false
    }

    func headerArrived(
        _ id: Int32,
        _ name: UnsafePointer<UInt8>,
        _ nameSize: Int,
        _ value: UnsafePointer<UInt8>?,
        _ valueSize: Int
    ) -> Int32 {
        guard let stream = self.stream(id), stream.pointee.isPending else { return 0 }
        // RFC 9113 §10.5.1: a field counts 32 bytes more than its text.
        stream.pointee.headerListSize += nameSize + valueSize + 32
        guard stream.pointee.headerListSize <= self.settings.maxHeaderListSize else {
            self.finish(stream, .unknown(.malformed))
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        if name[0] == UInt8(ascii: ":") {
            // nghttp2 lets only a valid `:status`, three digits, through.
            var status: Int32 = 0
            for index in 0..<valueSize { status = status &* 10 &+ Int32(value![index] &- UInt8(ascii: "0")) }
            stream.pointee.beginResponse(status: status)
        } else if stream.pointee.takesHeaders {
            for position in 0..<self.keptNames.count where self.keptNames[position].matches(name, nameSize) {
                stream.pointee.keep(position, value, valueSize)
            }
        }
        return 0
    }

    func dataArrived(_ id: Int32, _ bytes: UnsafePointer<UInt8>?, _ size: Int) {
        guard let stream = self.stream(id), stream.pointee.isPending else { return }
        let total = stream.pointee.received.count - stream.pointee.keptEnd + size
        guard total <= self.settings.maxResponseBody else { return self.abandon(stream, .malformed) }
        stream.pointee.received.append(bytes, size)
        self.gate.bodyArrived(size)
    }

    func frameArrived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard let stream = self.stream(header.stream_id) else { return }
            stream.pointee.takesHeaders = false
            guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
            stream.pointee.isEnded = true
            self.answered(stream)
        case NGHTTP2_RST_STREAM.rawValue:
            self.stream(header.stream_id)?.pointee.wasReset = true
        case NGHTTP2_SETTINGS.rawValue:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { self.settingsArrived() }
        case NGHTTP2_GOAWAY.rawValue:
            self.goAwayArrived(frame.pointee.goaway)
        default:
            break
        }
    }

    func answered(_ stream: ClientStream.Pointer) {
        guard stream.pointee.isPending else { return }
        self.gate.earn(FloodGate.perMessage)
        // An answer before the whole body was sent: the rest of the body helps nobody and would hold the stream.
        if !stream.pointee.body.range.isEmpty {
            let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
            nghttp2_submit_rst_stream(self.session, flags, stream.pointee.id, NGHTTP2_CANCEL.rawValue)
        }
        self.waiting.remove(stream)
        self.delegate?.http2(
            self,
            context: stream.pointee.context,
            didReceive: stream.pointee.response(at: self.loop.now)
        )
    }

    func settingsArrived() {
        guard !self.inbound.beganWithGoAway else { return }
        let named = nghttp2_session_get_remote_settings(self.session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        let limit = named == .max ? 100 : Int(named)
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

    func goAwayArrived(_ frame: nghttp2_goaway) {
        self.lowestGoAway = min(self.lowestGoAway ?? .max, frame.last_stream_id)
        self.drain()
        let debugData = UnsafeBufferPointer(start: frame.opaque_data, count: min(frame.opaque_data_len, 1024))
        let goAway = GoAway(
            lastStreamID: frame.last_stream_id,
            errorCode: frame.error_code,
            debugData: Array(debugData)
        )
        self.delegate?.http2(self, didReceive: goAway)
        if self.inbound.beganWithGoAway { self.end(.refused(goAway.errorCode)) }
    }

    func streamClosed(_ id: Int32, _ code: UInt32) {
        guard let stream = self.stream(id) else { return }
        self.current = nil
        self.currentID = 0
        if stream.pointee.isPending { self.finish(stream, self.failure(of: stream, code)) }
        if !stream.pointee.isEnded { self.cut.insert(id) }
        stream.pointee.clear()
        self.streams.give(back: stream)
        self.offerStreams()
    }

    func failure(of stream: ClientStream.Pointer, _ code: UInt32) -> StreamFailure {
        if let last = self.lowestGoAway, stream.pointee.id > last { return .notProcessed(.goAway) }
        if stream.pointee.id > self.lastHandedOver { return .notProcessed(.neverSent) }
        guard stream.pointee.wasReset else { return .unknown(.malformed) }
        return code == NGHTTP2_REFUSED_STREAM.rawValue ? .notProcessed(.refused) : .unknown(.reset(code))
    }

    func headersDepart(_ id: Int32) {
        self.departing = id
        self.lastHandedOver = id
    }

    /// The peer lets us send; see `FloodGate`.
    func bodyDeparts() {
        self.gate.earn(2)
    }

    func broke(_ violation: Violation) {
        self.violation = violation
    }
}

extension [UInt8] {
    fileprivate func matches(_ other: UnsafePointer<UInt8>, _ size: Int) -> Bool {
        guard self.count == size else { return false }
        for index in 0..<size where self[index] != other[index] { return false }
        return true
    }
}

internal import CNghttp2
internal import Loop

// MARK: - What nghttp2 reports

extension HTTP2Server {
    func stream(_ id: Int32) -> ServerStream.Pointer? {
        if id == self.currentID, let current = self.current { return current }
        guard let session = self.session else { return nil }
        let data = nghttp2_session_get_stream_user_data(session, id)
        self.current = data?.assumingMemoryBound(to: ServerStream.self)
        self.currentID = id
        return self.current
    }

    func frameBegins() -> Int32 {
        guard !self.isOver else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
        guard self.gate.frameArrived(at: self.loop.now) else {
            self.violation = .tooManyFrames
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        return 0
    }

    func streamBegins(_ id: Int32) {
        let stream = self.streams.take()
        stream.pointee.begin(id)
        nghttp2_session_set_stream_user_data(self.session, id, stream)
        self.current = stream
        self.currentID = id
        self.highestStream = max(self.highestStream, id)
        self.counters.peakStreams = max(self.counters.peakStreams, self.streams.count)
        let isOverLimit = self.streams.count > self.streamLimit && self.settings.overflow != .accept
        guard isOverLimit || id > self.lastAccepted else { return }
        if isOverLimit, self.settings.overflow == .goAway, !self.hasOverflowed {
            self.hasOverflowed = true
            let text = "Maximum active streams violated for this endpoint."
            self.goAway(lastStreamID: id - 2, code: NGHTTP2_REFUSED_STREAM.rawValue, debugData: Array(text.utf8))
        }
        stream.pointee.isIgnored = true
        self.counters.refused += 1
        // What comes above a GOAWAY is ignored without a word; the GOAWAY has said it all.
        if id <= self.lastAccepted { self.reset(stream: id, code: NGHTTP2_REFUSED_STREAM.rawValue) }
    }

    func headerArrived(
        _ id: Int32,
        _ name: UnsafePointer<UInt8>,
        _ nameSize: Int,
        _ value: UnsafePointer<UInt8>?,
        _ valueSize: Int
    ) -> Int32 {
        guard let stream = self.stream(id), !stream.pointee.isIgnored, !stream.pointee.headersEnded else { return 0 }
        stream.pointee.headerListSize += nameSize + valueSize + 32
        guard stream.pointee.headerListSize <= self.settings.maxHeaderListSize else {
            stream.pointee.isIgnored = true
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        stream.pointee.append(name, nameSize, value, valueSize)
        return 0
    }

    func dataArrived(_ id: Int32, _ bytes: UnsafePointer<UInt8>?, _ size: Int) {
        guard let stream = self.stream(id), !stream.pointee.isIgnored else { return }
        let kept = stream.pointee.received.count - stream.pointee.bodyStart
        stream.pointee.bodySize += size
        self.gate.bodyArrived(size)
        stream.pointee.received.append(bytes, min(size, self.settings.maxRequestBody - kept))
    }

    func frameArrived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let isAcknowledgement = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard let stream = self.stream(header.stream_id), !stream.pointee.isIgnored else { return }
            if !stream.pointee.headersEnded {
                stream.pointee.headersEnded = true
                stream.pointee.bodyStart = stream.pointee.received.count
            }
            guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
            self.gate.earn(FloodGate.perMessage)
            self.counters.requests += 1
            stream.pointee.isDelivered = true
            self.delegate?.http2Server(self, stream: header.stream_id, didReceive: stream.pointee.request)
        case NGHTTP2_RST_STREAM.rawValue:
            self.counters.resets += 1
        case NGHTTP2_PING.rawValue where !isAcknowledgement:
            self.counters.pings += 1
            guard self.acknowledgesPings, let session = self.session else { return }
            withUnsafeBytes(of: frame.pointee.ping.opaque_data) { data in
                let data = data.bindMemory(to: UInt8.self).baseAddress
                nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_ACK.rawValue), data)
            }
        case NGHTTP2_GOAWAY.rawValue:
            self.counters.goAways += 1
        default:
            break
        }
    }

    func streamClosed(_ id: Int32, _ code: UInt32) {
        guard let stream = self.stream(id) else { return }
        self.current = nil
        self.currentID = 0
        let isDelivered = stream.pointee.isDelivered
        stream.pointee.clear()
        self.streams.give(back: stream)
        guard isDelivered else { return }
        if self.isPulling {
            self.closedBySending = (id, code)
        } else {
            self.delegate?.http2Server(self, stream: id, didEnd: .reset(code))
        }
    }

    /// The client lets us send; see `FloodGate`.
    func bodyDeparts() {
        self.gate.earn(2)
    }

    func broke(_ violation: Violation) {
        self.violation = violation
    }
}

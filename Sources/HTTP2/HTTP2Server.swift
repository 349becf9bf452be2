internal import CNghttp2
package import Loop
internal import Push
package import Wire

/// The server's side of one HTTP/2 connection, made to be told to misbehave.
///
/// Requests are handed over complete; answers leave when the turn ends.
package final class HTTP2Server {
    private let loop: EventLoop
    private let settings: Settings
    private var delegate: (any HTTP2ServerDelegate)?
    private var transport: Transport?
    private var session: OpaquePointer?
    private var isInsideSession = false
    private var isPulling = false
    private var isOver = false

    private var streams = StreamPool<ServerStream>()
    private var current: ServerStream.Pointer?
    private var currentID: Int32 = 0
    private var highestStream: Int32 = 0
    private var lastAccepted = Int32.max
    private var answersUnderWay = Departures<Int32>()
    /// The stream that nghttp2 closed while it handed out a frame: by that frame, if it ends the stream.
    private var closedBySending: (id: Int32, code: UInt32)?

    private var streamLimit: Int
    /// Limits whose SETTINGS nghttp2 has not handed out yet, in order. See `announce`.
    private var limitsToAnnounce: [Int?]
    private var framesToInject: [[UInt8]] = []
    private var hasOverflowed = false
    private var gate: FloodGate
    private var violation: String?
    /// The error code of the GOAWAY with which nghttp2 itself ended the session.
    private var goodbye: UInt32?

    package private(set) var counters = Counters()

    // MARK: Beginning

    /// Takes over a connection that a `Listener` has accepted; `delegate` is kept until it is over.
    /// - Parameter make: what the listener passed.
    package init(
        accepted make: (any TransportDelegate) -> Transport,
        settings: Settings = Settings(),
        on loop: EventLoop,
        delegate: any HTTP2ServerDelegate
    ) {
        self.loop = loop
        self.settings = settings
        self.delegate = delegate
        self.streamLimit = settings.maxConcurrentStreams ?? .max
        self.limitsToAnnounce = settings.sendsSettings ? [settings.maxConcurrentStreams] : []
        self.gate = FloodGate(at: loop.now)
        self.session = ServerSession.make(owner: self, settings: settings)
        self.transport = make(self)
    }

    deinit {
        if let session = self.session { nghttp2_session_del(session) }
    }

    // MARK: Answering

    /// Streams that are open now.
    package var openStreams: Int { self.streams.count }

    /// Answers a request when this turn ends. Does nothing if its stream is gone.
    /// - Parameters:
    ///   - status: 200 … 599.
    ///   - headers: without pseudo-headers; may be changed again when this returns.
    ///   - endsStream: false leaves the answer unfinished for ever.
    package func respond(
        stream id: Int32,
        status: Int,
        headers: HeaderBlock,
        body: Body = .none,
        endsStream: Bool = true
    ) {
        guard let session = self.session, let stream = self.stream(id), !stream.pointee.isIgnored else { return }
        stream.pointee.body = body.bytes
        stream.pointee.bodyNext = body.range.lowerBound
        stream.pointee.bodyEnd = body.range.upperBound
        stream.pointee.endsStream = endsStream
        var provider = nghttp2_data_provider()
        provider.source.ptr = UnsafeMutableRawPointer(stream)
        provider.read_callback = ServerSession.readBody
        let hasData = !body.range.isEmpty || !endsStream
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3) { digits in
            digits[0] = UInt8(ascii: "0") + UInt8(status / 100 % 10)
            digits[1] = UInt8(ascii: "0") + UInt8(status / 10 % 10)
            digits[2] = UInt8(ascii: "0") + UInt8(status % 10)
            let name: StaticString = ":status"
            _ = headers.withFields(front: 1, teachesNames: false) { start in
                start.pointee = nghttp2_nv(
                    name: UnsafeMutablePointer(mutating: name.utf8Start),
                    value: digits.baseAddress,
                    namelen: name.utf8CodeUnitCount,
                    valuelen: 3,
                    flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
                )
            } _: { fields, count in
                hasData
                    ? nghttp2_submit_response(session, id, fields, count, &provider)
                    : nghttp2_submit_response(session, id, fields, count, nil)
            }
        }
        self.transport?.setNeedsFlush()
    }

    /// Sends the rest of an answer that was left unfinished.
    package func finish(stream id: Int32, body: Body) {
        guard let session = self.session, let stream = self.stream(id), !stream.pointee.endsStream else { return }
        stream.pointee.body = body.bytes
        stream.pointee.bodyNext = body.range.lowerBound
        stream.pointee.bodyEnd = body.range.upperBound
        stream.pointee.endsStream = true
        var provider = nghttp2_data_provider()
        provider.source.ptr = UnsafeMutableRawPointer(stream)
        provider.read_callback = ServerSession.readBody
        nghttp2_submit_data(session, UInt8(NGHTTP2_FLAG_END_STREAM.rawValue), id, &provider)
        self.transport?.setNeedsFlush()
    }

    /// Sends RST_STREAM.
    package func reset(stream: Int32, code: UInt32) {
        guard let session = self.session, !self.isOver else { return }
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
        self.transport?.setNeedsFlush()
    }

    // MARK: Connection

    /// Sends GOAWAY exactly as told, any number of times. New streams above the lowest `lastStreamID` told so far are
    /// refused; those already handed over may still be answered. The connection stays until `close`.
    package func goAway(lastStreamID: Int32, code: UInt32, debugData: [UInt8] = []) {
        self.lastAccepted = min(self.lastAccepted, lastStreamID)
        self.inject(RawFrame.goAway(lastStreamID: lastStreamID, errorCode: code, debugData: debugData))
    }

    /// The highest stream the client has opened.
    package var highestStreamID: Int32 { self.highestStream }

    /// Announces another limit; `Settings.overflow` says what happens to streams above it, from now on.
    package func setMaxConcurrentStreams(_ limit: Int) {
        guard let session = self.session, !self.isOver else { return }
        self.streamLimit = limit
        self.limitsToAnnounce.append(limit)
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil, 0)
        self.transport?.setNeedsFlush()
    }

    /// Announces another INITIAL_WINDOW_SIZE.
    package func setInitialWindow(_ size: UInt32) {
        guard let session = self.session, !self.isOver else { return }
        self.limitsToAnnounce.append(nil)
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
            value: size
        )
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
        self.transport?.setNeedsFlush()
    }

    /// Whether PING is answered.
    package var acknowledgesPings = true

    /// Sends nothing while it is true, though everything is received and may be answered: a black hole.
    package var isSilent = false {
        didSet { if !self.isSilent { self.transport?.setNeedsFlush() } }
    }

    /// Stops reading from the socket, so that the client's bytes pile up.
    package func pauseReading() {
        self.transport?.pauseReading()
    }

    package func resumeReading() {
        self.transport?.resumeReading()
    }

    /// Writes bytes of the caller's making between two frames.
    package func inject(_ frame: [UInt8]) {
        guard !self.isOver else { return }
        self.framesToInject.append(frame)
        if !self.isInsideSession { self.writeInjected() }
    }

    /// Closes as soon as what was said has been handed to the kernel. Nothing is received any more; `didClose` is
    /// called before this returns.
    package func close() {
        if let transport = self.transport, !self.isInsideSession {
            self.pull(into: transport, upTo: .max)
            transport.sendNow()
        }
        self.end(.closed)
    }

    /// Closes with RST, as a crash or a firewall does; `didClose` is called before this returns.
    package func abort() {
        self.transport?.reset()
        self.end(.closed)
    }

    /// Bytes that wait for the kernel.
    package var unsentBytes: Int { self.transport?.unsentBytes ?? 0 }

    private func end(_ reason: CloseReason) {
        guard !self.isOver, let transport = self.transport else { return }
        self.settleAnswers(transport)
        guard !self.isOver else { return }
        self.isOver = true
        transport.closeWhenSent()
        while let lost = self.answersUnderWay.first {
            self.answersUnderWay.removeFirst()
            self.delegate?.http2Server(self, stream: lost.note, didEnd: .connectionLost)
        }
        self.streams.visit { stream in
            guard stream.pointee.id != 0, stream.pointee.isDelivered else { return }
            self.delegate?.http2Server(self, stream: stream.pointee.id, didEnd: .connectionLost)
        }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.http2Server(self, didClose: reason)
        self.freeSession()
    }

    private func freeSession() {
        guard self.isOver, !self.isInsideSession, let session = self.session else { return }
        self.session = nil
        nghttp2_session_del(session)
    }
}

// MARK: - Bytes

extension HTTP2Server: TransportDelegate {
    package func transportDidOpen(_ transport: Transport) {
        self.delegate?.http2ServerDidOpen(self)
        transport.setNeedsFlush()
    }

    package func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        guard let session = self.session, !self.isOver else { return }
        guard self.gate.bytesArrived(bytes.count, at: self.loop.now) else {
            return self.give(up: "too much data to no purpose", transport)
        }
        self.isInsideSession = true
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = nghttp2_session_mem_recv(session, start, bytes.count)
        self.isInsideSession = false
        guard !self.isOver else { return self.freeSession() }
        guard result >= 0 else { return self.give(up: self.violation ?? Nghttp2Error.text(Int32(result)), transport) }
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

    private func pull(into transport: Transport, upTo highWater: Int) {
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
    private func send(_ frame: UnsafeRawBufferPointer, over transport: Transport) {
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
    private func announce(_ frame: UnsafeRawBufferPointer, over transport: Transport) {
        guard !self.limitsToAnnounce.isEmpty, let limit = self.limitsToAnnounce.removeFirst() else {
            return transport.write(frame)
        }
        let others = frame[RawFrame.headerSize...]
        transport.write(RawFrame.settings(others, maxConcurrentStreams: UInt32(clamping: limit)))
    }

    private func writeInjected() {
        guard let transport = self.transport, !self.framesToInject.isEmpty else { return }
        self.pull(into: transport, upTo: .max)
        for frame in self.framesToInject { transport.write(frame) }
        self.framesToInject.removeAll()
    }

    private func give(up why: String, _ transport: Transport) {
        transport.write(RawFrame.goAway(lastStreamID: self.highestStream, broken: why))
        self.end(.protocolError(why))
    }

    private func settleAnswers(_ transport: Transport) {
        let gone = transport.bytesWritten - transport.unsentBytes
        while let first = self.answersUnderWay.first, first.offset <= gone {
            self.answersUnderWay.removeFirst()
            self.counters.answered += 1
            self.delegate?.http2Server(self, stream: first.note, didEnd: .answered)
        }
    }

    private func endIfSilent() {
        guard let session = self.session, !self.isOver else { return }
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return }
        let broken = self.goodbye.map { Nghttp2Error.text(goodbye: $0, detail: self.violation) }
        self.end(broken.map { .protocolError($0) } ?? .drained)
    }
}

// MARK: - What nghttp2 reports

extension HTTP2Server {
    private func stream(_ id: Int32) -> ServerStream.Pointer? {
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
            self.violation = "too many frames to no purpose"
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

    func broke(_ rule: String) {
        self.violation = rule
    }
}

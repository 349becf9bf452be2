internal import CNghttp2
package import Loop
internal import Push
package import Wire

/// One HTTP/2 connection to a server (RFC 9113). It connects, serves, closes, is thrown away.
///
/// nghttp2 is the state machine and the HPACK; the transport carries the bytes. Requests that are submitted in one
/// turn leave together when it ends. Every request ends in exactly one call of `didReceive` or `didFail`.
package final class HTTP2Client {
    private enum Phase {
        case connecting, waitingForSettings, ready, draining, closed
    }

    private let loop: EventLoop
    private let settings: Settings
    private let usesTLS: Bool
    private let keptNames: [[UInt8]]
    private let front: RequestFront
    private var delegate: (any HTTP2ClientDelegate)?
    private var transport: Transport?
    private var session: OpaquePointer?
    private var isInsideSession = false
    private var phase = Phase.connecting

    private var streams = StreamPool<ClientStream>()
    private var waiting = WaitingRequests()
    /// nghttp2's callbacks of one frame all name the same stream; this saves looking it up each time.
    private var current: ClientStream.Pointer?
    private var currentID: Int32 = 0

    /// The request whose HEADERS nghttp2 is just handing out.
    private var departing: Int32 = 0
    private var lastHandedOver: Int32 = 0
    private var departures = Departures<Int32>()
    private var hasFreedStreams = false
    private var taughtNames = false

    private var requestDeadline: Deadline?
    private var aliveDeadline: Deadline?
    private var drainDeadline: Deadline?
    private var liveness: Liveness
    private var gate: FloodGate
    private var lowestGoAway: Int32?
    private var violation: String?
    /// The error code of the GOAWAY with which nghttp2 itself ended the session.
    private var goodbye: UInt32?

    // MARK: Beginning

    /// Begins to connect; `delegate` is kept until the connection is over and hears nothing from within this call.
    /// - Parameters:
    ///   - tls: made with ALPN `h2`; nil for HTTP/2 without TLS and with prior knowledge (RFC 9113 §3.3).
    ///   - authority: the value of `:authority`.
    package init(
        to endpoint: Endpoint,
        tls: TLSContext?,
        authority: String,
        settings: Settings = Settings(),
        on loop: EventLoop,
        delegate: any HTTP2ClientDelegate
    ) {
        self.loop = loop
        self.settings = settings
        self.usesTLS = tls != nil
        self.keptNames = settings.keptHeaders.map { Array($0.utf8) }
        self.front = RequestFront(scheme: tls == nil ? "http" : "https", authority: authority)
        self.delegate = delegate
        self.liveness = Liveness(interval: settings.pingInterval, timeout: settings.pingTimeout, at: loop.now)
        self.gate = FloodGate(at: loop.now)
        self.session = ClientSession.make(owner: self, maxHeaderListSize: settings.maxHeaderListSize)
        self.transport = Transport(
            connectingTo: endpoint,
            tls: tls,
            settings: settings.transport,
            on: loop,
            delegate: self
        )
    }

    deinit {
        if let session = self.session { nghttp2_session_del(session) }
    }

    // MARK: Streams

    /// How many streams the peer allows; 0 before its first SETTINGS, 100 if it names no limit.
    package private(set) var peerStreamLimit = 0

    /// How many streams the owner allows; default 1000. A lower value does not touch open streams.
    package var localStreamCap = 1000 {
        didSet { if self.localStreamCap > oldValue { self.offerStreams() } }
    }

    /// Streams that are not closed yet, including those of requests that were cancelled or timed out.
    package var openStreams: Int { self.streams.count }

    /// How many more requests may be submitted now; 0 before the first SETTINGS and after GOAWAY, `drain` or the end.
    package var availableStreams: Int {
        guard self.phase == .ready else { return 0 }
        return max(0, min(self.peerStreamLimit, self.localStreamCap) - self.streams.count)
    }

    /// Bytes that wait for the kernel; large when the peer is slow.
    package var unsentBytes: Int { self.transport?.unsentBytes ?? 0 }

    /// Bytes handed to TLS or the kernel so far.
    package var bytesSent: Int { self.transport.map { $0.bytesWritten - $0.unsentBytes } ?? 0 }

    /// Sends one request when this turn ends.
    /// - Parameters:
    ///   - headers: with `:method` and `:path`; may be changed again when this returns.
    ///   - context: comes back with the outcome.
    /// - Returns: the stream, for `cancel`.
    /// - Precondition: `availableStreams` > 0.
    @discardableResult
    package func submit(_ headers: HeaderBlock, body: Body, context: UInt64) -> Int32 {
        precondition(self.availableStreams > 0, "a request was submitted where none may be")
        let stream = self.streams.take()
        stream.pointee.begin(context: context, body: body, at: self.loop.now)
        var provider = nghttp2_data_provider()
        provider.source.ptr = UnsafeMutableRawPointer(stream)
        provider.read_callback = ClientSession.readBody
        let id = headers.withFields(front: 2, teachesNames: !self.taughtNames) { start in
            self.front.fill(start)
        } _: { fields, count in
            body.range.isEmpty
                ? nghttp2_submit_request(self.session, nil, fields, count, nil, stream)
                : nghttp2_submit_request(self.session, nil, fields, count, &provider, stream)
        }
        // Fails only without memory, or when the ids are used up, which `drain` below prevents.
        precondition(id > 0, "nghttp2 takes no request")
        self.taughtNames = true
        stream.pointee.id = id
        self.waiting.append(stream)
        if self.requestDeadline == nil { self.awaitOldest() }
        self.transport?.setNeedsFlush()
        // Ids end at 2³¹; a busy connection gets there within a day.
        if id >= Self.lastStreamID { self.drain() }
        return id
    }

    /// Stops waiting for one request: it fails at once, before this returns, and the peer is told to forget it. Does
    /// nothing when the request already had its outcome.
    package func cancel(_ stream: Int32) {
        guard let request = self.waiting.find(stream) else { return }
        self.abandon(request, .cancelled)
    }

    private static let lastStreamID: Int32 = .max - 4096

    // MARK: Ending

    /// Takes no new requests, and closes when the open ones are answered or `drainTimeout` is over.
    package func drain() {
        guard self.phase != .closed, self.phase != .draining else { return }
        self.phase = .draining
        self.drainDeadline = self.loop.after(self.settings.drainTimeout) { self.end(.drainTimeout) }
        self.loop.after(.zero) { self.endIfDrained() }
    }

    /// Closes at once. Open requests fail, and `didClose` is called, before this returns.
    package func close() {
        self.end(.closed)
    }

    /// Whether it is over.
    package var isClosed: Bool { self.phase == .closed }

    private func endIfDrained() {
        if self.phase == .draining, self.waiting.oldest == nil { self.end(.drained) }
    }

    private func end(_ reason: CloseReason) {
        guard self.phase != .closed, let transport = self.transport else { return }
        self.phase = .closed
        for deadline in [self.requestDeadline, self.aliveDeadline, self.drainDeadline] { deadline?.cancel() }
        var neverLeft = self.lastHandedOver
        if case .protocolError = reason {
            // nghttp2 has just said why, in a GOAWAY.
            transport.closeWhenSent()
        } else {
            neverLeft = self.lastThatMayHaveLeft(transport)
            self.close(transport)
        }
        while let request = self.waiting.oldest {
            self.finish(request, request.pointee.id > neverLeft ? .notProcessed(.neverSent) : .unknown(.connectionLost))
        }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.http2(self, didClose: reason)
        self.freeSession()
    }

    /// The last request of which some byte may be on its way. An encrypted record (at most 16 KiB) may be half gone.
    private func lastThatMayHaveLeft(_ transport: Transport) -> Int32 {
        let gone = transport.bytesWritten - transport.unsentBytes + (self.usesTLS ? 16 * 1024 : 0)
        var last = self.lastHandedOver
        while let first = self.departures.first {
            guard first.offset < gone else {
                last = first.note - 2
                break
            }
            self.departures.removeFirst()
        }
        return last
    }

    private func close(_ transport: Transport) {
        guard !transport.isClosed, transport.unsentBytes == 0 else { return transport.close() }
        transport.write(RawFrame.goAway(lastStreamID: 0, errorCode: 0, debugData: []))
        transport.closeWhenSent()
    }

    private func freeSession() {
        guard self.phase == .closed, !self.isInsideSession, let session = self.session else { return }
        self.session = nil
        nghttp2_session_del(session)
    }

    // MARK: Outcomes

    private func finish(_ stream: ClientStream.Pointer, _ failure: StreamFailure) {
        self.waiting.remove(stream)
        self.delegate?.http2(self, context: stream.pointee.context, didFail: failure)
    }

    /// Fails a request whose stream is still open, and resets the stream.
    private func abandon(_ stream: ClientStream.Pointer, _ why: StreamFailure.Unknown) {
        let id = stream.pointee.id
        nghttp2_submit_rst_stream(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, NGHTTP2_CANCEL.rawValue)
        self.transport?.setNeedsFlush()
        self.finish(stream, id > self.lastHandedOver ? .notProcessed(.neverSent) : .unknown(why))
    }

    private func awaitOldest() {
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

    private func offerStreams() {
        self.hasFreedStreams = true
        self.transport?.setNeedsFlush()
    }

    // MARK: Is anybody there?

    private func stayAlive() {
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
            nghttp2_submit_ping(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
            self.transport?.setNeedsFlush()
        case .giveUp:
            self.end(.pingTimeout)
        }
    }
}

// MARK: - Bytes

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
        self.liveness.bytesArrived(at: self.loop.now)
        guard self.gate.bytesArrived(bytes.count, at: self.loop.now) else {
            return self.give(up: "too much data to no purpose", transport)
        }
        self.isInsideSession = true
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = nghttp2_session_mem_recv(session, start, bytes.count)
        self.isInsideSession = false
        guard self.phase != .closed else { return self.freeSession() }
        guard result >= 0 else { return self.give(up: self.violation ?? Nghttp2Error.text(Int32(result)), transport) }
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
    }

    package func transport(_: Transport, didClose error: TransportError) {
        self.end(.transport(error))
    }

    private func give(up why: String, _ transport: Transport) {
        transport.write(RawFrame.goAway(lastStreamID: 0, broken: why))
        self.end(.protocolError(why))
    }

    private func settleDepartures(_ transport: Transport) {
        let gone = transport.bytesWritten - transport.unsentBytes
        while let first = self.departures.first, first.offset < gone { self.departures.removeFirst() }
    }

    /// nghttp2 wants nothing more after it has said goodbye for a broken rule, or when GOAWAY left nothing open.
    private func endIfSilent(_ session: OpaquePointer) {
        guard self.phase != .closed else { return }
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return }
        if let goodbye = self.goodbye {
            return self.end(.protocolError(Nghttp2Error.text(goodbye: goodbye, detail: self.violation)))
        }
        self.end(self.waiting.oldest == nil ? .drained : .protocolError("the session ended"))
    }
}

// MARK: - What nghttp2 reports

extension HTTP2Client {
    private func stream(_ id: Int32) -> ClientStream.Pointer? {
        if id == self.currentID { return self.current }
        let data = nghttp2_session_get_stream_user_data(self.session, id)
        self.current = data?.assumingMemoryBound(to: ClientStream.self)
        self.currentID = id
        return self.current
    }

    func frameBegins(_ type: UInt8) -> Int32 {
        guard self.phase != .closed else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
        // nghttp2 would take it until our SETTINGS is acknowledged; a server has read that before any request.
        guard UInt32(type) != NGHTTP2_PUSH_PROMISE.rawValue else {
            self.violation = "PUSH_PROMISE though push is off"
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        guard self.gate.frameArrived(at: self.loop.now) else {
            self.violation = "too many frames to no purpose"
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        return 0
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
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { self.answered(stream) }
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

    private func answered(_ stream: ClientStream.Pointer) {
        guard stream.pointee.isPending else { return }
        self.gate.earn(FloodGate.perMessage)
        // An answer before the whole body was sent: the rest of the body helps nobody and would hold the stream.
        if stream.pointee.bodyNext < stream.pointee.bodyEnd {
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

    private func settingsArrived() {
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

    private func goAwayArrived(_ frame: nghttp2_goaway) {
        self.lowestGoAway = min(self.lowestGoAway ?? .max, frame.last_stream_id)
        if self.phase == .waitingForSettings { self.stayAlive() }
        self.drain()
        let debugData = UnsafeBufferPointer(start: frame.opaque_data, count: min(frame.opaque_data_len, 1024))
        let goAway = GoAway(
            lastStreamID: frame.last_stream_id,
            errorCode: frame.error_code,
            debugData: Array(debugData)
        )
        self.delegate?.http2(self, didReceive: goAway)
    }

    func streamClosed(_ id: Int32, _ code: UInt32) {
        guard let stream = self.stream(id) else { return }
        self.current = nil
        self.currentID = 0
        if stream.pointee.isPending { self.finish(stream, self.failure(of: stream, code)) }
        stream.pointee.clear()
        self.streams.give(back: stream)
        self.offerStreams()
    }

    private func failure(of stream: ClientStream.Pointer, _ code: UInt32) -> StreamFailure {
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

    func broke(_ rule: String) {
        self.violation = rule
    }
}

extension [UInt8] {
    fileprivate func matches(_ other: UnsafePointer<UInt8>, _ size: Int) -> Bool {
        guard self.count == size else { return false }
        for index in 0..<size where self[index] != other[index] { return false }
        return true
    }
}

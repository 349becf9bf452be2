internal import CNghttp2
package import Loop
internal import Push
package import Wire

/// One HTTP/2 connection to a server: connects, lives, closes, is thrown away.
///
/// nghttp2 is the protocol's state machine, ``Transport`` the bytes' way. Every request that was submitted comes back
/// to the delegate exactly once, as an answer or as a failure that says whether the server may have acted on it.
package final class HTTP2Client {
    package struct Settings: Sendable {
        /// A PING is sent after so long without a frame from the peer; default 45 s.
        package var pingInterval: Duration = .seconds(45)
        /// How long the answer to a PING may take; default 10 s.
        package var pingTimeout: Duration = .seconds(10)
        /// How long the first SETTINGS frame may take once connected; default 10 s.
        package var settingsTimeout: Duration = .seconds(10)
        /// How long a request waits for its answer; default 20 s.
        package var requestTimeout: Duration = .seconds(20)
        /// How long a draining connection waits for what is in flight; default 30 s.
        package var drainTimeout: Duration = .seconds(30)
        /// Response fields that are delivered, lower case.
        package var keptHeaders: [String] = []
        /// Largest answer body taken; default 16 KiB.
        package var maxResponseBody = 16 * 1024
        package var transport = Transport.Settings()

        package init() {}
    }

    let settings: Settings
    private let keptHeaders: [[UInt8]]
    private let loop: EventLoop
    private var delegate: (any HTTP2ClientDelegate)?
    private var transport: Transport?
    private var session: OpaquePointer?
    private var table = RequestTable()
    private var deadlines = DeadlineLine()
    private var requestTimer: Deadline?
    private var keepAlive: Deadline?
    private var setupTimer: Deadline?
    private var drainTimer: Deadline?
    private var lastReceived: MonotonicTime
    private var isReady = false
    private var isDraining = false
    private var isClosed = false
    private var isReceiving = false
    private var freedStreams = false
    private var turnEndIsDue = false
    private var goAway: GoAway?
    private var closeAfterReceiving: CloseReason?

    /// MAX_CONCURRENT_STREAMS as the peer last set it; 0 before its first SETTINGS.
    package private(set) var peerStreamLimit = 0
    /// A bound of our own below the peer's.
    package var localStreamCap = Int.max

    /// Begins to connect; the delegate hears of it later.
    package init(
        to endpoint: Endpoint,
        tls: TLSContext?,
        settings: Settings = Settings(),
        on loop: EventLoop,
        delegate: any HTTP2ClientDelegate
    ) {
        self.settings = settings
        self.keptHeaders = settings.keptHeaders.map { Array($0.utf8) }
        self.loop = loop
        self.delegate = delegate
        self.lastReceived = loop.now
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

    // MARK: Requests

    /// Requests that wait for an answer.
    package var openStreams: Int { self.table.count }

    /// How many more requests may be sent now: none before the first SETTINGS, after GOAWAY or when draining.
    package var availableStreams: Int {
        guard self.isReady, !self.isDraining, !self.isClosed else { return 0 }
        return max(0, min(self.peerStreamLimit, self.localStreamCap) - self.table.count)
    }

    /// Sends a request when this turn ends.
    /// - Parameters:
    ///   - headers: pseudo fields first.
    ///   - range: which bytes of `body` are the request's; kept alive until they are sent.
    ///   - context: comes back with the outcome.
    /// - Precondition: `availableStreams` is above zero.
    package func submit(_ headers: borrowing HeaderList, body: [UInt8], range: Range<Int>, context: UInt64) {
        precondition(self.availableStreams > 0, "no stream is available")
        let slot = self.table.open(context: context, body: body, range: range)
        var provider = nghttp2_data_provider()
        provider.source.ptr = UnsafeMutableRawPointer(bitPattern: slot + 1)
        provider.read_callback = { _, _, buffer, room, flags, source, user in
            let client = Unmanaged<HTTP2Client>.fromOpaque(user!).takeUnretainedValue()
            return client.readBody(Int(bitPattern: source!.pointee.ptr) - 1, into: buffer, room: room, flags: flags)
        }
        let stream = headers.withNameValues { values, count in
            nghttp2_submit_request(
                self.session,
                nil,
                values,
                count,
                &provider,
                UnsafeMutableRawPointer(bitPattern: slot + 1)
            )
        }
        guard stream > 0 else {
            // Stream ids run out after 2^30 requests: this connection is spent, the request is not.
            self.loop.after(.zero) { [weak self] in self?.end(slot, .failure(.notProcessed(.neverSent))) }
            return self.drain()
        }
        self.table[slot].stream = stream
        self.deadlines.append(
            self.loop.now + self.settings.requestTimeout,
            slot: slot,
            generation: self.table[slot].generation
        )
        if self.requestTimer == nil { self.scheduleRequestTimer() }
        self.transport?.setNeedsFlush()
    }

    private func readBody(
        _ slot: Int,
        into buffer: UnsafeMutablePointer<UInt8>?,
        room: Int,
        flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        let body = self.table[slot].body
        return NGHTTP2.take(from: body, &self.table[slot].unsent, into: buffer, room: room, flags: flags)
    }

    // MARK: Ending

    /// Takes no more requests, waits for the answers that are due, then closes.
    package func drain() {
        guard !self.isDraining, !self.isClosed else { return }
        self.isDraining = true
        guard self.table.count > 0 else { return self.close(self.goAway == nil ? .local : .goAway, later: true) }
        self.drainTimer = self.loop.after(self.settings.drainTimeout) { [weak self] in
            guard let self else { return }
            self.finish(self.goAway == nil ? .local : .goAway)
        }
    }

    /// Closes at once. Requests in flight fail, those that never left as not processed.
    package func close() {
        self.finish(.local)
    }

    private func close(_ reason: CloseReason, later: Bool) {
        self.loop.after(.zero) { [weak self] in self?.finish(reason) }
    }

    /// Ends everything once. While nghttp2 is on the call stack its session must stay, so that is put off.
    private func finish(_ reason: CloseReason) {
        guard !self.isClosed else { return }
        if self.isReceiving {
            if self.closeAfterReceiving == nil { self.closeAfterReceiving = reason }
            return
        }
        self.isClosed = true
        for timer in [self.requestTimer, self.keepAlive, self.setupTimer, self.drainTimer] { timer?.cancel() }
        if case .transport = reason {
        } else if let session = self.session, let transport = self.transport {
            // RFC 9113 §5.4.1: say why before leaving, as far as the socket takes it at once.
            nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue)
            _ = NGHTTP2.drain(session) {
                transport.write($0)
                return true
            }
            transport.closeWhenSent()
        }
        for slot in self.table.open {
            let wasSent = self.table[slot].wasSent
            self.end(slot, .failure(wasSent ? .unknown(.connectionLost) : .notProcessed(.neverSent)))
        }
        self.transport = nil
        if let session = self.session { nghttp2_session_del(session) }
        self.session = nil
        let delegate = self.delegate
        self.delegate = nil
        delegate?.http2(self, didClose: reason)
    }

    // MARK: Deadlines

    private func scheduleRequestTimer() {
        self.requestTimer?.cancel()
        self.requestTimer = self.deadlines.next(in: self.table).map { time in
            self.loop.at(time) { [weak self] in self?.requestTimeIsUp() }
        }
    }

    private func requestTimeIsUp() {
        while let slot = self.deadlines.popDue(at: self.loop.now, in: self.table) {
            if let session = self.session {
                let stream = self.table[slot].stream
                nghttp2_session_set_stream_user_data(session, stream, nil)
                nghttp2_submit_rst_stream(session, 0, stream, NGHTTP2_CANCEL.rawValue)
                self.transport?.setNeedsFlush()
            }
            self.end(slot, .failure(self.table[slot].wasSent ? .unknown(.timeout) : .notProcessed(.neverSent)))
        }
        guard !self.isClosed else { return }
        self.scheduleRequestTimer()
    }

    private func scheduleKeepAlive() {
        self.keepAlive = self.loop.at(self.lastReceived + self.settings.pingInterval) { [weak self] in
            self?.checkSilence()
        }
    }

    private func checkSilence() {
        guard !self.isClosed, let session = self.session else { return }
        guard self.loop.now - self.lastReceived >= self.settings.pingInterval else { return self.scheduleKeepAlive() }
        nghttp2_submit_ping(session, 0, nil)
        self.transport?.setNeedsFlush()
        let asked = self.loop.now
        self.keepAlive = self.loop.after(self.settings.pingTimeout) { [weak self] in
            guard let self, !self.isClosed else { return }
            if self.lastReceived < asked { self.finish(.pingTimeout) } else { self.scheduleKeepAlive() }
        }
    }

    // MARK: Outcomes

    private enum Result {
        case answer
        case failure(StreamFailure)
    }

    private func end(_ slot: Int, _ result: Result) {
        guard self.table[slot].isOpen else { return }
        let context = self.table[slot].context
        switch result {
        case .answer:
            let response = HTTP2Response(
                status: self.table[slot].status,
                headers: self.table[slot].headers,
                body: self.table[slot].answer
            )
            self.table.close(slot)
            self.delegate?.http2(self, context: context, didReceive: response)
        case .failure(let failure):
            self.table.close(slot)
            self.delegate?.http2(self, context: context, didFail: failure)
        }
        self.freedStreams = true
        if self.isDraining, self.table.count == 0, !self.isClosed {
            self.close(self.goAway == nil ? .local : .goAway, later: true)
        }
        self.askForTurnEnd()
    }

    private func askForTurnEnd() {
        guard !self.turnEndIsDue else { return }
        self.turnEndIsDue = true
        self.loop.atTurnEnd(self)
    }

    fileprivate func streamClosed(_ slot: Int, code: UInt32) {
        guard self.table[slot].isOpen else { return }
        if self.table[slot].isAnswered {
            return self.end(slot, self.table[slot].status == 0 ? .failure(.unknown(.malformed)) : .answer)
        }
        switch code {
        case NGHTTP2_REFUSED_STREAM.rawValue:
            // nghttp2 closes the streams above a GOAWAY's last id with this code as well.
            let isAbove = self.goAway.map { self.table[slot].stream > $0.lastStreamID } ?? false
            self.end(slot, .failure(.notProcessed(isAbove ? .goAway : .refused)))
        case NGHTTP2_NO_ERROR.rawValue:
            self.end(slot, .failure(.unknown(.malformed)))
        default:
            self.end(slot, .failure(.unknown(.reset(code: code))))
        }
    }

    // MARK: Frames

    fileprivate func receivedSettings() {
        guard let session = self.session else { return }
        let limit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        // A peer that names no limit gets the hundred that RFC 9113 §6.5.2 recommends as the least.
        let newLimit = limit == UInt32.max ? 100 : Int(min(limit, 1 << 30))
        let changed = newLimit != self.peerStreamLimit
        self.peerStreamLimit = newLimit
        if !self.isReady {
            self.isReady = true
            self.setupTimer?.cancel()
            self.delegate?.http2DidBecomeReady(self)
        } else if changed {
            self.delegate?.http2(self, didChangeStreamLimit: newLimit)
        }
        self.freedStreams = true
        self.askForTurnEnd()
    }

    fileprivate func receivedGoAway(_ frame: GoAway) {
        // Of several, the lowest id counts: a graceful server first names the highest there is.
        let lowest = min(frame.lastStreamID, self.goAway?.lastStreamID ?? .max)
        self.goAway = GoAway(lastStreamID: lowest, errorCode: frame.errorCode, debugData: frame.debugData)
        self.delegate?.http2(self, didReceiveGoAway: frame)
        self.drain()
    }

    fileprivate func receivedHeader(_ slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        if name.count == 7, name.elementsEqual(":status".utf8) {
            self.table[slot].status = value.reduce(0) { $0 * 10 + Int($1) - 48 }
        } else if self.keptHeaders.contains(where: { name.elementsEqual($0) }) {
            self.table[slot].headers.append(name, value, .incremental)
        }
    }

    fileprivate func receivedData(_ slot: Int, stream: Int32, _ data: UnsafeBufferPointer<UInt8>) {
        if self.table[slot].answer.count + data.count > self.settings.maxResponseBody {
            nghttp2_session_set_stream_user_data(self.session, stream, nil)
            nghttp2_submit_rst_stream(self.session, 0, stream, NGHTTP2_CANCEL.rawValue)
            return self.end(slot, .failure(.unknown(.malformed)))
        }
        self.table[slot].answer.append(contentsOf: data)
    }

    fileprivate func receivedEnd(_ slot: Int, stream: Int32) {
        // An informational answer (1xx) carries no end of stream; this is the final one.
        self.table[slot].isAnswered = true
        // The server answered before it read everything: nothing more is owed on either side.
        if !self.table[slot].unsent.isEmpty {
            nghttp2_submit_rst_stream(self.session, 0, stream, NGHTTP2_NO_ERROR.rawValue)
        }
    }

    fileprivate func sentHeaders(_ slot: Int) {
        self.table[slot].wasSent = true
    }
}

extension HTTP2Client: TransportDelegate {
    package func transportDidOpen(_ transport: Transport) {
        self.lastReceived = self.loop.now
        self.session = ClientCallbacks.makeSession(for: self)
        self.setupTimer = self.loop.after(self.settings.settingsTimeout) { [weak self] in
            self?.finish(.settingsTimeout)
        }
        self.scheduleKeepAlive()
        transport.setNeedsFlush()
    }

    package func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        guard let session = self.session, !self.isClosed else { return }
        self.lastReceived = self.loop.now
        self.isReceiving = true
        let result = nghttp2_session_mem_recv(
            session,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count
        )
        self.isReceiving = false
        if let reason = self.closeAfterReceiving { return self.finish(reason) }
        if result < 0 { return self.finish(.protocolError(NGHTTP2.describe(result))) }
        transport.setNeedsFlush()
    }

    package func transportWillFlush(_ transport: Transport) {
        guard let session = self.session, !self.isClosed else { return }
        let highWater = self.settings.transport.highWater
        self.isReceiving = true
        let isAlive = NGHTTP2.drain(session) { frame in
            transport.write(frame)
            return transport.unsentBytes < highWater
        }
        self.isReceiving = false
        if let reason = self.closeAfterReceiving { return self.finish(reason) }
        guard isAlive else { return self.finish(.protocolError("cannot serialise")) }
        // nghttp2 has found the peer at fault and said so in a GOAWAY of its own.
        if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 {
            self.finish(self.goAway == nil ? .protocolError("the peer broke the protocol") : .goAway)
        }
    }

    package func transport(_: Transport, didClose error: TransportError) {
        self.transport = nil
        self.finish(self.goAway != nil && error == .closedByPeer ? .goAway : .transport("\(error)"))
    }
}

extension HTTP2Client: TurnEndHandler {
    package func turnEnds() {
        self.turnEndIsDue = false
        guard self.freedStreams, !self.isClosed else { return }
        self.freedStreams = false
        if self.availableStreams > 0 { self.delegate?.http2HasFreeStreams(self) }
    }
}

/// Hears what happens to a client connection, on its loop.
package protocol HTTP2ClientDelegate: AnyObject {
    /// The first SETTINGS arrived: requests may be sent.
    func http2DidBecomeReady(_ client: HTTP2Client)
    /// The peer moved its stream limit.
    func http2(_ client: HTTP2Client, didChangeStreamLimit limit: Int)
    /// A request was answered.
    func http2(_ client: HTTP2Client, context: UInt64, didReceive response: HTTP2Response)
    /// A request will get no answer.
    func http2(_ client: HTTP2Client, context: UInt64, didFail failure: StreamFailure)
    /// The peer ends the connection; requests above its last stream id fail at once, the others may still be answered.
    func http2(_ client: HTTP2Client, didReceiveGoAway frame: GoAway)
    /// Once per turn in which streams became free.
    func http2HasFreeStreams(_ client: HTTP2Client)
    /// It is over; every request has had its outcome.
    func http2(_ client: HTTP2Client, didClose reason: CloseReason)
}

/// nghttp2's callbacks. The session holds its client unretained: the client owns the session and outlives it.
private enum ClientCallbacks {
    static func makeSession(for client: HTTP2Client) -> OpaquePointer {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        self.install(on: callbacks)
        let options = NGHTTP2.options()
        defer { nghttp2_option_del(options) }
        var session: OpaquePointer?
        let this = Unmanaged.passUnretained(client).toOpaque()
        guard nghttp2_session_client_new2(&session, callbacks, this, options) == 0, let session else {
            preconditionFailure("out of memory")
        }
        NGHTTP2.settings(
            [
                (NGHTTP2_SETTINGS_ENABLE_PUSH, 0), (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65_535),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 16 * 1024),
            ],
            on: session
        )
        // Answers are small, but a thousand streams share the connection's window.
        nghttp2_session_set_local_window_size(session, 0, 0, 1 << 20)
        return session
    }

    private static func client(_ user: UnsafeMutableRawPointer?) -> HTTP2Client {
        Unmanaged<HTTP2Client>.fromOpaque(user!).takeUnretainedValue()
    }

    /// The request that a stream belongs to; nil when it was let go.
    private static func slot(_ session: OpaquePointer?, _ stream: Int32) -> Int? {
        nghttp2_session_get_stream_user_data(session, stream).map { Int(bitPattern: $0) - 1 }
    }

    private static func install(on callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session,
            frame,
            name,
            nameLength,
            value,
            valueLength,
            _,
            user in
            guard let frame, let slot = ClientCallbacks.slot(session, frame.pointee.hd.stream_id) else { return 0 }
            ClientCallbacks.client(user).receivedHeader(
                slot,
                name: UnsafeBufferPointer(start: name, count: nameLength),
                value: UnsafeBufferPointer(start: value, count: valueLength)
            )
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, data, count, user in
            guard let slot = ClientCallbacks.slot(session, stream) else { return 0 }
            ClientCallbacks.client(user).receivedData(
                slot,
                stream: stream,
                UnsafeBufferPointer(start: data, count: count)
            )
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, user in
            guard let frame else { return 0 }
            let client = ClientCallbacks.client(user)
            let head = frame.pointee.hd
            switch UInt32(head.type) {
            case NGHTTP2_SETTINGS.rawValue:
                if head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { client.receivedSettings() }
            case NGHTTP2_GOAWAY.rawValue:
                let goAway = frame.pointee.goaway
                let data = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
                client.receivedGoAway(
                    GoAway(
                        lastStreamID: goAway.last_stream_id,
                        errorCode: goAway.error_code,
                        debugData: Array(data.prefix(1024))
                    )
                )
            case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
                guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { break }
                if let slot = ClientCallbacks.slot(session, head.stream_id) {
                    client.receivedEnd(slot, stream: head.stream_id)
                }
            default: break
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { session, frame, user in
            guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue,
                let slot = ClientCallbacks.slot(session, frame.pointee.hd.stream_id)
            else { return 0 }
            ClientCallbacks.client(user).sentHeaders(slot)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, user in
            if let slot = ClientCallbacks.slot(session, stream) {
                ClientCallbacks.client(user).streamClosed(slot, code: code)
            }
            return 0
        }
    }
}

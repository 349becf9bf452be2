internal import CNghttp2
internal import Loop
package import Wire

/// One accepted HTTP/2 connection, for a server that may also misbehave on purpose.
package final class HTTP2Server {
    package struct Settings: Sendable {
        /// MAX_CONCURRENT_STREAMS at first; default 1000. nghttp2 refuses what exceeds it.
        package var maxConcurrentStreams = 1000
        package var headerTableSize = 4096
        package var initialWindow = 65_535
        /// Window of the whole connection; default what RFC 9113 §6.9.2 begins with.
        package var connectionWindow = 65_535
        package var maxHeaderListSize = 8000
        /// Largest request body taken; default 64 KiB.
        package var maxRequestBody = 64 * 1024

        package init() {}
    }

    let settings: Settings
    private var delegate: (any HTTP2ServerDelegate)?
    private var transport: Transport?
    private var session: OpaquePointer?
    private var requests: [Slot] = []
    private var free: [Int] = []
    private var isCalled = false
    private var isClosed = false
    private var failure: String?

    private struct Slot {
        var request = HTTP2Request()
        var answer: [UInt8] = []
        var unsent = 0..<0
    }

    /// Streams that are open now.
    package private(set) var openStreams = 0
    /// PING frames received.
    package private(set) var pingsReceived = 0

    /// - Parameter make: from ``Listener``; makes the transport for the delegate it is given.
    package init(
        accepted make: (any TransportDelegate) -> Transport,
        settings: Settings = Settings(),
        delegate: any HTTP2ServerDelegate
    ) {
        self.settings = settings
        self.delegate = delegate
        self.transport = make(self)
    }

    deinit {
        if let session = self.session { nghttp2_session_del(session) }
    }

    // MARK: Answering

    /// Answers a request when this turn ends. Does nothing if the stream is gone.
    /// - Parameter headers: `:status` first.
    package func respond(stream: Int32, _ headers: borrowing HeaderList, body: [UInt8] = []) {
        guard let session = self.session, let slot = self.slot(of: stream) else { return }
        headers.withNameValues { values, count in
            guard !body.isEmpty else {
                _ = nghttp2_submit_response(session, stream, values, count, nil)
                return
            }
            self.requests[slot].answer = body
            self.requests[slot].unsent = body.indices
            var provider = nghttp2_data_provider()
            provider.source.ptr = UnsafeMutableRawPointer(bitPattern: slot + 1)
            provider.read_callback = { _, _, buffer, room, flags, source, user in
                let server = Unmanaged<HTTP2Server>.fromOpaque(user!).takeUnretainedValue()
                let slot = Int(bitPattern: source!.pointee.ptr) - 1
                let answer = server.requests[slot].answer
                return NGHTTP2.take(
                    from: answer,
                    &server.requests[slot].unsent,
                    into: buffer,
                    room: room,
                    flags: flags
                )
            }
            nghttp2_submit_response(session, stream, values, count, &provider)
        }
        self.transport?.setNeedsFlush()
    }

    /// RST_STREAM.
    package func reset(stream: Int32, code: UInt32) {
        guard let session = self.session else { return }
        nghttp2_submit_rst_stream(session, 0, stream, code)
        self.transport?.setNeedsFlush()
    }

    /// GOAWAY with the highest stream id seen, or with a lower one. The connection stays open until `close`.
    package func goAway(lastStreamID: Int32? = nil, code: UInt32, debugData: [UInt8]) {
        guard let session = self.session else { return }
        let last = lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(session, 0, last, code, debugData, debugData.count)
        self.transport?.setNeedsFlush()
    }

    /// Tells the peer a new MAX_CONCURRENT_STREAMS.
    package func setMaxConcurrentStreams(_ limit: Int) {
        guard let session = self.session else { return }
        NGHTTP2.settings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(limit))], on: session)
        self.transport?.setNeedsFlush()
    }

    /// Stops or goes on reading: a stopped one answers nothing, PING included, like a black hole.
    package var isReadingPaused: Bool {
        get { self.transport?.isReadingPaused ?? false }
        set { self.transport?.isReadingPaused = newValue }
    }

    /// Closes once everything that was said is sent.
    package func close() {
        self.transport?.closeWhenSent()
        self.transportEnded("closed by this side")
    }

    /// Closes with a TCP reset.
    package func abort() {
        self.transport?.reset()
        self.transportEnded("reset by this side")
    }

    private func transportEnded(_ reason: String) {
        guard !self.isClosed else { return }
        guard !self.isCalled else {
            self.failure = self.failure ?? reason
            return
        }
        self.isClosed = true
        // What was submitted and not yet serialised still goes out with an orderly close.
        if let session = self.session, let transport = self.transport, !transport.isClosed {
            _ = NGHTTP2.drain(session) {
                transport.write($0)
                return true
            }
        }
        self.transport = nil
        if let session = self.session { nghttp2_session_del(session) }
        self.session = nil
        let delegate = self.delegate
        self.delegate = nil
        delegate?.http2Server(self, didClose: reason)
    }

    // MARK: Streams

    private func slot(of stream: Int32) -> Int? {
        nghttp2_session_get_stream_user_data(self.session, stream).map { Int(bitPattern: $0) - 1 }
    }

    fileprivate func began(_ stream: Int32) {
        let slot = self.free.popLast() ?? self.requests.count
        if slot == self.requests.count { self.requests.append(Slot()) }
        self.requests[slot].request.reset()
        self.openStreams += 1
        nghttp2_session_set_stream_user_data(self.session, stream, UnsafeMutableRawPointer(bitPattern: slot + 1))
    }

    fileprivate func receivedHeader(
        _ stream: Int32,
        name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>
    ) {
        guard let slot = self.slot(of: stream) else { return }
        self.requests[slot].request.headers.append(name, value, .incremental)
    }

    fileprivate func receivedData(_ stream: Int32, _ data: UnsafeBufferPointer<UInt8>) {
        guard let slot = self.slot(of: stream) else { return }
        guard self.requests[slot].request.body.count + data.count <= self.settings.maxRequestBody else {
            return self.reset(stream: stream, code: NGHTTP2_CANCEL.rawValue)
        }
        self.requests[slot].request.body.append(contentsOf: data)
    }

    fileprivate func receivedEnd(_ stream: Int32) {
        guard let slot = self.slot(of: stream) else { return }
        // Taken out for the call, so that the delegate may answer within it; put back for its buffers' sake.
        var request = HTTP2Request()
        swap(&request, &self.requests[slot].request)
        self.delegate?.http2Server(self, stream: stream, didReceive: request)
        swap(&request, &self.requests[slot].request)
    }

    fileprivate func closed(_ stream: Int32, code: UInt32) {
        guard let slot = self.slot(of: stream) else { return }
        self.openStreams -= 1
        self.requests[slot].answer = []
        self.free.append(slot)
        self.delegate?.http2Server(self, stream: stream, didCloseWithCode: code)
    }

    fileprivate func receivedPing() {
        self.pingsReceived += 1
    }
}

extension HTTP2Server: TransportDelegate {
    package func transportDidOpen(_ transport: Transport) {
        self.session = ServerCallbacks.makeSession(for: self)
        transport.setNeedsFlush()
        self.delegate?.http2ServerDidOpen(self)
    }

    package func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        guard let session = self.session, !self.isClosed else { return }
        self.isCalled = true
        let result = nghttp2_session_mem_recv(
            session,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count
        )
        self.isCalled = false
        if let failure = self.failure { return self.transportEnded(failure) }
        if result < 0 {
            transport.close()
            return self.transportEnded(NGHTTP2.describe(result))
        }
        transport.setNeedsFlush()
    }

    package func transportWillFlush(_ transport: Transport) {
        guard let session = self.session, !self.isClosed else { return }
        self.isCalled = true
        let isAlive = NGHTTP2.drain(session) { frame in
            transport.write(frame)
            return transport.unsentBytes < 256 * 1024
        }
        self.isCalled = false
        if let failure = self.failure { return self.transportEnded(failure) }
        let isDone = nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
        if !isAlive || isDone { self.close() }
    }

    package func transport(_: Transport, didClose error: TransportError) {
        self.transport = nil
        self.transportEnded("\(error)")
    }
}

/// A complete request.
package struct HTTP2Request: Sendable {
    /// All fields in order, pseudo fields and repetitions included.
    package fileprivate(set) var headers = HeaderList()
    package fileprivate(set) var body: [UInt8] = []

    fileprivate mutating func reset() {
        self.headers.removeAll()
        self.body.removeAll(keepingCapacity: true)
    }
}

/// Hears what happens to a server connection, on its loop.
package protocol HTTP2ServerDelegate: AnyObject {
    func http2ServerDidOpen(_ server: HTTP2Server)
    /// A request is complete. It may be answered now or later.
    func http2Server(_ server: HTTP2Server, stream: Int32, didReceive request: borrowing HTTP2Request)
    /// A stream is over; code 0 means that its answer was handed on in full.
    func http2Server(_ server: HTTP2Server, stream: Int32, didCloseWithCode code: UInt32)
    func http2Server(_ server: HTTP2Server, didClose reason: String)
}

/// nghttp2's callbacks; see the client's for who holds whom.
private enum ServerCallbacks {
    static func makeSession(for server: HTTP2Server) -> OpaquePointer {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        self.install(on: callbacks)
        let options = NGHTTP2.options()
        defer { nghttp2_option_del(options) }
        var session: OpaquePointer?
        let this = Unmanaged.passUnretained(server).toOpaque()
        guard nghttp2_session_server_new2(&session, callbacks, this, options) == 0, let session else {
            preconditionFailure("out of memory")
        }
        let settings = server.settings
        NGHTTP2.settings(
            [
                (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, UInt32(settings.headerTableSize)),
                (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(settings.maxConcurrentStreams)),
                (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(settings.initialWindow)),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(settings.maxHeaderListSize)),
            ],
            on: session
        )
        if settings.connectionWindow > 65_535 {
            nghttp2_session_set_local_window_size(session, 0, 0, Int32(settings.connectionWindow))
        }
        return session
    }

    private static func server(_ user: UnsafeMutableRawPointer?) -> HTTP2Server {
        Unmanaged<HTTP2Server>.fromOpaque(user!).takeUnretainedValue()
    }

    private static func install(on callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue,
                frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            else { return 0 }
            ServerCallbacks.server(user).began(frame.pointee.hd.stream_id)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _,
            frame,
            name,
            nameLength,
            value,
            valueLength,
            _,
            user in
            guard let frame else { return 0 }
            ServerCallbacks.server(user).receivedHeader(
                frame.pointee.hd.stream_id,
                name: UnsafeBufferPointer(start: name, count: nameLength),
                value: UnsafeBufferPointer(start: value, count: valueLength)
            )
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, count, user in
            ServerCallbacks.server(user).receivedData(stream, UnsafeBufferPointer(start: data, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            let head = frame.pointee.hd
            let server = ServerCallbacks.server(user)
            switch UInt32(head.type) {
            case NGHTTP2_PING.rawValue:
                if head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { server.receivedPing() }
            case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
                if head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { server.receivedEnd(head.stream_id) }
            default: break
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
            ServerCallbacks.server(user).closed(stream, code: code)
            return 0
        }
    }
}

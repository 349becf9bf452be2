internal import CNghttp2
package import Loop
internal import Push
package import Wire

/// The server's side of one HTTP/2 connection, made to be told to misbehave.
///
/// Requests are handed over complete; answers leave when the turn ends.
package final class HTTP2Server {
    let loop: EventLoop
    let settings: Settings
    var delegate: (any HTTP2ServerDelegate)?
    var transport: Transport?
    var session: OpaquePointer?
    var isInsideSession = false
    var isPulling = false
    var isOver = false

    var streams = StreamPool<ServerStream>()
    var current: ServerStream.Pointer?
    var currentID: Int32 = 0
    var highestStream: Int32 = 0
    var lastAccepted = Int32.max
    var answersUnderWay = Departures<Int32>()
    /// The stream that nghttp2 closed while it handed out a frame: by that frame, if it ends the stream.
    var closedBySending: (id: Int32, code: UInt32)?

    var streamLimit: Int
    /// Limits whose SETTINGS nghttp2 has not handed out yet, in order. See `announce`.
    var limitsToAnnounce: [Int?]
    var framesToInject: [[UInt8]] = []
    var hasOverflowed = false
    var gate: FloodGate
    var violation: Violation?
    /// The error code of the GOAWAY with which nghttp2 itself ended the session.
    var goodbye: UInt32?

    package internal(set) var counters = Counters()

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

    /// The certificate that the client showed in the TLS handshake, if it did.
    package var peerCertificate: Certificate? { self.transport?.peerCertificate }

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
        stream.pointee.body = body
        stream.pointee.endsStream = endsStream
        var provider = ServerSession.body(of: stream)
        let hasData = !body.range.isEmpty || !endsStream
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3) { digits in
            digits[0] = UInt8(ascii: "0") + UInt8(status / 100 % 10)
            digits[1] = UInt8(ascii: "0") + UInt8(status / 10 % 10)
            digits[2] = UInt8(ascii: "0") + UInt8(status % 10)
            ServerSession.withFields(status: UnsafePointer(digits.baseAddress!), headers) { fields, count in
                _ =
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
        stream.pointee.body = body
        stream.pointee.endsStream = true
        var provider = ServerSession.body(of: stream)
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

    func end(_ reason: CloseReason) {
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

    func freeSession() {
        guard self.isOver, !self.isInsideSession, let session = self.session else { return }
        self.session = nil
        nghttp2_session_del(session)
    }
}

internal import CNghttp2
package import Loop
internal import Push
package import Wire

/// One HTTP/2 connection to a server (RFC 9113). It connects, serves, closes, is thrown away.
///
/// nghttp2 is the state machine and the HPACK; the transport carries the bytes. Requests that are submitted in one
/// turn leave together when it ends. Every request ends in exactly one call of `didReceive` or `didFail`.
package final class HTTP2Client {
    enum Phase {
        case connecting, waitingForSettings, ready, draining, closed
    }

    let loop: EventLoop
    let settings: Settings
    let usesTLS: Bool
    let keptNames: [[UInt8]]
    let front: RequestFront
    let memory: SessionMemory?
    var delegate: (any HTTP2ClientDelegate)?
    var transport: Transport?
    var session: OpaquePointer?
    var isInsideSession = false
    var phase = Phase.connecting

    var streams = StreamPool<ClientStream>()
    var waiting = WaitingRequests()
    /// nghttp2's callbacks of one frame all name the same stream; this saves looking it up each time.
    var current: ClientStream.Pointer?
    var currentID: Int32 = 0

    /// The request whose HEADERS nghttp2 is just handing out.
    var departing: Int32 = 0
    var lastHandedOver: Int32 = 0
    var lastSubmitted: Int32 = 0
    var departures = Departures<Int32>()
    var hasFreedStreams = false
    var taughtNames = false

    var requestDeadline: Deadline?
    var aliveDeadline: Deadline?
    var drainDeadline: Deadline?
    var liveness: Liveness
    var gate: FloodGate
    var inbound = InboundFrames()
    var cut = CutStreams()
    var lowestGoAway: Int32?
    var violation: Violation?
    /// The error code of the GOAWAY with which nghttp2 itself ended the session.
    var goodbye: UInt32?

    // MARK: Beginning

    /// Begins to connect; `delegate` is kept until the connection is over and hears nothing from within this call.
    /// - Parameters:
    ///   - tls: made with ALPN `h2`; nil for HTTP/2 without TLS and with prior knowledge (RFC 9113 §3.3).
    ///   - authority: the value of `:authority`.
    package convenience init(
        to endpoint: Endpoint,
        tls: TLSContext?,
        authority: String,
        settings: Settings = Settings(),
        on loop: EventLoop,
        delegate: any HTTP2ClientDelegate
    ) {
        self.init(usesTLS: tls != nil, authority: authority, settings: settings, on: loop, delegate: delegate) {
            Transport(connectingTo: endpoint, tls: tls, settings: settings.transport, on: loop, delegate: $0)
        }
    }

    /// As the other initializer, over a transport that the caller makes.
    /// - Parameter make: is called once, with the delegate that the transport must have.
    package init(
        usesTLS: Bool,
        authority: String,
        settings: Settings = Settings(),
        on loop: EventLoop,
        delegate: any HTTP2ClientDelegate,
        over make: (any TransportDelegate) -> Transport
    ) {
        self.loop = loop
        self.settings = settings
        self.usesTLS = usesTLS
        self.keptNames = settings.keptHeaders.map { Array($0.utf8) }
        self.front = RequestFront(scheme: usesTLS ? "https" : "http", authority: authority)
        self.delegate = delegate
        self.liveness = Liveness(interval: settings.pingInterval, timeout: settings.pingTimeout, at: loop.now)
        self.gate = FloodGate(at: loop.now)
        self.memory = settings.measuresMemory ? SessionMemory() : nil
        self.session = ClientSession.make(
            owner: self,
            maxHeaderListSize: settings.maxHeaderListSize,
            memory: self.memory
        )
        self.transport = make(self)
    }

    deinit {
        if let session = self.session { nghttp2_session_del(session) }
    }

    // MARK: Streams

    /// How many streams the peer allows; 0 before its first SETTINGS, 100 if it names no limit.
    package internal(set) var peerStreamLimit = 0

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

    /// The most bytes that nghttp2 has held for this connection at one time; 0 unless `Settings.measuresMemory`.
    package var sessionMemory: Int { self.memory?.peak ?? 0 }

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
        var provider = ClientSession.body(of: stream)
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
        self.lastSubmitted = id
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

    func endIfDrained() {
        if self.phase == .draining, self.waiting.oldest == nil { self.end(.drained) }
    }

    func end(_ reason: CloseReason) {
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
    func lastThatMayHaveLeft(_ transport: Transport) -> Int32 {
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

    func close(_ transport: Transport) {
        guard !transport.isClosed, transport.unsentBytes == 0 else { return transport.close() }
        transport.write(RawFrame.goAway(lastStreamID: 0, errorCode: 0, debugData: []))
        transport.closeWhenSent()
    }

    func freeSession() {
        guard self.phase == .closed, !self.isInsideSession, let session = self.session else { return }
        self.session = nil
        nghttp2_session_del(session)
    }
}

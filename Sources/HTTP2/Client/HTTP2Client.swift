package import Loop
internal import Push
package import Wire

/// One HTTP/2 connection to a server (RFC 9113). It connects, serves, closes, is thrown away.
///
/// Frames and streams are our own, because a client's half of them is small and is on every push's way; nghttp2 reads
/// HPACK, the transport carries the bytes. Requests that are submitted in one turn leave together when it ends. Every
/// request ends in exactly one call of `didReceive` or `didFail`.
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
    var phase = Phase.connecting

    // What arrives.
    var reader = FrameReader()
    let decoder: FieldDecoder
    /// The header block of which CONTINUATION must come next.
    var openBlock: OpenBlock?
    var peer = PeerSettings()
    var hasSettings = false
    var awaitsAcknowledgement = true
    /// DATA that arrived and was not told back by WINDOW_UPDATE yet.
    var unacknowledgedData = 0
    var gate: FloodGate
    var liveness: Liveness
    var lowestGoAway: Int32?

    // What leaves.
    var encoder = FieldEncoder()
    var output = FlatBuffer()
    /// How much body the peer lets in on all streams together.
    var window = 65_535
    /// Submitted, but the transport is full: nothing of them has been serialized.
    var held: [HeldRequest] = []
    /// Streams whose body waits for a window or for the transport, in order.
    var blocked: [Int32] = []
    var lastHandedOver: Int32 = 0
    var departures = Departures<Int32>()

    // Requests.
    var streams = StreamPool<ClientStream>()
    var table = StreamTable()
    var waiting = WaitingRequests()
    var cut = CutStreams()
    var lastSubmitted: Int32 = -1
    var hasFreedStreams = false

    var requestDeadline: Deadline?
    var aliveDeadline: Deadline?
    var drainDeadline: Deadline?

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
        self.decoder = FieldDecoder(memory: self.memory)
        self.transport = make(self)
    }

    deinit {
        self.output.free()
        self.reader.free()
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

    /// The most bytes that HPACK's table and parts of frames have taken at one time; 0 unless `Settings.measuresMemory`.
    package var sessionMemory: Int { self.memory.map { $0.peak + self.reader.peak } ?? 0 }

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
        let id = self.lastSubmitted + 2
        self.lastSubmitted = id
        stream.pointee.begin(id, context: context, body: body, window: self.peer.initialWindow, at: self.loop.now)
        self.table.insert(stream)
        self.waiting.append(stream)
        if self.requestDeadline == nil { self.awaitOldest() }
        self.send(stream, headers)
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
        let last = self.lastThatMayHaveLeft(transport)
        self.close(transport)
        self.end(reason, last: last)
    }

    /// Tells the peer which rule it broke, behind all that was said before, and closes.
    func end(_ violation: Violation) {
        guard self.phase != .closed, let transport = self.transport else { return }
        transport.write(RawFrame.goAway(lastStreamID: 0, violation))
        transport.closeWhenSent()
        self.end(.protocolError(violation.rule), last: self.lastHandedOver)
    }

    /// - Parameter last: no byte of later requests has left, and none will.
    private func end(_ reason: CloseReason, last: Int32) {
        self.phase = .closed
        for deadline in [self.requestDeadline, self.aliveDeadline, self.drainDeadline] { deadline?.cancel() }
        self.held = []
        while let request = self.waiting.oldest {
            self.finish(request, request.pointee.id > last ? .notProcessed(.neverSent) : .unknown(.connectionLost))
        }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.http2(self, didClose: reason)
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
}

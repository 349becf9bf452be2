package import Loop
internal import Push

/// One TCP connection, with or without TLS, that never blocks its loop. It connects, lives, closes, is thrown away.
///
/// What is written in a turn leaves in one go when the turn ends; before that, the delegate is asked for more, so that
/// a protocol can serialise late. Bytes are handed over as they come in.
package final class Transport {
    enum State {
        case dialling
        /// Accepted, and about to begin.
        case connecting
        /// The proxy has been asked for a way to the server.
        case tunnelling
        case handshaking
        case open
        /// Everything is sent and our direction is shut; what the peer still says is thrown away.
        case lingering
        case closed
    }

    let loop: EventLoop
    let settings: Settings
    let tls: TLSContext?
    let serverName: String
    var delegate: (any TransportDelegate)?
    var state: State
    var dial: Dial?
    var tunnel: ProxyHandshake?
    var socket: Socket?
    var session: TLSSession?
    var watch: Watch?
    var deadline: Deadline?
    private var outbox = Outbox()
    private var flushIsDue = false
    var closesWhenSent = false
    private var kernelIsFull = false
    private var isReadingPaused = false
    private var readIsDue = false

    /// Bytes handed over for sending since the beginning.
    package private(set) var bytesWritten = 0
    /// Bytes received since the beginning.
    package private(set) var bytesRead = 0

    /// Whether it is over.
    package var isClosed: Bool { self.state == .closed || self.state == .lingering }

    // MARK: Beginning

    /// Begins to connect; `delegate` hears of success or failure later, never from within this call.
    package init(
        connectingTo endpoint: Endpoint,
        tls: TLSContext?,
        settings: Settings = Settings(),
        on loop: EventLoop,
        delegate: any TransportDelegate
    ) {
        self.loop = loop
        self.settings = settings
        self.tls = tls
        self.serverName = endpoint.host
        self.delegate = delegate
        self.state = .dialling
        self.deadline = loop.after(settings.connectTimeout) { self.connectTimedOut() }
        loop.after(.zero) { self.dial(endpoint) }
    }

    /// Takes over an accepted socket. See ``Listener``.
    init(
        accepted socket: consuming Socket,
        tls: TLSContext?,
        settings: Settings,
        on loop: EventLoop,
        delegate: any TransportDelegate
    ) {
        self.loop = loop
        self.settings = settings
        self.tls = tls
        self.serverName = ""
        self.delegate = delegate
        self.state = .connecting
        self.deadline = loop.after(settings.connectTimeout) { self.connectTimedOut() }
        let descriptor = socket.descriptor
        self.socket = consume socket
        loop.after(.zero) { self.adopt(descriptor) }
    }

    deinit {
        self.watch?.cancel()
        self.deadline?.cancel()
        self.dial?.cancel()
    }

    func updateInterest() {
        guard self.state == .open else { return }
        var interest: Readiness = []
        if !self.isReadingPaused { interest.insert(.read) }
        if self.kernelIsFull { interest.insert(.write) }
        self.watch?.interest = interest
    }

    // MARK: Writing

    /// Queues bytes; they leave when the turn ends or, once the peer is slow, as it takes them.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard !self.isClosed, !bytes.isEmpty else { return }
        self.outbox.append(bytes)
        self.bytesWritten += bytes.count
        self.setNeedsFlush()
    }

    /// Queues bytes; see `write(_: UnsafeRawBufferPointer)`.
    package func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { self.write($0) }
    }

    /// Asks that the delegate's `transportWillFlush` is called when this turn ends.
    package func setNeedsFlush() {
        guard !self.flushIsDue, !self.isClosed else { return }
        self.flushIsDue = true
        self.loop.atTurnEnd(self)
    }

    /// Bytes queued that the kernel has not taken yet.
    package var unsentBytes: Int { self.outbox.count }

    /// Sends what is queued, and what the delegate adds, without waiting for the end of the turn.
    package func sendNow() {
        self.flush()
    }

    private func flush() {
        var budget = Self.bytesPerTurn
        while self.state == .open {
            if self.outbox.count < self.settings.highWater { self.delegate?.transportWillFlush(self) }
            guard self.state == .open, !self.outbox.isEmpty else { break }
            switch self.outbox.withBytes({ self.send($0) }) {
            case .bytes(let count):
                self.outbox.removeFirst(count)
                budget -= count
                guard budget > 0 else { return self.awaitKernel() }
            case .wait:
                return self.awaitKernel()
            case .failed(let error):
                return self.fail(error)
            }
        }
        guard self.state == .open else { return }
        if self.closesWhenSent { return self.linger() }
        guard self.kernelIsFull else { return }
        self.kernelIsFull = false
        self.updateInterest()
    }

    private func awaitKernel() {
        self.kernelIsFull = true
        self.updateInterest()
    }

    private func send(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Transfer {
        self.session?.write(bytes) ?? self.socket?.write(bytes) ?? .wait
    }

    // MARK: Reading

    func receive() {
        var budget = Self.bytesPerTurn
        while self.state == .open, !self.isReadingPaused {
            guard budget > 0 else { return self.receiveLater() }
            let buffer = self.loop.scratch
            let transfer = self.session?.read(into: buffer) ?? self.socket?.read(into: buffer) ?? .wait
            switch transfer {
            case .bytes(let count):
                self.bytesRead += count
                budget -= max(count, Self.leastPerRead)
                self.delegate?.transport(self, didReceive: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                // A plain socket that filled less than the buffer is empty; epoll says when it no longer is.
                if self.session == nil, count < buffer.count { return }
            case .wait:
                return
            case .failed(let error):
                return self.fail(error)
            }
        }
    }

    /// Goes on in the next turn. The kernel announces what lies in the socket, nobody what lies in OpenSSL.
    private func receiveLater() {
        guard let session = self.session, session.holdsBytes, !self.readIsDue else { return }
        self.readIsDue = true
        self.loop.after(.zero) {
            self.readIsDue = false
            self.receive()
        }
    }

    /// What one connection may move before the others have their turn; a small read counts as `leastPerRead`.
    private static let bytesPerTurn = 1 << 20
    private static let leastPerRead = 1024

    /// Stops reading, so that the peer, sooner or later, cannot send; a broken connection is still noticed.
    package func pauseReading() {
        self.isReadingPaused = true
        self.updateInterest()
    }

    /// Reads again. What had arrived meanwhile comes in a later turn.
    package func resumeReading() {
        guard self.isReadingPaused else { return }
        self.isReadingPaused = false
        self.updateInterest()
        self.receiveLater()
    }

    /// The certificate that the peer showed in the handshake; nil without TLS, or if it showed none.
    package var peerCertificate: Certificate? { self.session?.peerCertificate }
}

extension Transport: ReadinessHandler {
    package func isReady(_ readiness: Readiness) {
        switch self.state {
        case .tunnelling:
            self.hearProxy()
        case .handshaking:
            self.shakeHands()
        case .open:
            if readiness.contains(.read) { self.isReadingPaused ? self.noticeEnd() : self.receive() }
            if readiness.contains(.write), self.state == .open { self.flush() }
        case .lingering:
            self.discard()
        case .dialling, .connecting, .closed:
            break
        }
    }
}

extension Transport: TurnEndHandler {
    package func turnEnds() {
        // Still due while it runs: what the delegate writes in it leaves with it, not in another pass.
        self.flush()
        self.flushIsDue = false
    }
}

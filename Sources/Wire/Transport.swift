internal import Glibc
package import Loop
internal import Push

/// One TCP connection, with or without TLS, that never blocks its loop. It connects, lives, closes, is thrown away.
///
/// What is written in a turn leaves in one go when the turn ends; before that, the delegate is asked for more, so that
/// a protocol can serialise late. Bytes are handed over as they come in.
package final class Transport {
    /// Everything about a connection that is a matter of taste or test.
    package struct Settings: Sendable {
        /// Name lookup, TCP connect, the proxy's answer and TLS handshake together; default 10 s.
        package var connectTimeout: Duration = .seconds(10)
        /// How long one address of a name may be silent before the next is tried beside it; default 1 s.
        package var connectStagger: Duration = .seconds(1)
        /// Where names get their addresses from.
        package var names = NameService.system
        /// The HTTP proxy on the way, if there is one.
        package var proxy: Proxy?
        /// How long the peer's kernel may leave sent bytes unacknowledged (TCP_USER_TIMEOUT); default 15 s.
        package var userTimeout: Duration = .seconds(15)
        /// Above this many unsent bytes the delegate is no longer asked for more; default 256 KiB.
        package var highWater = 256 * 1024

        package init() {}
    }

    private enum State {
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

    private let loop: EventLoop
    private let settings: Settings
    private let tls: TLSContext?
    private let serverName: String
    private var delegate: (any TransportDelegate)?
    private var state: State
    private var dial: Dial?
    private var tunnel: ProxyHandshake?
    private var socket: Socket?
    private var session: TLSSession?
    private var watch: Watch?
    private var deadline: Deadline?
    private var outbox = Outbox()
    private var flushIsDue = false
    private var closesWhenSent = false
    private var kernelIsFull = false
    private var isReadingPaused = false
    private var readIsDue = false

    /// Bytes handed over for sending since the beginning.
    package private(set) var bytesWritten = 0
    /// Bytes received since the beginning.
    package private(set) var bytesRead = 0

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

    private func dial(_ endpoint: Endpoint) {
        guard self.state == .dialling else { return }
        let dial = Dial(
            settings: self.settings,
            on: self.loop,
            onConnect: { [weak self] socket in self?.dialled(socket, endpoint) },
            onFailure: { [weak self] in self?.fail($0) }
        )
        self.dial = dial
        dial.begin(to: self.settings.proxy?.endpoint ?? endpoint)
    }

    private func dialled(_ socket: consuming Socket, _ endpoint: Endpoint) {
        self.dial = nil
        let descriptor = socket.descriptor
        self.socket = consume socket
        self.startWatching(descriptor, for: .read)
        guard !self.isClosed else { return }
        guard let proxy = self.settings.proxy else { return self.connected() }
        self.state = .tunnelling
        let handshake = ProxyHandshake(to: endpoint, through: proxy)
        self.tunnel = handshake
        // A new connection has room for so little.
        let written = handshake.request.withUnsafeBytes { self.socket?.write($0) }
        guard written == .bytes(handshake.request.count) else {
            return self.fail(.proxy("it does not take the request"))
        }
    }

    private func hearProxy() {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: self.loop.scratch[..<min(4096, self.loop.scratch.count)])
        switch self.socket?.peek(into: buffer) {
        case .bytes(let count)?:
            let step = self.tunnel?.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            guard let step else { return }
            // What comes behind the answer is the other end's, and read by who speaks with it.
            _ = self.socket?.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<step.consumed]))
            switch step.outcome {
            case .needsMore: return
            case .open:
                self.tunnel = nil
                self.connected()
            case .refused(let error): self.fail(error)
            }
        case .failed(.closedByPeer)?: self.fail(.proxy("it closed the connection without an answer"))
        case .failed(let error)?: self.fail(error)
        case .wait?, nil: return
        }
    }

    private func adopt(_ descriptor: Int32) {
        guard self.state == .connecting else { return }
        self.socket?.tune(userTimeout: self.settings.userTimeout)
        self.startWatching(descriptor, for: .read)
        self.connected()
    }

    private func startWatching(_ descriptor: Int32, for interest: Readiness) {
        do throws(LoopError) {
            self.watch = try self.loop.watch(descriptor, for: interest, handler: self)
        } catch {
            self.fail(.broken(errno: error.errno))
        }
    }

    private func connected() {
        guard let tls = self.tls, let descriptor = self.socket?.descriptor else { return self.becomeOpen() }
        self.state = .handshaking
        self.session = TLSSession(context: tls, socket: descriptor, serverName: self.serverName)
        self.shakeHands()
    }

    private func shakeHands() {
        switch self.session?.handshake() {
        case .done?: self.becomeOpen()
        case .wait(let forWrite)?: self.watch?.interest = forWrite ? .write : .read
        case .failed(let error)?: self.fail(error)
        case nil: preconditionFailure("a handshake without a session")
        }
    }

    private func becomeOpen() {
        self.deadline?.cancel()
        self.deadline = nil
        self.state = .open
        self.updateInterest()
        self.delegate?.transportDidOpen(self)
        // The peer may have spoken right behind its handshake; those bytes sit in OpenSSL, not in the socket.
        if self.session != nil { self.receive() }
        self.setNeedsFlush()
    }

    private func connectTimedOut() {
        switch self.state {
        case .dialling: self.fail(.timeout(stage: self.dial?.isLookingUp ?? true ? .resolve : .connect))
        case .tunnelling: self.fail(.timeout(stage: .proxy))
        case .connecting: self.fail(.timeout(stage: .connect))
        case .handshaking: self.fail(.timeout(stage: .tls))
        case .open, .lingering, .closed: break
        }
    }

    private func updateInterest() {
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

    private func receive() {
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

    // MARK: Ending

    /// Whether it is over.
    package var isClosed: Bool { self.state == .closed || self.state == .lingering }

    /// Closes at once and silently: the delegate hears nothing more. What was queued and not yet sent is dropped.
    package func close() {
        guard !self.isClosed else { return }
        if self.state == .open { self.session?.sayGoodbye() }
        self.end()
    }

    /// Closes as soon as everything queued has been handed to the kernel. The delegate hears only of failure.
    package func closeWhenSent() {
        self.closesWhenSent = true
        self.setNeedsFlush()
    }

    /// Says that nothing more comes and lets the peer read to the end. Closing at once would, if the peer is just
    /// sending, make our kernel answer RST, and the peer's kernel would then drop what it has not read yet.
    private func linger() {
        guard let descriptor = self.socket?.descriptor else { return }
        self.session?.sayGoodbye()
        shutdown(descriptor, Int32(SHUT_WR))
        self.state = .lingering
        self.delegate = nil
        self.session = nil
        self.watch?.interest = .read
        self.deadline = self.loop.after(Self.lingerTimeout) { self.end() }
    }

    private func discard() {
        guard let socket = self.socket?.read(into: self.loop.scratch) else { return }
        if case .failed = socket { self.end() }
    }

    private static let lingerTimeout = Duration.seconds(1)

    /// Closes with RST: what a crashed peer or a firewall does. For simulators and tests.
    package func reset() {
        self.socket?.resetOnClose()
        self.end()
    }

    /// Readable though nobody asked: the connection is gone.
    private func noticeEnd() {
        let error = self.socket?.pendingError ?? 0
        self.fail(error == 0 ? .closedByPeer : .broken(errno: error))
    }

    private func fail(_ error: TransportError) {
        guard !self.isClosed else { return }
        let delegate = self.delegate
        self.end()
        delegate?.transport(self, didClose: error)
    }

    private func end() {
        self.state = .closed
        self.deadline?.cancel()
        self.dial?.cancel()
        self.dial = nil
        self.delegate = nil
        self.session = nil
        self.dropSocket()
    }

    private func dropSocket() {
        self.watch?.cancel()
        self.watch = nil
        self.socket = nil
    }
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

/// Hears what happens to a transport, always on its loop.
package protocol TransportDelegate: AnyObject {
    /// Connected, and with TLS the handshake is done and the peer is who it should be.
    func transportDidOpen(_ transport: Transport)
    /// Bytes arrived; they are valid only during the call.
    func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer)
    /// The turn ends and there is room: whoever has more to send writes it now. Called until nothing is added.
    func transportWillFlush(_ transport: Transport)
    /// It is over; called once, and not after `close` or `reset`.
    func transport(_ transport: Transport, didClose error: TransportError)
}

extension TransportDelegate {
    package func transportWillFlush(_: Transport) {}
}

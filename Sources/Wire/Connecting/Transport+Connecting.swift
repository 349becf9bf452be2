internal import Loop

/// The way to an open connection: the dial, the proxy if there is one, and the TLS handshake.
extension Transport {
    func dial(_ endpoint: Endpoint) {
        guard self.state == .dialling else { return }
        let dial = Dial(
            settings: self.settings,
            on: self.loop,
            onConnect: { [unowned self] socket in self.dialled(socket, endpoint) },
            onFailure: { [unowned self] in self.fail($0) }
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

    func hearProxy() {
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

    /// Begins with an accepted socket.
    func adopt(_ descriptor: Int32) {
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

    func shakeHands() {
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

    func connectTimedOut() {
        switch self.state {
        case .dialling: self.fail(.timeout(stage: self.dial?.isLookingUp ?? true ? .resolve : .connect))
        case .tunnelling: self.fail(.timeout(stage: .proxy))
        case .connecting: self.fail(.timeout(stage: .connect))
        case .handshaking: self.fail(.timeout(stage: .tls))
        case .open, .lingering, .closed: break
        }
    }
}

internal import Glibc
internal import Loop

/// Gets a connected socket: looks the name up and tries its addresses, the next one when one refuses or is silent for
/// a while. The first that answers wins, the others are closed (RFC 8305 §5). How long all of it may take is the
/// owner's to say.
final class Dial {
    private let loop: EventLoop
    private let settings: Transport.Settings
    private var onConnect: (consuming Socket) -> Void
    private var onFailure: (TransportError) -> Void
    private var addresses: ArraySlice<SocketAddress> = []
    private var attempts: [Attempt] = []
    private var next: Deadline?
    private var lastError = EHOSTUNREACH
    private var isOver = false
    /// Whether the name has no addresses yet.
    private(set) var isLookingUp = true

    /// Exactly one of the two is called, once, unless it is cancelled before.
    init(
        settings: Transport.Settings,
        on loop: EventLoop,
        onConnect: @escaping (consuming Socket) -> Void,
        onFailure: @escaping (TransportError) -> Void
    ) {
        self.settings = settings
        self.loop = loop
        self.onConnect = onConnect
        self.onFailure = onFailure
    }

    func begin(to endpoint: Endpoint) {
        Resolver.resolve(endpoint, by: self.settings.names, on: self.loop) { [weak self] result in
            guard let self, !self.isOver else { return }
            self.isLookingUp = false
            switch result {
            case .success(let addresses):
                self.addresses = addresses[...]
                self.tryNext()
            case .failure(let error): self.fail(error)
            }
        }
    }

    func cancel() {
        guard !self.isOver else { return }
        self.isOver = true
        self.next?.cancel()
        for attempt in self.attempts { attempt.cancel() }
        self.attempts = []
        self.onConnect = { _ in }
        self.onFailure = { _ in }
    }

    private func tryNext() {
        self.next?.cancel()
        guard let address = self.addresses.popFirst() else {
            if self.attempts.isEmpty { self.fail(.connect(errno: self.lastError)) }
            return
        }
        let attempt = Attempt(self)
        if let error = attempt.begin(address, settings: self.settings, on: self.loop) {
            self.lastError = error
            return self.tryNext()
        }
        self.attempts.append(attempt)
        guard !self.addresses.isEmpty else { return }
        self.next = self.loop.after(self.settings.connectStagger) { [weak self] in self?.tryNext() }
    }

    fileprivate func connected(_ winner: Attempt) {
        guard let socket = winner.takeSocket() else { return }
        let onConnect = self.onConnect
        self.cancel()
        onConnect(socket)
    }

    fileprivate func refused(_ attempt: Attempt, _ error: Int32) {
        attempt.cancel()
        self.attempts.removeAll { $0 === attempt }
        self.lastError = error
        self.tryNext()
    }

    private func fail(_ error: TransportError) {
        let onFailure = self.onFailure
        self.cancel()
        onFailure(error)
    }

    /// One address.
    fileprivate final class Attempt: ReadinessHandler {
        private unowned let dial: Dial
        private var socket: Socket?
        private var watch: Watch?

        init(_ dial: Dial) {
            self.dial = dial
        }

        /// - Returns: why it failed at once; nil while it is under way.
        func begin(_ address: SocketAddress, settings: Transport.Settings, on loop: EventLoop) -> Int32? {
            guard let socket = Socket(family: address.family) else { return errno }
            socket.tune(userTimeout: settings.userTimeout)
            if address.withSockaddr({ connect(socket.descriptor, $0, $1) }) != 0, errno != EINPROGRESS { return errno }
            do throws(LoopError) {
                self.watch = try loop.watch(socket.descriptor, for: .write, handler: self)
            } catch {
                return error.errno
            }
            self.socket = consume socket
            return nil
        }

        func isReady(_: Readiness) {
            let error = self.socket?.pendingError ?? 0
            error == 0 ? self.dial.connected(self) : self.dial.refused(self, error)
        }

        func takeSocket() -> Socket? {
            self.watch?.cancel()
            self.watch = nil
            return self.socket.take()
        }

        func cancel() {
            self.watch?.cancel()
            self.watch = nil
            self.socket = nil
        }
    }
}

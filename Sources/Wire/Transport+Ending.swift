internal import Glibc
internal import Loop

/// How a connection ends: at once, in good order, or broken.
extension Transport {
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

    private static let lingerTimeout = Duration.seconds(1)

    /// Says that nothing more comes and lets the peer read to the end. Closing at once would, if the peer is just
    /// sending, make our kernel answer RST, and the peer's kernel would then drop what it has not read yet.
    func linger() {
        guard let descriptor = self.socket?.descriptor else { return }
        self.session?.sayGoodbye()
        shutdown(descriptor, Int32(SHUT_WR))
        self.state = .lingering
        self.delegate = nil
        self.session = nil
        self.watch?.interest = .read
        self.deadline = self.loop.after(Self.lingerTimeout) { self.end() }
    }

    /// What the peer still says while its end is awaited is read and thrown away.
    func discard() {
        guard let socket = self.socket?.read(into: self.loop.scratch) else { return }
        if case .failed = socket { self.end() }
    }

    /// Closes with RST: what a crashed peer or a firewall does. For simulators and tests.
    package func reset() {
        self.socket?.resetOnClose()
        self.end()
    }

    /// Readable though nobody asked: the connection is gone.
    func noticeEnd() {
        let error = self.socket?.pendingError ?? 0
        self.fail(error == 0 ? .closedByPeer : .broken(errno: error))
    }

    /// It is over for a reason, of which the delegate hears.
    func fail(_ error: TransportError) {
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

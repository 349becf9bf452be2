internal import CLinux
internal import Glibc

/// A non-blocking TCP socket; closed when it goes away.
struct Socket: ~Copyable {
    let descriptor: Int32

    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    init?(family: Int32) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }

    func set(_ level: Int32, _ option: Int32, to value: Int32) {
        var value = value
        setsockopt(self.descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// No delay for small writes (they are gathered per turn), and an end to waiting for a peer that acknowledges
    /// nothing: without the latter a write to a vanished peer is retried for about 15 minutes, see tcp(7).
    func tune(userTimeout: Duration) {
        self.set(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
        self.set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, to: Int32(clamping: userTimeout.components.seconds * 1000))
        self.set(SOL_SOCKET, SO_KEEPALIVE, to: 1)
    }

    /// The next close sends RST instead of FIN and drops what was not sent.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// The pending error of a connect that has finished; 0 when it succeeded.
    var pendingError: Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        return error
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSSession.Transfer {
        let count = recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .failed(.closedByPeer) }
        return errno == EAGAIN || errno == EINTR ? .wait : .failed(.broken(errno: errno))
    }

    /// Like `read`, but what it reads can be read again.
    func peek(into buffer: UnsafeMutableRawBufferPointer) -> TLSSession.Transfer {
        let count = recv(self.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_PEEK))
        if count > 0 { return .bytes(count) }
        if count == 0 { return .failed(.closedByPeer) }
        return errno == EAGAIN || errno == EINTR ? .wait : .failed(.broken(errno: errno))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Transfer {
        let count = send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        return errno == EAGAIN || errno == EINTR ? .wait : .failed(.broken(errno: errno))
    }
}

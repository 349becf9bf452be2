import Foundation

/// A non-blocking TCP socket on 127.0.0.1.
package struct LoopbackSocket: Sendable {
    /// What one read gave.
    package enum Received: Equatable, Sendable {
        case bytes([UInt8])
        /// The peer has closed its side.
        case end
        /// Nothing is there yet.
        case nothing
        /// The connection is gone; the value is `errno`.
        case failure(Int32)
    }

    package let fd: Int32

    /// Opens a listening socket.
    package static func listening(on port: Int) throws -> LoopbackSocket {
        let socket = self.open()
        var on: Int32 = 1
        setsockopt(socket.fd, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard self.withAddress(port, { bind(socket.fd, $0, $1) }) == 0, listen(socket.fd, 1024) == 0 else {
            let code = errno
            socket.close(reset: false)
            throw CommandFailure(command: "listen on \(port)", status: code, output: String(cString: strerror(code)))
        }
        return socket
    }

    /// Connects; `nil` if nobody listens there. On loopback this does not wait.
    package static func connected(to port: Int) -> LoopbackSocket? {
        let socket = self.open()
        while true {
            if self.withAddress(port, { connect(socket.fd, $0, $1) }) == 0 || errno == EISCONN { return socket }
            if errno == EINPROGRESS || errno == EALREADY {
                _ = socket.wait(POLLOUT, .seconds(5))
            } else if errno != EINTR {
                socket.close(reset: false)
                return nil
            }
        }
    }

    /// The next waiting connection, if there is one.
    package func accept() -> LoopbackSocket? {
        let fd = Foundation.accept(self.fd, nil, nil)
        guard fd >= 0 else { return nil }
        Self.prepare(fd)
        return LoopbackSocket(fd: fd).withoutDelay()
    }

    /// Reads what is there.
    package func read(upTo limit: Int = 65_536) -> Received {
        var count = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            count = recv(self.fd, buffer.baseAddress, limit, 0)
            code = errno
            initialized = max(count, 0)
        }
        if count > 0 { return .bytes(bytes) }
        if count == 0 { return .end }
        return code == EAGAIN || code == EINTR ? .nothing : .failure(code)
    }

    /// Writes as much as fits and returns how much that was; `nil` if the connection is gone.
    package func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.withUnsafeBytes { send(self.fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Waits for `POLLIN` or `POLLOUT`; false after `time`.
    package func wait(_ events: Int32, _ time: Duration) -> Bool {
        var entry = pollfd(fd: self.fd, events: Int16(events), revents: 0)
        return poll(&entry, 1, Int32(time.components.seconds * 1000)) > 0
    }

    /// Closes; with `reset` the peer gets a RST instead of an orderly end.
    package func close(reset: Bool) {
        if reset {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(self.fd, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        }
        Foundation.close(self.fd)
    }

    private static func open() -> LoopbackSocket {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        precondition(fd >= 0, "no more sockets")
        self.prepare(fd)
        return LoopbackSocket(fd: fd).withoutDelay()
    }

    /// Non-blocking, and not for child processes.
    static func prepare(_ fd: Int32) {
        _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK)
        _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
    }

    private func withoutDelay() -> LoopbackSocket {
        var on: Int32 = 1
        setsockopt(self.fd, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return self
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

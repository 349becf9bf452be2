internal import CLinux
internal import Glibc
package import Loop

/// Accepts TCP connections on one local address.
package final class Listener {
    private let loop: EventLoop
    private let settings: Transport.Settings
    private let accept: (Arrival) -> Void
    private var socket: Socket?
    private var watch: Watch?

    /// The port it listens on; tells which one the system chose when 0 was asked for.
    package let port: UInt16

    /// Listens until `close`.
    /// - Parameters:
    ///   - endpoint: a literal address and a port; port 0 lets the system choose.
    ///   - accept: called for each connection with a function that, given the delegate, makes its transport. Not
    ///     calling it refuses the connection.
    /// - Throws: when the address cannot be bound.
    package convenience init(
        on endpoint: Endpoint,
        tls: TLSContext?,
        settings: Transport.Settings = Transport.Settings(),
        loop: EventLoop,
        accept: @escaping (_ make: (any TransportDelegate) -> Transport) -> Void
    ) throws(ListenError) {
        try self.init(on: endpoint, settings: settings, loop: loop) { arrival in
            accept { arrival.begin(tls: tls, delegate: $0) }
        }
    }

    /// Listens until `close`, and leaves to the caller how each connection is spoken on.
    /// - Throws: when the address cannot be bound.
    package init(
        on endpoint: Endpoint,
        settings: Transport.Settings = Transport.Settings(),
        loop: EventLoop,
        arrivals accept: @escaping (Arrival) -> Void
    ) throws(ListenError) {
        self.loop = loop
        self.settings = settings
        self.accept = accept
        guard var address = Self.address(of: endpoint), let socket = Socket(family: AF_INET) else {
            throw ListenError(endpoint: endpoint, errno: EINVAL)
        }
        socket.set(SOL_SOCKET, SO_REUSEADDR, to: 1)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                guard bind(socket.descriptor, address, size) == 0, listen(socket.descriptor, 1024) == 0 else {
                    return errno
                }
                var length = size
                return getsockname(socket.descriptor, address, &length) == 0 ? 0 : errno
            }
        }
        guard status == 0 else { throw ListenError(endpoint: endpoint, errno: status) }
        self.port = UInt16(bigEndian: address.sin_port)
        let descriptor = socket.descriptor
        self.socket = consume socket
        do throws(LoopError) {
            self.watch = try loop.watch(descriptor, for: .read, handler: self)
        } catch {
            throw ListenError(endpoint: endpoint, errno: error.errno)
        }
    }

    /// Stops accepting and frees the port: who connects now is refused. Connections already made live on.
    package func close() {
        self.watch?.cancel()
        self.watch = nil
        self.socket = nil
    }

    private static func address(of endpoint: Endpoint) -> sockaddr_in? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = endpoint.port.bigEndian
        let host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host
        return inet_pton(AF_INET, host, &address.sin_addr) == 1 ? address : nil
    }
}

extension Listener: ReadinessHandler {
    package func isReady(_: Readiness) {
        while let listening = self.socket?.descriptor {
            let descriptor = pushfleet_accept(listening)
            guard descriptor >= 0 else { return self.acceptFailed(errno) }
            self.accept(Arrival(Socket(adopting: descriptor), settings: self.settings, loop: self.loop))
        }
    }
}

extension Listener {
    /// Out of descriptors or memory: the connection stays announced, and asking again at once would only spin.
    private func acceptFailed(_ error: Int32) {
        guard error != EAGAIN, error != ECONNABORTED, error != EINTR else { return }
        self.watch?.interest = []
        self.loop.after(.milliseconds(100)) { [weak self] in self?.watch?.interest = .read }
    }
}

/// A local address cannot be listened on.
package struct ListenError: Error, Sendable, CustomStringConvertible {
    package let endpoint: Endpoint
    package let errno: Int32

    package var description: String {
        "cannot listen on \(self.endpoint): \(String(cString: strerror(self.errno)))"
    }
}

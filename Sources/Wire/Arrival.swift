internal import Glibc
internal import Loop

/// A TCP connection that has come in and on which nothing was said yet. Letting go of it closes it.
package final class Arrival {
    private let loop: EventLoop
    private let settings: Transport.Settings
    private var socket: Socket?
    /// The sender's address; empty when it is already gone.
    package let source: String

    init(_ socket: consuming Socket, settings: Transport.Settings, loop: EventLoop) {
        self.loop = loop
        self.settings = settings
        self.source = socket.peerAddress
        self.socket = consume socket
    }

    /// Begins the conversation. To be called once.
    /// - Parameter tls: nil for none.
    package func begin(tls: TLSContext?, delegate: any TransportDelegate) -> Transport {
        guard let socket = self.socket.take() else { preconditionFailure("one transport per connection") }
        return Transport(accepted: socket, tls: tls, settings: self.settings, on: self.loop, delegate: delegate)
    }

    /// Closes with RST.
    package func refuse() {
        self.socket?.resetOnClose()
        self.socket = nil
    }
}

extension Socket {
    /// The other side's IPv4 address; empty when it is gone.
    fileprivate var peerAddress: String {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(self.descriptor, $0, &length) }
        }
        guard status == 0, address.sin_family == sa_family_t(AF_INET) else { return "" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET_ADDRSTRLEN)) { text in
            guard inet_ntop(AF_INET, &address.sin_addr, text.baseAddress!, socklen_t(INET_ADDRSTRLEN)) != nil else {
                return ""
            }
            return String(cString: text.baseAddress!)
        }
    }
}

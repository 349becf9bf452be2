import Loop
import Wire

/// One side of a connection that sends whatever bytes a test wants.
final class RawConnection: TransportDelegate {
    var transport: Transport?
    private(set) var receivedCount = 0
    var onOpen: (RawConnection) -> Void = { _ in }
    var onReceive: (RawConnection, UnsafeRawBufferPointer) -> Void = { _, _ in }
    var onFlush: (RawConnection) -> Void = { _ in }

    func connect(to port: UInt16, on loop: EventLoop) {
        let endpoint = Endpoint(host: "localhost", port: port)
        self.transport = Transport(connectingTo: endpoint, tls: nil, on: loop, delegate: self)
    }

    func transportDidOpen(_: Transport) {
        self.onOpen(self)
    }

    func transport(_: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        self.receivedCount += bytes.count
        self.onReceive(self, bytes)
    }

    func transportWillFlush(_: Transport) {
        self.onFlush(self)
    }

    func transport(_: Transport, didClose _: TransportError) {}
}

/// A listener with raw connections.
final class RawServer {
    private(set) var listener: Listener?
    private(set) var connections: [RawConnection] = []

    init(on loop: EventLoop, tls: TLSContext?, prepare: @escaping (RawConnection) -> Void) throws {
        let endpoint = Endpoint(host: "127.0.0.1", port: 0)
        self.listener = try Listener(on: endpoint, tls: tls, loop: loop) { [unowned self] make in
            let connection = RawConnection()
            prepare(connection)
            connection.transport = make(connection)
            self.connections.append(connection)
        }
    }

    deinit {
        self.listener?.close()
    }

    var port: UInt16 { self.listener?.port ?? 0 }
}

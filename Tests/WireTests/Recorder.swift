import Loop
import Wire

/// A transport's delegate made of closures, which remembers what it heard.
final class Recorder: TransportDelegate {
    var transport: Transport?
    private(set) var received: [UInt8] = []
    private(set) var receivedCount = 0
    private(set) var opened = 0
    var keepsBytes = true
    var onOpen: (Recorder) -> Void = { _ in }
    var onReceive: (Recorder, UnsafeRawBufferPointer) -> Void = { _, _ in }
    var onFlush: (Recorder) -> Void = { _ in }
    var onClose: (Recorder, TransportError) -> Void = { _, _ in }

    init() {}

    /// Connects.
    init(
        to port: UInt16,
        host: String = "localhost",
        tls: TLSContext?,
        settings: Transport.Settings = .init(),
        on loop: EventLoop
    ) {
        let endpoint = Endpoint(host: host, port: port)
        self.transport = Transport(connectingTo: endpoint, tls: tls, settings: settings, on: loop, delegate: self)
    }

    func transportDidOpen(_: Transport) {
        self.opened += 1
        self.onOpen(self)
    }

    func transport(_: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        self.receivedCount += bytes.count
        if self.keepsBytes { self.received.append(contentsOf: bytes) }
        self.onReceive(self, bytes)
    }

    func transportWillFlush(_: Transport) {
        self.onFlush(self)
    }

    func transport(_: Transport, didClose error: TransportError) {
        self.onClose(self, error)
    }
}

/// A listener whose connections are recorders.
final class RecordingServer {
    private(set) var listener: Listener?
    private(set) var connections: [Recorder] = []

    init(
        on loop: EventLoop,
        tls: TLSContext?,
        settings: Transport.Settings = .init(),
        prepare: @escaping (Recorder) -> Void = { _ in }
    ) throws {
        let endpoint = Endpoint(host: "127.0.0.1", port: 0)
        self.listener = try Listener(on: endpoint, tls: tls, settings: settings, loop: loop) { [unowned self] make in
            let connection = Recorder()
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

import Loop
import TestServers
import Testing
import Wire

@Suite struct BrokenPipeTests {
    /// Both ends of one TLS connection.
    private final class Pair: TransportDelegate {
        var listener: Listener?
        var client: Transport?
        var server: Transport?
        private let loop: EventLoop
        private let report: (TransportError) -> Void
        private var opened = 0

        init(loop: EventLoop, _ report: @escaping (TransportError) -> Void) {
            self.loop = loop
            self.report = report
        }

        func transportDidOpen(_: Transport) {
            self.opened += 1
            guard self.opened == 2 else { return }
            // Within one turn: the peer is gone, and several TLS records are still written to it. The first one
            // provokes a RST, the second raises SIGPIPE.
            self.server?.close()
            self.client?.write([UInt8](repeating: 0x78, count: 1 << 18))
        }

        func transport(_: Transport, didReceive _: UnsafeRawBufferPointer) {}

        func transport(_: Transport, didClose error: TransportError) {
            self.report(error)
            self.loop.stop()
        }
    }

    @Test func `Writing TLS to a peer that is gone fails, and does not end the process`() async throws {
        let certificates = TestCertificates.shared
        let (stream, continuation) = AsyncStream.makeStream(of: TransportError.self)
        let thread = try LoopThread.start(name: "test-pipe") { loop in
            let pair = Pair(loop: loop) { continuation.yield($0) }
            let server = try! TLSContext.server(
                certificate: certificates.serverCertificate,
                key: certificates.serverKey
            )
            let here = Endpoint(host: "127.0.0.1", port: 0)
            let listener = try! Listener(on: here, tls: server, loop: loop) { make in pair.server = make(pair) }
            pair.listener = listener
            pair.client = Transport(
                connectingTo: Endpoint(host: "localhost", port: listener.port),
                tls: try! TLSContext.client(trusting: certificates.authority),
                on: loop,
                delegate: pair
            )
        }
        var error: TransportError?
        for await reported in stream {
            error = reported
            break
        }
        thread.join()
        #expect(error != nil)
    }
}

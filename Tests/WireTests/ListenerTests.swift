import Loop
import TestServers
import Testing
import Wire

@Suite struct ListenerTests {
    /// Keeps what a test connects, and hears how it went.
    private final class Peer: TransportDelegate {
        var transport: Transport?
        private let report: (String) -> Void

        init(_ report: @escaping (String) -> Void) {
            self.report = report
        }

        func transportDidOpen(_: Transport) { self.report("open") }
        func transport(_: Transport, didReceive _: UnsafeRawBufferPointer) {}
        func transport(_: Transport, didClose error: TransportError) { self.report("closed: \(error)") }
    }

    private func run(_ body: @escaping @Sendable (EventLoop, @escaping (String) -> Void) -> Void) async throws -> String
    {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let thread = try LoopThread.start(name: "test-wire") { loop in
            body(loop) { continuation.yield($0) }
            let bound = LoopBound(loop, to: loop)
            let remote = loop.remote
            continuation.onTermination = { _ in remote.post { bound.value.stop() } }
        }
        var result = ""
        for await line in stream {
            result = line
            break
        }
        continuation.finish()
        thread.join()
        return result
    }

    @Test func `A closed listener refuses, even while it is still referred to`() async throws {
        let result = try await self.run { loop, report in
            let here = Endpoint(host: "127.0.0.1", port: 0)
            let listener = try! Listener(on: here, tls: nil, loop: loop) { _ in report("accepted") }
            let port = listener.port
            listener.close()
            let peer = Peer { outcome in
                withExtendedLifetime(listener) { report(outcome) }
            }
            peer.transport = Transport(
                connectingTo: Endpoint(host: "127.0.0.1", port: port),
                tls: nil,
                on: loop,
                delegate: peer
            )
        }
        #expect(result == "closed: cannot connect: Connection refused")
    }

    @Test func `A server that asks for a protocol refuses a client that offers none`() async throws {
        let certificates = TestCertificates.shared
        let result = try await self.run { loop, report in
            let server = try! TLSContext.server(
                certificate: certificates.serverCertificate,
                key: certificates.serverKey,
                alpn: "h2"
            )
            let here = Endpoint(host: "127.0.0.1", port: 0)
            let listener = try! Listener(on: here, tls: server, loop: loop) { make in
                let peer = Peer(report)
                peer.transport = make(peer)
            }
            let client = try! TLSContext.client(trusting: certificates.authority)
            // TLS 1.3 lets the client finish first; the server's word counts.
            let peer = Peer { _ in withExtendedLifetime(listener) {} }
            peer.transport = Transport(
                connectingTo: Endpoint(host: "localhost", port: listener.port),
                tls: client,
                on: loop,
                delegate: peer
            )
        }
        #expect(result == "closed: TLS: the client did not offer ALPN h2")
    }
}

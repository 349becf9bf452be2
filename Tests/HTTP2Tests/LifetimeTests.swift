import HTTP2
import Loop
import TestLoop
import TestServers
import Testing
import Wire

@Suite struct LifetimeTests {
    /// What a test still reaches of a connection that its owners have let go.
    private final class Remains {
        weak var client: HTTP2Client?
        weak var server: HTTP2Server?
        weak var delegate: Simple?
    }

    private final class Simple: HTTP2ClientDelegate, HTTP2ServerDelegate {
        var client: HTTP2Client?
        var server: HTTP2Server?
        private let headers = HeaderBlock()
        private let aborts: Bool

        init(aborts: Bool) {
            self.aborts = aborts
        }

        func http2DidBecomeReady(_ client: HTTP2Client) {
            self.headers.append(HeaderName(":method"), "POST")
            self.headers.append(HeaderName(":path"), "/")
            client.submit(self.headers, body: Body([1, 2, 3]), context: 0)
        }

        func http2(_ client: HTTP2Client, context: UInt64, didReceive response: HTTP2Response) {
            client.drain()
        }

        func http2Server(_ server: HTTP2Server, stream: Int32, didReceive request: HTTP2Request) {
            if self.aborts { return server.abort() }
            server.respond(stream: stream, status: 200, headers: HeaderBlock())
        }

        func http2(_: HTTP2Client, didClose _: CloseReason) { self.client = nil }
        func http2Server(_: HTTP2Server, didClose _: CloseReason) { self.server = nil }
        func http2(_: HTTP2Client, didChangeStreamLimit _: Int) {}
        func http2(_: HTTP2Client, context _: UInt64, didFail _: StreamFailure) {}
        func http2(_: HTTP2Client, didReceive _: GoAway) {}
        func http2HasFreeStreams(_: HTTP2Client) {}
        func http2ServerDidOpen(_: HTTP2Server) {}
        func http2Server(_: HTTP2Server, stream _: Int32, didEnd _: ServerStreamEnd) {}
    }

    @Test(arguments: [false, true])
    func `Nothing of a connection is left when it is over`(aborts: Bool) async throws {
        let isGone = try await onLoop(of: Bool.self) { loop, report in
            let remains = Remains()
            var simple: Simple? = Simple(aborts: aborts)
            remains.delegate = simple
            let endpoint = Endpoint(host: "127.0.0.1", port: 0)
            let listener = try Listener(on: endpoint, tls: TestTLS.server, loop: loop) { [weak simple] make in
                guard let simple else { return }
                let server = HTTP2Server(accepted: make, on: loop, delegate: simple)
                simple.server = server
                remains.server = server
            }
            simple?.client = HTTP2Client(
                to: Endpoint(host: "localhost", port: listener.port),
                tls: try TestTLS.client,
                authority: "localhost",
                on: loop,
                delegate: simple!
            )
            remains.client = simple?.client
            simple = nil
            // While it lives the transport holds it; the test ends when nothing does, or is stuck.
            func check() {
                let isGone = remains.client == nil && remains.server == nil && remains.delegate == nil
                if isGone { listener.close() }
                isGone ? report(true) : { _ = loop.after(.milliseconds(5), check) }()
            }
            check()
            return listener
        }
        #expect(isGone)
    }
}

import HTTP2
import Loop
import TestServers
import Wire

/// A listener with our server connections, which echo the apns-id unless told otherwise.
final class TestServer: HTTP2ServerDelegate {
    private(set) var listener: Listener?
    private(set) var connections: [HTTP2Server] = []
    private(set) var ends: [ServerStreamEnd] = []
    private(set) var closes: [CloseReason] = []
    /// The apns-ids of all requests that were handed over.
    private(set) var seen: [String] = []
    private let headers = HeaderBlock()

    var onOpen: (HTTP2Server) -> Void = { _ in }
    var onRequest: ((TestServer, HTTP2Server, Int32, HTTP2Request) -> Void)?
    var onClose: (TestServer) -> Void = { _ in }

    static let id = HeaderName("apns-id", .none)

    init(on loop: EventLoop, tls: TLSContext?, settings: HTTP2Server.Settings = .init()) throws {
        let endpoint = Endpoint(host: "127.0.0.1", port: 0)
        self.listener = try Listener(on: endpoint, tls: tls, loop: loop) { [unowned self] make in
            self.connections.append(HTTP2Server(accepted: make, settings: settings, on: loop, delegate: self))
        }
    }

    deinit {
        self.listener?.close()
    }

    var port: UInt16 { self.listener?.port ?? 0 }

    func http2ServerDidOpen(_ server: HTTP2Server) {
        self.onOpen(server)
    }

    func http2Server(_ server: HTTP2Server, stream: Int32, didReceive request: HTTP2Request) {
        self.seen.append(Self.text(request.header("apns-id")) ?? "")
        if let onRequest = self.onRequest {
            onRequest(self, server, stream, request)
        } else {
            self.echo(server, stream, id: Self.text(request.header("apns-id")))
        }
    }

    func http2Server(_: HTTP2Server, stream: Int32, didEnd end: ServerStreamEnd) {
        self.ends.append(end)
    }

    func http2Server(_: HTTP2Server, didClose reason: CloseReason) {
        self.closes.append(reason)
        self.onClose(self)
    }

    /// Answers 200 with the apns-id and no body.
    func echo(_ server: HTTP2Server, _ stream: Int32, id: String?, body: String = "", status: Int = 200) {
        self.headers.removeAll()
        if let id { self.headers.append(Self.id, id) }
        server.respond(stream: stream, status: status, headers: self.headers, body: Body(Array(body.utf8)))
    }

    static func text(_ bytes: UnsafeRawBufferPointer?) -> String? {
        bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// TLS as APNs speaks it, with the certificates of the tests.
enum TestTLS {
    static var client: TLSContext {
        get throws { try .client(trusting: TestCertificates.shared.authority, alpn: "h2") }
    }

    static var server: TLSContext {
        get throws {
            let certificates = TestCertificates.shared
            return try .server(certificate: certificates.serverCertificate, key: certificates.serverKey, alpn: "h2")
        }
    }
}

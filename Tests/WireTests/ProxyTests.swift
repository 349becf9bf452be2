import Foundation
import Loop
import TestLoop
import TestServers
import Testing

@testable import Wire

@Suite struct ProxyTests {
    private static func context(alpn: String? = nil) throws -> (client: TLSContext, server: TLSContext) {
        let files = TestCertificates.shared
        return (
            try TLSContext.client(trusting: files.authority, alpn: alpn),
            try TLSContext.server(certificate: files.serverCertificate, key: files.serverKey, alpn: alpn)
        )
    }

    /// Connects through a proxy and reports what came of it: the bytes echoed, or the error.
    private static func connect(
        through proxy: Proxy,
        host: String = "api.push.test",
        timeout: Duration = .seconds(10)
    ) async throws -> Result<[UInt8], TransportError> {
        try await onLoop(of: Result<[UInt8], TransportError>.self) { loop, report in
            let tls = try Self.context(alpn: "h2")
            let server = try RecordingServer(on: loop, tls: tls.server) { connection in
                connection.onReceive = { $0.transport!.write(Array($1)) }
            }
            var settings = Transport.Settings()
            settings.proxy = proxy
            settings.connectTimeout = timeout
            let client = Recorder(to: server.port, host: host, tls: tls.client, settings: settings, on: loop)
            client.transport!.write(Array("hello".utf8))
            client.onReceive = { client, _ in
                if client.received.count == 5 { report(.success(client.received)) }
            }
            client.onClose = { report(.failure($1)) }
            return (server, client)
        }
    }

    private static func address(_ server: ConnectProxy, user: String? = nil, password: String = "") -> Proxy {
        Proxy(endpoint: Endpoint(host: "127.0.0.1", port: UInt16(server.port)), user: user, password: password)
    }

    @Test(arguments: [ConnectProxy.Behaviour.tunnel, .tunnelSlowly])
    func `TLS goes through the tunnel to the name that was meant, which only the proxy looks up`(
        behaviour: ConnectProxy.Behaviour
    ) async throws {
        let server = try ConnectProxy(behaviour)
        defer { server.stop() }
        let result = try await Self.connect(through: Self.address(server, user: "fleet", password: "pa:ss wörd"))
        #expect(try result.get() == Array("hello".utf8))
        let head = try #require(server.requests.first)
        #expect(server.requests.count == 1)
        #expect(head.hasPrefix("CONNECT api.push.test:"))
        #expect(head.contains("\r\nHost: api.push.test:"))
        let login = Data("fleet:pa:ss wörd".utf8).base64EncodedString()
        #expect(head.contains("\r\nProxy-Authorization: Basic \(login)\r\n"))
        #expect(server.carriedBytes > 500)
    }

    @Test func `The name in the certificate is verified behind a proxy as well`() async throws {
        let server = try ConnectProxy(.tunnel)
        defer { server.stop() }
        let result = try await Self.connect(through: Self.address(server), host: "other.push.test")
        #expect(server.requests.first?.contains("Proxy-Authorization") == false)
        guard case .failure(.tls(let text)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(text.contains("hostname mismatch"))
    }

    @Test(arguments: [
        ("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", "user and password"),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "it forbids api.push.test:"),
        ("HTTP/1.0 502 Bad Gateway\r\n\r\n", "it answered 502 Bad Gateway for api.push.test:"),
        ("HTTP/1.1 503\r\n\r\n", "it answered 503 for"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "it answered 100 Continue"),
        ("HTTP/1.1 2000 OK\r\n\r\n", "no status"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"),
        ("HTTP/2.0 200 OK\r\n\r\n", "does not speak HTTP"),
        ("\0\0\0\0", "does not speak HTTP"),
        ("", "closed the connection without an answer"),
        ("HTTP/1.1 200 OK\r\n", "closed the connection without an answer"),
        ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000), "longer than 16 KiB"),
    ])
    func `A proxy that refuses or answers garbage is a clear error`(answer: String, problem: String) async throws {
        let server = try ConnectProxy(.answer(answer))
        defer { server.stop() }
        let proxy = Self.address(server, user: "fleet", password: "s3cr3t")
        guard case .failure(.proxy(let text)) = try await Self.connect(through: proxy) else {
            Issue.record("no error of the proxy")
            return
        }
        #expect(server.requests.count == 1)
        #expect(text.contains(problem), "\(text)")
        #expect(!text.contains("s3cr3t"))
    }

    @Test func `A proxy that stalls runs into the deadline for connecting`() async throws {
        let server = try ConnectProxy(.stall)
        defer { server.stop() }
        let result = try await Self.connect(through: Self.address(server), timeout: .milliseconds(500))
        #expect(server.requests.count == 1)
        #expect(result == .failure(.timeout(stage: .proxy)))
    }

    @Test func `A proxy that is not there is an error of connecting`() async throws {
        let port = try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .whitespacesAndNewlines)
        let proxy = try Proxy("http://127.0.0.1:\(port)")
        #expect(try await Self.connect(through: proxy) == .failure(.connect(errno: 111)))
    }

    @Test(arguments: [
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("http://u:p@proxy.example:3128/", "http://u@proxy.example:3128"),
        ("http://u:p%40ss@h:1@[::1]:8080", "http://u@[::1]:8080"), ("http://u@h:1", "http://u@h:1"),
    ])
    func `An address is read, and shown without its password`(text: String, shown: String) throws {
        #expect(try Proxy(text).description == shown)
    }

    @Test(arguments: [
        ("https://h:1", "scheme"), ("h:1", "scheme"), ("http://h", "port"), ("http://h:0", "port"),
        ("http://h:99999", "port"), ("http://:1", "host"), ("http://@h:1", "user"), ("http://a%3Ab:p@h:1", "user"),
        ("http://u:%zz@h:1", "password"), ("http://u:%0a@h:1", "password"), ("http://h/x:1", "host"),
        ("http://[::1]", "port"),
    ])
    func `A wrong address names the part`(text: String, part: String) {
        let error = #expect(throws: ProxyError.self) { try Proxy(text) }
        #expect(error?.part == part)
    }

    @Test func `Whatever way an answer is cut, it is understood, and nothing behind it is taken`() {
        let target = Endpoint(host: "a", port: 1)
        let proxy = Proxy(endpoint: target)
        let answer = Array("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbehind".utf8)
        for cut in 0...answer.count {
            var handshake = ProxyHandshake(to: target, through: proxy)
            let first = answer[..<cut].withUnsafeBytes { handshake.receive($0) }
            guard first.outcome == .needsMore else {
                #expect(first.outcome == .open && first.consumed == answer.count - 6)
                continue
            }
            #expect(first.consumed == cut)
            let second = answer[cut...].withUnsafeBytes { handshake.receive($0) }
            #expect(second.outcome == .open && first.consumed + second.consumed == answer.count - 6)
        }
    }
}

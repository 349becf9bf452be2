import Foundation
import Loop
import TestLoop
import TestServers
import Testing
import Wire

@Suite struct TLSTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var host = "localhost"
        var authority = TestCertificates.shared.authority
        var certificate = TestCertificates.shared.serverCertificate
        var key = TestCertificates.shared.serverKey
        var clientALPN: String?
        var serverALPN: String?
        /// Part of the error's text; nil: it connects.
        var problem: String?

        var testDescription: String { self.name }
    }

    static let cases: [Case] = [
        Case(name: "a name"),
        Case(name: "an address", host: "127.0.0.1"),
        Case(name: "the same protocol", clientALPN: "h2", serverALPN: "h2"),
        Case(
            name: "an authority we do not trust",
            authority: TestCertificates.shared.unknownAuthority,
            problem: "certificate"
        ),
        Case(name: "another name", host: "127.0.0.2", problem: "certificate: IP address mismatch"),
        Case(
            name: "an expired certificate",
            certificate: TestCertificates.shared.expiredCertificate,
            key: TestCertificates.shared.expiredKey,
            problem: "certificate: certificate has expired"
        ),
        Case(name: "a server without ALPN", clientALPN: "h2", problem: "ALPN h2"),
        Case(
            name: "a server with another protocol",
            clientALPN: "h2",
            serverALPN: "amqp",
            problem: "no application protocol"
        ),
    ]

    @Test(arguments: Self.cases)
    func `A client accepts the right server and no other`(example: Case) async throws {
        let error = try await onLoop(of: TransportError?.self) { loop, report in
            let serverTLS = try TLSContext.server(
                certificate: example.certificate,
                key: example.key,
                alpn: example.serverALPN
            )
            let server = try Any127Server(on: loop, tls: serverTLS)
            let clientTLS = try TLSContext.client(trusting: example.authority, alpn: example.clientALPN)
            let client = Recorder(to: server.port, host: example.host, tls: clientTLS, on: loop)
            client.onOpen = { _ in report(nil) }
            client.onClose = { report($1) }
            return (server, client)
        }
        if let problem = example.problem {
            guard case .tls(let text) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains(problem))
        } else {
            #expect(error == nil)
        }
    }

    /// A server by other hands that knows only old protocols, and one that knows new ones, which proves the first.
    @Test(arguments: [("-tls1", false), ("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func `TLS before 1.2 is refused, and there is no way back to it`(version: String, isTaken: Bool) async throws {
        let port = try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .whitespacesAndNewlines)
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments = [
            "s_server", "-accept", "127.0.0.1:\(port)", version, "-cipher", "ALL:@SECLEVEL=0", "-alpn", "h2", "-quiet",
            "-cert", TestCertificates.shared.serverCertificate, "-key", TestCertificates.shared.serverKey,
        ]
        server.standardInput = Pipe()
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        try server.run()
        defer {
            // Not SIGTERM: a child inherits the signals that this thread blocks.
            kill(server.processIdentifier, SIGKILL)
            server.waitUntilExit()
        }
        let number = try #require(Int(port))
        while server.isRunning, LoopbackSocket.connected(to: number).map({ $0.close(reset: false) }) == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        let error = try await onLoop(of: TransportError?.self) { loop, report in
            let tls = try TLSContext.client(trusting: TestCertificates.shared.authority, alpn: "h2")
            let client = Recorder(to: UInt16(number), host: "localhost", tls: tls, on: loop)
            client.onOpen = { _ in report(nil) }
            client.onClose = { report($1) }
            return client
        }
        guard !isTaken else {
            #expect(error == nil)
            return
        }
        guard case .tls(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("protocol"), "\(text)")
    }

    @Test func `Files that are missing are named`() {
        #expect(throws: TLSContextError.self) { try TLSContext.client(trusting: "/nowhere/ca.pem") }
        #expect(throws: TLSContextError.self) { try TLSContext.server(certificate: "/nowhere/a", key: "/nowhere/b") }
    }

    @Test func `A client that speaks no TLS is dropped`() async throws {
        let isOver = try await onLoop(of: Bool.self) { loop, report in
            let tls = try TLSContext.server(
                certificate: TestCertificates.shared.serverCertificate,
                key: TestCertificates.shared.serverKey
            )
            let server = try RecordingServer(on: loop, tls: tls)
            let client = Recorder(to: server.port, tls: nil, on: loop)
            client.transport!.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            client.onClose = { _, _ in report(server.connections[0].transport!.isClosed) }
            return (server, client)
        }
        #expect(isOver)
    }

    /// Listens on every address, so that names the certificate lacks reach it too.
    private final class Any127Server {
        let listener: Listener
        private let kept: Kept

        private final class Kept {
            var connections: [Recorder] = []
        }

        init(on loop: EventLoop, tls: TLSContext) throws {
            let kept = Kept()
            self.kept = kept
            self.listener = try Listener(on: Endpoint(host: "0.0.0.0", port: 0), tls: tls, loop: loop) { make in
                let connection = Recorder()
                connection.transport = make(connection)
                kept.connections.append(connection)
            }
        }

        var port: UInt16 { self.listener.port }
    }
}

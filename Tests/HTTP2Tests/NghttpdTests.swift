import Foundation
import HTTP2
import Loop
import Push
import TestLoop
import TestServers
import Testing
import Wire

/// A server that is not ours: nghttpd of Debian's nghttp2-server.
@Suite struct NghttpdTests {
    @Test func `A foreign server echoes ten thousand bodies`() async throws {
        let certificates = TestCertificates.shared
        let server = try Nghttpd([
            "--echo-upload", "--max-concurrent-streams=250", certificates.serverKey, certificates.serverCertificate,
        ])
        defer { server.stop() }
        let total = 10_000
        let body = [UInt8]((0..<3000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let record = try await onLoop(of: ClientRecord.self) { loop, report in
            let tls = try TestTLS.client
            var clients: [TestClient] = []
            func connect() {
                let client = TestClient(to: server.port, tls: tls, on: loop)
                client.backlog = total
                client.body = body
                client.onOutcome = { client, _, _ in
                    if client.record.outcomeCount == total { client.http.drain() }
                }
                client.onClose = { client in
                    // It may need a moment to listen.
                    guard case .transport(.connect) = client.record.closes[0] else { return report(client.record) }
                    loop.after(.milliseconds(10), connect)
                }
                clients.append(client)
            }
            connect()
            return server
        }
        #expect(record.closes == [.drained])
        #expect(record.limits == [250])
        #expect(record.peakStreams == 250)
        #expect(record.outcomes.count == total)
        let expected = Outcome.answered(status: 200, kept: [nil, nil], body: String(decoding: body, as: UTF8.self))
        #expect(record.outcomes.values.allSatisfy { $0 == [expected] })
    }
}

/// One running nghttpd on a free port.
private final class Nghttpd: Sendable {
    let port: UInt16
    private let process: Process

    init(_ arguments: [String]) throws {
        let port = try Repository.script("free-ports", ["1"]).trimmingCharacters(in: .whitespacesAndNewlines)
        self.port = try #require(UInt16(port))
        self.process = Process()
        self.process.executableURL = URL(fileURLWithPath: "/usr/sbin/nghttpd")
        let options = arguments.filter { $0.hasPrefix("-") }
        let files = arguments.filter { !$0.hasPrefix("-") }
        self.process.arguments = options + ["--address=127.0.0.1", port] + files
        self.process.standardOutput = FileHandle.nullDevice
        self.process.standardError = FileHandle.nullDevice
        try self.process.run()
    }

    func stop() {
        // It inherits the blocked signals of the thread that started it, and SIGTERM is among them.
        kill(self.process.processIdentifier, SIGKILL)
        self.process.waitUntilExit()
    }
}

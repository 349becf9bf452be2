import HTTP2
import Loop
import TestLoop
import TestServers
import Testing
import Wire

/// Connections that end in the middle of something, and servers that are none.
@Suite struct BrokenEndTests {
    @Test func `An end of file without TLS's goodbye loses what is open, with a reason`() async throws {
        let record = try await onLoop(of: ClientRecord.self) { loop, report in
            let server = try TestServer(on: loop, tls: TestTLS.server)
            // Between the two, and outside of TLS.
            var downs: [RawConnection] = []
            let relay = try RawServer(on: loop, tls: nil) { down in
                let up = RawConnection()
                up.onReceive = { [unowned down] _, bytes in down.transport!.write(bytes) }
                down.onReceive = { _, bytes in up.transport!.write(bytes) }
                up.connect(to: server.port, on: loop)
                downs.append(down)
            }
            server.onRequest = { server, _, _, _ in
                if server.seen.count == 10 { downs[0].transport!.closeWhenSent() }
            }
            let client = TestClient(to: relay.port, tls: try TestTLS.client, on: loop)
            client.backlog = 10
            client.onClose = { client in loop.after(.zero) { report(client.record) } }
            return (server, relay, client)
        }
        #expect(record.each == Array(repeating: .failed(.unknown(.connectionLost)), count: 10))
        guard case .transport(let error)? = record.closes.first else {
            Issue.record("\(record.closes)")
            return
        }
        #expect(!error.description.isEmpty)
        #expect(record.closes.count == 1)
    }

    @Test(
        arguments: [
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "SSH-2.0-OpenSSH_9.2p1\r\n", "220 mail ESMTP\r\n",
            "{\"reason\":\"x\"}",
        ]
    )
    func `A server of another protocol is told apart by a reason that one can read`(greeting: String) async throws {
        let record = try await onLoop(of: ClientRecord.self) { loop, report in
            let server = try RawServer(on: loop, tls: nil) { connection in
                connection.onOpen = { $0.transport!.write(Array(greeting.utf8)) }
            }
            let client = TestClient(to: server.port, tls: nil, on: loop)
            client.backlog = 5
            client.onClose = { report($0.record) }
            return (server, client)
        }
        guard case .protocolError(let text)? = record.closes.first else {
            Issue.record("\(record.closes)")
            return
        }
        #expect(text.contains("SETTINGS"))
        #expect(record.outcomes.isEmpty && record.ready == 0)
    }

    @Test(arguments: 0..<60)
    func `A stream that breaks off at any byte ends every request once`(cut: Int) async throws {
        // SETTINGS, an answer, half of another, which take 9 + 10 + 10 + 22 bytes.
        let words =
            frame(4) + frame(1, flags: 5, stream: 1, [0x88]) + frame(1, flags: 4, stream: 3, [0x88])
            + frame(0, stream: 3, Array("{\"reas".utf8)) + frame(7, [0, 0, 0, 3, 0, 0, 0, 0])
        let record = try await onLoop(of: ClientRecord.self) { loop, report in
            let server = try RawServer(on: loop, tls: nil) { connection in
                connection.onOpen = { $0.transport!.write(Array(words.prefix(min(cut, 9)))) }
                if cut <= 9 { connection.onFlush = { $0.transport!.closeWhenSent() } }
                connection.onReceive = { connection, _ in
                    guard connection.receivedCount > 400 else { return }
                    connection.transport!.write(Array(words.prefix(cut).dropFirst(9)))
                    connection.transport!.closeWhenSent()
                }
            }
            let client = TestClient(to: server.port, tls: nil, on: loop)
            client.backlog = 3
            client.onClose = { report($0.record) }
            return (server, client)
        }
        #expect(record.closes.count == 1)
        #expect(record.outcomes.count == record.streams.count)
        #expect(record.outcomes.values.allSatisfy { $0.count == 1 })
        // Half a body is no answer.
        #expect(record.outcomes[1].map { $0 == [.failed(.unknown(.connectionLost))] } ?? true)
    }
}

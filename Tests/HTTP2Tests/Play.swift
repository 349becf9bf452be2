import HTTP2
import Loop
import TestLoop
import Testing
import Wire

/// One client against our own server over TLS; ends with the connection.
struct Play: Sendable {
    var client: ClientRecord
    var ends: [ServerStreamEnd]
    var seen: [String]
    var serverCloses: [CloseReason]
    var counters: HTTP2Server.Counters

    static func run(
        requests: Int,
        client settings: HTTP2Client.Settings = .init(),
        server serverSettings: HTTP2Server.Settings = .init(),
        _ prepare: @escaping @Sendable (TestClient, TestServer) -> Void
    ) async throws -> Play {
        let play = try await onLoop(of: Play.self) { loop, report in
            let server = try TestServer(on: loop, tls: TestTLS.server, settings: serverSettings)
            let client = TestClient(to: server.port, tls: try TestTLS.client, settings: settings, on: loop)
            client.backlog = requests
            prepare(client, server)
            let onClose = client.onClose
            let reportBoth = {
                guard !client.record.closes.isEmpty, server.closes.count == server.connections.count else { return }
                loop.after(.zero) {
                    report(
                        Play(
                            client: client.record,
                            ends: server.ends,
                            seen: server.seen,
                            serverCloses: server.closes,
                            counters: server.connections.first?.counters ?? .init()
                        )
                    )
                }
            }
            client.onClose = {
                onClose($0)
                // The server stops waiting for a client that went without a word.
                for connection in server.connections {
                    connection.isSilent = false
                    connection.resumeReading()
                }
                reportBoth()
            }
            server.onClose = { _ in reportBoth() }
            return (client, server)
        }
        #expect(play.client.outcomes.values.allSatisfy { $0.count == 1 }, "exactly one outcome for each request")
        #expect(play.client.closes.count == 1)
        #expect(play.client.late == 0)
        #expect(play.client.outcomes.count == play.client.streams.count)
        let neverSent = play.client.outcomes.filter { $0.value.contains(.failed(.notProcessed(.neverSent))) }
        #expect(Set(neverSent.keys.map(TestClient.name)).isDisjoint(with: play.seen))
        return play
    }
}

extension TestClient {
    /// Closes when so many requests have their outcome.
    func closeWhenDone(_ requests: Int) {
        self.onOutcome = { client, _, _ in
            if client.record.outcomeCount == requests { client.loop.after(.zero) { client.http.close() } }
        }
    }
}

import HTTP2
import Loop
import Testing
import Wire

/// Servers that say goodbye: which requests count, and when the connection ends.
@Suite struct GoAwayTests {
    @Test func `GOAWAY fails only the streams above its last; the others are answered, then it closes`() async throws {
        let play = try await Play.run(requests: 20) { client, server in
            Self.answerFirstTen(client, server) { connection, last in
                connection.goAway(lastStreamID: last, code: 0, debugData: Array("{\"reason\":\"Shutdown\"}".utf8))
            }
        }
        #expect(play.client.goAways.count == 1)
        #expect(play.client.goAways.first?.debugData == Array("{\"reason\":\"Shutdown\"}".utf8))
        #expect(play.client.each.prefix(10).allSatisfy { $0.isAnswer })
        #expect(play.client.each.dropFirst(10).allSatisfy { $0 == .failed(.notProcessed(.goAway)) })
        #expect(play.client.closes == [.drained])
    }

    @Test func `Of two GOAWAYs the lower one counts`() async throws {
        let play = try await Play.run(requests: 20) { client, server in
            Self.answerFirstTen(client, server) { connection, last in
                connection.goAway(lastStreamID: .max, code: 0)
                connection.goAway(lastStreamID: last, code: 0)
            }
        }
        #expect(play.client.goAways.map(\.lastStreamID) == [.max, 19])
        #expect(play.client.each.prefix(10).allSatisfy { $0.isAnswer })
        #expect(play.client.each.dropFirst(10).allSatisfy { $0 == .failed(.notProcessed(.goAway)) })
        #expect(play.client.closes == [.drained])
    }

    @Test func `GOAWAY with last stream 0 fails everything at once, and long debug data is cut`() async throws {
        let play = try await Play.run(requests: 5) { client, server in
            server.onRequest = { server, connection, _, _ in
                guard server.seen.count == 5 else { return }
                connection.goAway(lastStreamID: 0, code: 0, debugData: Array(repeating: 65, count: 5000))
            }
        }
        #expect(play.client.each == Array(repeating: .failed(.notProcessed(.goAway)), count: 5))
        #expect(play.client.goAways.map(\.debugData.count) == [1024])
        #expect(play.client.closes == [.drained])
    }

    @Test func `After GOAWAY and silence the drain timeout ends the wait`() async throws {
        var settings = HTTP2Client.Settings()
        settings.drainTimeout = .milliseconds(100)
        let play = try await Play.run(requests: 4, client: settings) { client, server in
            server.onRequest = { server, connection, _, _ in
                if server.seen.count == 4 { connection.goAway(lastStreamID: 3, code: 0) }
            }
            client.onGoAway = { #expect($0.http.availableStreams == 0) }
        }
        #expect(
            play.client.each == [
                .failed(.unknown(.connectionLost)), .failed(.unknown(.connectionLost)),
                .failed(.notProcessed(.goAway)), .failed(.notProcessed(.goAway)),
            ]
        )
        #expect(play.client.closes == [.drainTimeout])
    }

    @Test func `GOAWAY followed by an end of file loses only the streams at or below its last`() async throws {
        let play = try await Play.run(requests: 4) { client, server in
            server.onRequest = { server, connection, _, _ in
                guard server.seen.count == 4 else { return }
                connection.goAway(lastStreamID: 3, code: 0)
                client.loop.after(.zero) { connection.close() }
            }
        }
        #expect(play.client.goAways.count == 1)
        #expect(
            play.client.each == [
                .failed(.unknown(.connectionLost)), .failed(.unknown(.connectionLost)),
                .failed(.notProcessed(.goAway)), .failed(.notProcessed(.goAway)),
            ]
        )
        #expect(play.client.closes == [.transport(.closedByPeer)])
    }

    /// Once 20 requests are there, says something about the tenth's stream and answers the first ten.
    private static func answerFirstTen(
        _ client: TestClient,
        _ server: TestServer,
        _ say: @escaping (HTTP2Server, Int32) -> Void
    ) {
        var waiting: [(Int32, String?)] = []
        server.onRequest = { server, connection, stream, request in
            waiting.append((stream, TestServer.text(request.header("apns-id"))))
            guard waiting.count == 20 else { return }
            say(connection, waiting[9].0)
            client.loop.after(.milliseconds(1)) {
                #expect(!client.http.isClosed)
                for (stream, id) in waiting.prefix(10) { server.echo(connection, stream, id: id) }
            }
        }
    }
}

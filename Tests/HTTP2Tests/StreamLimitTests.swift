import Glibc
import HTTP2
import Loop
import Testing

/// How many requests may be open at a time, as the server changes its mind.
@Suite struct StreamLimitTests {
    @Test func `The stream limit is obeyed at once as it goes 1, 1000, 1, 0 and back`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = 1
        settings.overflow = .goAway
        let play = try await Play.run(requests: 3000, server: settings) { client, server in
            var waiting: [(Int32, String?)] = []
            server.onRequest = { server, connection, stream, request in
                waiting.append((stream, TestServer.text(request.header("apns-id"))))
                switch server.seen.count {
                case 1:
                    #expect(client.http.openStreams == 1)
                    connection.setMaxConcurrentStreams(1000)
                case 1001:
                    #expect(client.http.openStreams == 1000)
                    connection.setMaxConcurrentStreams(1)
                case 1002:
                    #expect(client.http.openStreams == 1)
                    connection.setMaxConcurrentStreams(0)
                default: break
                }
                if server.seen.count == 1 || server.seen.count >= 1001 {
                    for (stream, id) in waiting { server.echo(connection, stream, id: id) }
                    waiting = []
                }
            }
            client.onLimit = { client, limit in
                guard limit == 0 else { return }
                #expect(client.http.availableStreams == 0)
                // Nothing may be sent now, and nothing moves on its own; a PING shows that the connection lives.
                client.loop.after(.zero) {
                    client.loop.after(.zero) { server.connections[0].setMaxConcurrentStreams(700) }
                }
            }
            client.closeWhenDone(3000)
        }
        #expect(play.client.limits == [1, 1000, 1, 0, 700])
        #expect(play.client.each.allSatisfy { $0.isAnswer })
        #expect(play.counters.peakStreams == 1000)
        #expect(play.counters.refused == 0)
    }

    @Test func `A limit of 0 is waited out without a sound, and what it overtook is refused for free`() async throws {
        let play = try await Play.run(requests: 40) { client, server in
            var waiting: [(Int32, String?)] = []
            func answer(_ connection: HTTP2Server) {
                for (stream, id) in waiting { server.echo(connection, stream, id: id) }
                waiting = []
            }
            server.onRequest = { server, connection, stream, request in
                waiting.append((stream, TestServer.text(request.header("apns-id"))))
                guard server.seen.count == 40 else { return }
                // 0 is on its way when five more leave.
                connection.setMaxConcurrentStreams(0)
                client.backlog = 5
                client.fill()
                client.backlog = 100
                client.loop.after(.milliseconds(2)) { answer(connection) }
            }
            client.onOutcome = { client, _, _ in
                if client.record.outcomeCount == 145 { client.loop.after(.zero) { client.http.close() } }
                guard client.record.outcomeCount == 45 else { return }
                // The last stream is given back behind its answer.
                client.loop.after(.milliseconds(5)) {
                    #expect(client.http.openStreams == 0)
                    let before = (client.record.offers, client.http.bytesSent, Self.threadTime)
                    client.loop.after(.milliseconds(200)) {
                        let after = (client.record.offers, client.http.bytesSent, Self.threadTime)
                        #expect(after.0 == before.0)
                        #expect(after.1 == before.1)
                        // Of 200 ms, whatever else the machine does.
                        #expect(after.2 - before.2 < .milliseconds(50))
                        server.onRequest = nil
                        server.connections[0].setMaxConcurrentStreams(1000)
                    }
                }
            }
        }
        #expect(play.client.limits == [1000, 0, 1000])
        #expect(play.client.each.prefix(40).allSatisfy { $0.isAnswer })
        #expect(play.client.each[40..<45].allSatisfy { $0 == .failed(.notProcessed(.refused)) })
        #expect(play.client.each.dropFirst(45).allSatisfy { $0.isAnswer })
        #expect(play.counters.refused == 5)
    }

    /// What this thread has used of a processor.
    private static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test func `A server that names no limit gets a hundred streams, and the owner's cap may be lower`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = nil
        let play = try await Play.run(requests: 500, server: settings) { client, _ in
            client.onReady = { client in
                #expect(client.http.peerStreamLimit == 100)
                client.http.localStreamCap = 7
                #expect(client.http.availableStreams == 7)
            }
            client.onOutcome = { client, _, _ in
                #expect(client.http.openStreams <= (client.record.outcomeCount <= 200 ? 7 : 100))
                if client.record.outcomeCount == 200 { client.http.localStreamCap = 5000 }
                if client.record.outcomeCount == 500 { client.http.drain() }
            }
        }
        #expect(play.client.each.allSatisfy { $0.isAnswer })
        #expect(play.client.peakStreams == 100)
        #expect(play.client.closes == [.drained])
    }

    @Test func `Streams above a limit that was lowered meanwhile are refused, not lost`() async throws {
        let play = try await Play.run(requests: 10) { client, server in
            var waiting: [(Int32, String?)] = []
            server.onRequest = { server, connection, stream, request in
                waiting.append((stream, TestServer.text(request.header("apns-id"))))
                guard server.seen.count == 10 else { return }
                connection.setMaxConcurrentStreams(10)
                // The client has not heard of it yet.
                client.backlog = 5
                client.fill()
                client.loop.after(.milliseconds(1)) {
                    for (stream, id) in waiting { server.echo(connection, stream, id: id) }
                }
            }
            client.closeWhenDone(15)
        }
        #expect(play.client.each.filter { $0.isAnswer }.count == 10)
        #expect(play.client.each.filter { $0 == .failed(.notProcessed(.refused)) }.count == 5)
        #expect(play.counters.refused == 5)
        #expect(play.seen.count == 10)
    }

    @Test func `A server may answer overflow with GOAWAY and Apple's text`() async throws {
        var settings = HTTP2Server.Settings()
        settings.overflow = .goAway
        let play = try await Play.run(requests: 10, server: settings) { client, server in
            var waiting: [(Int32, String?)] = []
            server.onRequest = { server, connection, stream, request in
                waiting.append((stream, TestServer.text(request.header("apns-id"))))
                guard server.seen.count == 10 else { return }
                connection.setMaxConcurrentStreams(10)
                client.backlog = 5
                client.fill()
            }
            client.onGoAway = { client in
                for (stream, id) in waiting { server.echo(server.connections[0], stream, id: id) }
            }
        }
        #expect(play.client.each.filter { $0.isAnswer }.count == 10)
        #expect(play.client.each.filter { $0 == .failed(.notProcessed(.goAway)) }.count == 5)
        #expect(play.client.goAways.map(\.errorCode) == [7])
        #expect(
            play.client.goAways.first.map { String(decoding: $0.debugData, as: UTF8.self) }
                == "Maximum active streams violated for this endpoint."
        )
        #expect(play.client.closes == [.drained])
    }
}

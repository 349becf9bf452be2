import HTTP2
import Loop
import Testing
import Wire

/// Streams and connections that are reset, fall silent or lose what was sent.
@Suite struct LossTests {
    @Test(arguments: [0, 1, 2, 5, 7, 8, 11, 99] as [UInt32])
    func `A reset stream's code decides whether the request counts`(code: UInt32) async throws {
        let play = try await Play.run(requests: 2) { client, server in
            server.onRequest = { server, connection, stream, request in
                if server.seen.count == 1 {
                    connection.reset(stream: stream, code: code)
                } else {
                    server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
                }
            }
            client.closeWhenDone(2)
        }
        let expected = code == 7 ? StreamFailure.notProcessed(.refused) : .unknown(.reset(code))
        #expect(play.client.each == [.failed(expected), .echoed(1)])
        #expect(play.ends.contains(.reset(code)))
    }

    @Test func `A second reset of the same stream is tolerated`() async throws {
        let play = try await Play.run(requests: 2) { client, server in
            server.onRequest = { server, connection, stream, request in
                if server.seen.count == 1 {
                    for code in [7, 5] as [UInt8] {
                        connection.inject([0, 0, 4, 3, 0, 0, 0, 0, UInt8(stream), 0, 0, 0, code])
                    }
                } else {
                    server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
                }
            }
            client.closeWhenDone(2)
        }
        #expect(play.client.each == [.failed(.notProcessed(.refused)), .echoed(1)])
    }

    @Test func `A connection reset fails what is open as unknown`() async throws {
        let play = try await Play.run(requests: 50) { client, server in
            server.onRequest = { server, connection, _, _ in
                if server.seen.count == 50 { connection.abort() }
            }
        }
        #expect(play.client.each == Array(repeating: .failed(.unknown(.connectionLost)), count: 50))
        #expect(play.client.closes == [.transport(.broken(errno: 104))])
        #expect(play.ends == Array(repeating: .connectionLost, count: 50))
    }

    @Test func `Requests of which no byte left are known not to be processed`() async throws {
        var settings = HTTP2Server.Settings()
        settings.connectionWindow = 1 << 30
        let play = try await Play.run(requests: 900, server: settings) { client, server in
            client.body = [UInt8](repeating: 0, count: 60_000)
            // The server reads nothing; the kernel's buffers fill, then the client's outbox.
            server.onOpen = { $0.pauseReading() }
            var sent = -1
            func check() {
                // Full is what stays as it is.
                guard client.http.unsentBytes > 200_000, client.http.bytesSent == sent else {
                    sent = client.http.bytesSent
                    client.loop.after(.milliseconds(30), check)
                    return
                }
                // epoll calls a socket full before it is; what is submitted now finds out.
                guard client.http.availableStreams > 0 else { return client.http.close() }
                client.backlog = 10
                client.fill()
                sent = -1
                client.loop.after(.milliseconds(5), check)
            }
            check()
        }
        let neverSent = play.client.each.filter { $0 == .failed(.notProcessed(.neverSent)) }.count
        let unknown = play.client.each.filter { $0 == .failed(.unknown(.connectionLost)) }.count
        #expect(neverSent + unknown == 1000)
        #expect(neverSent >= 10)
        #expect(unknown > 0)
    }

    // MARK: Silence

    @Test func `A black hole is found by PING`() async throws {
        var settings = HTTP2Client.Settings()
        settings.pingInterval = .milliseconds(50)
        settings.pingTimeout = .milliseconds(80)
        let play = try await Play.run(requests: 5, client: settings) { client, server in
            server.onRequest = { server, connection, _, _ in
                if server.seen.count == 5 { connection.isSilent = true }
            }
        }
        #expect(play.client.closes == [.pingTimeout])
        #expect(play.client.each == Array(repeating: .failed(.unknown(.connectionLost)), count: 5))
        #expect(play.counters.pings >= 1)
    }

    @Test func `Answered PINGs keep an idle connection, and unanswered ones do not`() async throws {
        var settings = HTTP2Client.Settings()
        settings.pingInterval = .milliseconds(20)
        settings.pingTimeout = .seconds(1)
        let play = try await Play.run(requests: 0, client: settings) { client, server in
            func check() {
                guard let connection = server.connections.first, connection.counters.pings >= 5 else {
                    client.loop.after(.milliseconds(5), check)
                    return
                }
                connection.acknowledgesPings = false
            }
            check()
        }
        #expect(play.client.closes == [.pingTimeout])
        #expect(play.counters.pings >= 6)
    }

    @Test func `A request that times out fails alone; the connection goes on`() async throws {
        var settings = HTTP2Client.Settings()
        settings.requestTimeout = .milliseconds(700)
        let play = try await Play.run(requests: 3, client: settings) { client, server in
            server.onRequest = { server, connection, stream, request in
                guard server.seen.count != 2 else { return }
                server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
            }
            client.onOutcome = { client, _, outcome in
                if outcome == .failed(.unknown(.timeout)) {
                    client.backlog = 1
                    client.fill()
                }
                if client.record.outcomeCount == 4 { client.http.drain() }
            }
        }
        #expect(play.client.each == [.echoed(0), .failed(.unknown(.timeout)), .echoed(2), .echoed(3)])
        #expect(play.ends.filter { $0 == .reset(8) }.count == 1)
        #expect(play.client.closes == [.drained])
    }

    @Test func `When requests time out and nothing arrived, a PING asks at once`() async throws {
        var settings = HTTP2Client.Settings()
        settings.requestTimeout = .milliseconds(100)
        settings.pingTimeout = .milliseconds(100)
        let play = try await Play.run(requests: 3, client: settings) { client, server in
            server.onRequest = { server, connection, _, _ in
                if server.seen.count == 3 { connection.isSilent = true }
            }
        }
        #expect(play.client.each == Array(repeating: .failed(.unknown(.timeout)), count: 3))
        #expect(play.client.closes == [.pingTimeout])
    }

    @Test(arguments: [0, 1, 100])
    func `A server that lets bodies in slowly or not at all costs time, not the connection`(
        window: Int
    ) async throws {
        var settings = HTTP2Client.Settings()
        settings.requestTimeout = window == 0 ? .milliseconds(150) : .seconds(20)
        var serverSettings = HTTP2Server.Settings()
        serverSettings.initialWindow = window
        let play = try await Play.run(requests: 20, client: settings, server: serverSettings) { client, _ in
            client.closeWhenDone(20)
        }
        if window == 0 {
            #expect(play.client.each == Array(repeating: .failed(.unknown(.timeout)), count: 20))
            #expect(play.seen.isEmpty)
        } else {
            #expect(play.client.each == (0..<20).map { .echoed($0) })
        }
        #expect(play.client.closes == [.closed])
    }
}

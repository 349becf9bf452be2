import Glibc
import HTTP2
import Loop
import Push
import TestLoop
import Testing
import Wire

@Suite struct HTTP2ClientTests {
    /// One client against our own server over TLS; ends with the connection.
    struct Play: Sendable {
        var client: ClientRecord
        var ends: [ServerStreamEnd]
        var seen: [String]
        var serverCloses: [CloseReason]
        var counters: HTTP2Server.Counters
    }

    private static func play(
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

    /// Closes when all requests have their outcome.
    private static func closeWhenDone(_ client: TestClient, _ requests: Int) {
        client.onOutcome = { client, _, _ in
            if client.record.outcomeCount == requests { client.loop.after(.zero) { client.http.close() } }
        }
    }

    // MARK: All is well

    @Test(arguments: [1, 4])
    func `Ten thousand requests get their own answers`(connections: Int) async throws {
        let share = 10_000 / connections
        let records = try await onLoop(of: [ClientRecord].self) { loop, report in
            let server = try TestServer(on: loop, tls: TestTLS.server)
            var clients: [TestClient] = []
            let tls = try TestTLS.client
            for index in 0..<connections {
                let client = TestClient(to: server.port, tls: tls, firstContext: UInt64(index * share), on: loop)
                client.backlog = share
                client.onOutcome = { client, _, _ in
                    if client.record.outcomeCount == share { client.http.drain() }
                }
                client.onClose = { _ in
                    guard clients.allSatisfy({ $0.record.closes == [.drained] }) else { return }
                    report(clients.map(\.record))
                }
                clients.append(client)
            }
            return server
        }
        #expect(records.count == connections)
        for record in records {
            #expect(record.outcomes.count == share)
            #expect(record.outcomes.allSatisfy { $0.value == [.echoed($0.key)] })
            #expect(record.ready == 1)
            #expect(record.limits == [1000])
            #expect(record.peakStreams <= 1000)
        }
    }

    @Test func `An answer's status, body and kept headers arrive, also with an empty body`() async throws {
        let play = try await Self.play(requests: 3) { client, server in
            let headers = HeaderBlock()
            server.onRequest = { server, connection, stream, request in
                headers.removeAll()
                switch server.seen.count {
                case 1:
                    headers.append(name: "x-other", value: "not kept")
                    headers.append(name: "x-late", value: "second")
                    headers.append(name: "apns-id", value: "first")
                    headers.append(name: "apns-id", value: "not the first")
                    connection.respond(
                        stream: stream,
                        status: 400,
                        headers: headers,
                        body: Body(Array("..reason.".utf8), 2..<8)
                    )
                case 2:
                    connection.respond(stream: stream, status: 503, headers: headers)
                default:
                    // A runtime number and a body as large as we take.
                    headers.append(HeaderName("x-late"), -42)
                    let body = [UInt8](repeating: UInt8(ascii: "b"), count: 16 * 1024)
                    connection.respond(stream: stream, status: 200, headers: headers, body: Body(body))
                }
            }
            Self.closeWhenDone(client, 3)
        }
        #expect(
            play.client.each == [
                .answered(status: 400, kept: ["first", "second"], body: "reason"),
                .answered(status: 503, kept: [nil, nil], body: ""),
                .answered(status: 200, kept: [nil, "-42"], body: String(repeating: "b", count: 16 * 1024)),
            ]
        )
        #expect(play.client.closes == [.closed])
        #expect(play.ends == [.answered, .answered, .answered])
    }

    @Test func `A request arrives as it was given, with a block that grew and was cut`() async throws {
        struct Seen: Sendable {
            var fields: [String] = []
            var body = 0
            var duplicates = 0
        }
        let long = String(repeating: "v", count: 3000)
        let seen = try await onLoop(of: Seen.self) { loop, report in
            let server = try TestServer(on: loop, tls: TestTLS.server)
            server.onRequest = { _, _, _, request in
                var seen = Seen(body: request.body.count, duplicates: request.count(of: "x-twice"))
                for index in 0..<request.fieldCount {
                    seen.fields.append(
                        "\(TestServer.text(request.name(at: index))!)=\(TestServer.text(request.value(at: index))!)"
                    )
                }
                #expect(TestServer.text(request.method) == "POST")
                #expect(TestServer.text(request.path) == "/a")
                #expect(request.header("x-none") == nil)
                report(seen)
            }
            let client = TestClient(to: server.port, tls: try TestTLS.client, on: loop)
            client.onReady = { client in
                let block = HeaderBlock()
                block.append(HeaderName(":method"), "POST")
                block.append(HeaderName(":path"), "/a")
                let mark = block.count
                block.append(name: "dropped", value: "dropped")
                block.append(HeaderName("dropped-too"), long)
                block.cut(to: mark)
                for index in 0..<30 { block.append(HeaderName("x-number"), index) }
                block.append(name: "X-Twice", value: "a")
                block.append(HeaderName("x-empty"), "")
                block.append(HeaderName("x-long", .none), long)
                block.append(name: "x-twice", value: "b")
                client.http.submit(block, body: .none, context: 1)
                // The block may be used again before anything was sent.
                block.removeAll()
                block.append(HeaderName(":method"), long)
            }
            return (client, server)
        }
        let numbers = (0..<30).map { "x-number=\($0)" }
        #expect(
            seen.fields == [":scheme=https", ":authority=localhost", ":method=POST", ":path=/a"] + numbers
                + ["x-twice=a", "x-empty=", "x-long=\(long)", "x-twice=b"]
        )
        #expect(seen.body == 0)
        #expect(seen.duplicates == 2)
    }

    // MARK: Stream limits

    @Test func `The stream limit is obeyed at once as it goes 1, 1000, 1, 0 and back`() async throws {
        var settings = HTTP2Server.Settings()
        settings.maxConcurrentStreams = 1
        settings.overflow = .goAway
        let play = try await Self.play(requests: 3000, server: settings) { client, server in
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
            Self.closeWhenDone(client, 3000)
        }
        #expect(play.client.limits == [1, 1000, 1, 0, 700])
        #expect(play.client.each.allSatisfy { $0.isAnswer })
        #expect(play.counters.peakStreams == 1000)
        #expect(play.counters.refused == 0)
    }

    @Test func `A limit of 0 is waited out without a sound, and what it overtook is refused for free`() async throws {
        let play = try await Self.play(requests: 40) { client, server in
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
        let play = try await Self.play(requests: 500, server: settings) { client, _ in
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
        let play = try await Self.play(requests: 10) { client, server in
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
            Self.closeWhenDone(client, 15)
        }
        #expect(play.client.each.filter { $0.isAnswer }.count == 10)
        #expect(play.client.each.filter { $0 == .failed(.notProcessed(.refused)) }.count == 5)
        #expect(play.counters.refused == 5)
        #expect(play.seen.count == 10)
    }

    @Test func `A server may answer overflow with GOAWAY and Apple's text`() async throws {
        var settings = HTTP2Server.Settings()
        settings.overflow = .goAway
        let play = try await Self.play(requests: 10, server: settings) { client, server in
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

    // MARK: GOAWAY

    @Test func `GOAWAY fails only the streams above its last; the others are answered, then it closes`() async throws {
        let play = try await Self.play(requests: 20) { client, server in
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
        let play = try await Self.play(requests: 20) { client, server in
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
        let play = try await Self.play(requests: 5) { client, server in
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
        let play = try await Self.play(requests: 4, client: settings) { client, server in
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
        let play = try await Self.play(requests: 4) { client, server in
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

    // MARK: Resets and losses

    @Test(arguments: [0, 1, 2, 5, 7, 8, 11, 99] as [UInt32])
    func `A reset stream's code decides whether the request counts`(code: UInt32) async throws {
        let play = try await Self.play(requests: 2) { client, server in
            server.onRequest = { server, connection, stream, request in
                if server.seen.count == 1 {
                    connection.reset(stream: stream, code: code)
                } else {
                    server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
                }
            }
            Self.closeWhenDone(client, 2)
        }
        let expected = code == 7 ? StreamFailure.notProcessed(.refused) : .unknown(.reset(code))
        #expect(play.client.each == [.failed(expected), .echoed(1)])
        #expect(play.ends.contains(.reset(code)))
    }

    @Test func `A second reset of the same stream is tolerated`() async throws {
        let play = try await Self.play(requests: 2) { client, server in
            server.onRequest = { server, connection, stream, request in
                if server.seen.count == 1 {
                    for code in [7, 5] as [UInt8] {
                        connection.inject([0, 0, 4, 3, 0, 0, 0, 0, UInt8(stream), 0, 0, 0, code])
                    }
                } else {
                    server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
                }
            }
            Self.closeWhenDone(client, 2)
        }
        #expect(play.client.each == [.failed(.notProcessed(.refused)), .echoed(1)])
    }

    @Test func `A connection reset fails what is open as unknown`() async throws {
        let play = try await Self.play(requests: 50) { client, server in
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
        let play = try await Self.play(requests: 900, server: settings) { client, server in
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
        let play = try await Self.play(requests: 5, client: settings) { client, server in
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
        let play = try await Self.play(requests: 0, client: settings) { client, server in
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
        let play = try await Self.play(requests: 3, client: settings) { client, server in
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
        let play = try await Self.play(requests: 3, client: settings) { client, server in
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
        let play = try await Self.play(requests: 20, client: settings, server: serverSettings) { client, _ in
            Self.closeWhenDone(client, 20)
        }
        if window == 0 {
            #expect(play.client.each == Array(repeating: .failed(.unknown(.timeout)), count: 20))
            #expect(play.seen.isEmpty)
        } else {
            #expect(play.client.each == (0..<20).map { .echoed($0) })
        }
        #expect(play.client.closes == [.closed])
    }

    // MARK: Answers we do not take

    @Test func `Answers that are too large fail their requests as malformed and nothing else`() async throws {
        let play = try await Self.play(requests: 4) { client, server in
            let headers = HeaderBlock()
            server.onRequest = { server, connection, stream, request in
                headers.removeAll()
                switch server.seen.count {
                case 1:
                    headers.append(name: "x-large", value: String(repeating: "h", count: 17_000))
                    connection.respond(stream: stream, status: 200, headers: headers)
                case 2:
                    let body = [UInt8](repeating: 0, count: 16 * 1024 + 1)
                    connection.respond(stream: stream, status: 200, headers: headers, body: Body(body))
                case 3:
                    let body = [UInt8](repeating: 0, count: 8 << 20)
                    connection.respond(stream: stream, status: 200, headers: headers, body: Body(body))
                default:
                    server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
                }
            }
            Self.closeWhenDone(client, 4)
        }
        let malformed = Outcome.failed(.unknown(.malformed))
        #expect(play.client.each == [malformed, malformed, malformed, .echoed(3)])
        #expect(play.client.closes == [.closed])
    }

    @Test func `An answer that never ends is no answer`() async throws {
        var settings = HTTP2Client.Settings()
        settings.requestTimeout = .milliseconds(100)
        let play = try await Self.play(requests: 2, client: settings) { client, server in
            let headers = HeaderBlock()
            server.onRequest = { server, connection, stream, _ in
                let body = server.seen.count == 1 ? Body.none : Body(Array("{\"reas".utf8))
                connection.respond(stream: stream, status: 200, headers: headers, body: body, endsStream: false)
            }
            Self.closeWhenDone(client, 2)
        }
        #expect(play.client.each == Array(repeating: .failed(.unknown(.timeout)), count: 2))
    }

    // MARK: Ending on our side

    @Test func `A cancelled request fails at once and only once, and its stream is given back`() async throws {
        let play = try await Self.play(requests: 2) { client, server in
            server.onRequest = { server, connection, stream, _ in
                guard server.seen.count == 2 else { return }
                client.http.cancel(3)
                #expect(client.record.outcomes[1] == [.failed(.unknown(.cancelled))])
                client.http.cancel(3)
                client.http.cancel(77)
                server.echo(connection, 3, id: "late")
                server.echo(connection, 1, id: TestClient.name(0))
            }
            client.onOutcome = { client, context, _ in
                guard context == 0 else { return }
                // One that has not been sent yet is taken back without a trace.
                client.backlog = 1
                client.submit()
                client.http.cancel(5)
                #expect(client.record.outcomes[2] == [.failed(.notProcessed(.neverSent))])
                client.http.drain()
            }
        }
        #expect(play.client.each.prefix(1) == [.echoed(0)])
        #expect(play.seen.count == 2)
        #expect(play.client.closes == [.drained])
    }

    @Test func `Draining lets open requests finish and takes no new ones`() async throws {
        let play = try await Self.play(requests: 100) { client, server in
            var waiting: [(Int32, String?)] = []
            server.onRequest = { server, connection, stream, request in
                waiting.append((stream, TestServer.text(request.header("apns-id"))))
                guard waiting.count == 100 else { return }
                client.http.drain()
                #expect(client.http.availableStreams == 0)
                for (stream, id) in waiting { server.echo(connection, stream, id: id) }
            }
        }
        #expect(play.client.each == (0..<100).map { .echoed($0) })
        #expect(play.client.closes == [.drained])
        #expect(play.ends == Array(repeating: .answered, count: 100))
        #expect(play.counters.goAways == 1)
    }

    @Test func `Draining before the connection stands, and closing in any callback, is fine`() async throws {
        let reason = try await onLoop(of: CloseReason.self) { loop, report in
            let server = try TestServer(on: loop, tls: TestTLS.server)
            let client = TestClient(to: server.port, tls: try TestTLS.client, on: loop)
            client.http.drain()
            client.onClose = { report($0.record.closes[0]) }
            return (client, server)
        }
        #expect(reason == .drained)
        for place in 0..<4 {
            let play = try await Self.play(requests: 30) { client, server in
                if place == 0 { client.onReady = { $0.http.close() } }
                if place == 1 { client.onOutcome = { client, _, _ in client.http.close() } }
                if place == 2 { client.onLimit = { client, _ in client.http.close() } }
                if place == 3 {
                    server.onRequest = { server, connection, _, _ in
                        if server.seen.count == 30 { connection.goAway(lastStreamID: 9, code: 0) }
                    }
                    client.onGoAway = { $0.http.close() }
                }
            }
            #expect(play.client.closes == [.closed])
        }
    }

    @Test func `A server that is not there is the transport's failure`() async throws {
        let reason = try await onLoop(of: CloseReason.self) { loop, report in
            let port = try TestServer(on: loop, tls: nil).port
            let client = TestClient(to: port, tls: nil, on: loop)
            client.onClose = { report($0.record.closes[0]) }
            return client
        }
        #expect(reason == .transport(.connect(errno: 111)))
    }

    @Test(arguments: [false, true])
    func `A server that takes the connection and says nothing runs into the SETTINGS timeout`(
        hasTLS: Bool
    ) async throws {
        let reason = try await onLoop(of: CloseReason.self) { loop, report in
            let server = try TestServer(on: loop, tls: hasTLS ? TestTLS.server : nil)
            server.onOpen = { $0.isSilent = true }
            var settings = HTTP2Client.Settings()
            settings.settingsTimeout = .milliseconds(100)
            let tls = hasTLS ? try TestTLS.client : nil
            let client = TestClient(to: server.port, tls: tls, settings: settings, on: loop)
            client.onClose = { report($0.record.closes[0]) }
            return (client, server)
        }
        #expect(reason == .settingsTimeout)
    }
}

import HTTP2
import Loop
import Push
import TestLoop
import Testing
import Wire

/// The client against our own server over TLS: requests, answers and the client's own end.
@Suite struct HTTP2ClientTests {
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
        let play = try await Play.run(requests: 3) { client, server in
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
            client.closeWhenDone(3)
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

    // MARK: Answers we do not take

    @Test func `Answers that are too large fail their requests as malformed and nothing else`() async throws {
        let play = try await Play.run(requests: 4) { client, server in
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
            client.closeWhenDone(4)
        }
        let malformed = Outcome.failed(.unknown(.malformed))
        #expect(play.client.each == [malformed, malformed, malformed, .echoed(3)])
        #expect(play.client.closes == [.closed])
    }

    @Test func `An answer that never ends is no answer`() async throws {
        var settings = HTTP2Client.Settings()
        settings.requestTimeout = .milliseconds(100)
        let play = try await Play.run(requests: 2, client: settings) { client, server in
            let headers = HeaderBlock()
            server.onRequest = { server, connection, stream, _ in
                let body = server.seen.count == 1 ? Body.none : Body(Array("{\"reas".utf8))
                connection.respond(stream: stream, status: 200, headers: headers, body: body, endsStream: false)
            }
            client.closeWhenDone(2)
        }
        #expect(play.client.each == Array(repeating: .failed(.unknown(.timeout)), count: 2))
    }

    // MARK: Ending on our side

    @Test func `A cancelled request fails at once and only once, and its stream is given back`() async throws {
        let play = try await Play.run(requests: 2) { client, server in
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
                // One that is written cannot be taken back; what the server makes of it nobody knows.
                client.backlog = 1
                client.submit()
                client.http.cancel(5)
                #expect(client.record.outcomes[2] == [.failed(.unknown(.cancelled))])
                client.http.drain()
            }
        }
        #expect(play.client.each.prefix(1) == [.echoed(0)])
        #expect(play.client.closes == [.drained])
    }

    @Test func `A request that is cancelled while the transport is full leaves no trace`() async throws {
        var settings = HTTP2Server.Settings()
        settings.connectionWindow = 1 << 30
        let play = try await Play.run(requests: 1, server: settings) { client, server in
            client.body = [UInt8](repeating: 0, count: 60_000)
            client.onOutcome = { client, context, _ in
                if client.record.outcomeCount == 900 { client.http.close() }
                guard context == 0 else { return }
                client.backlog = 899
                client.fill()
                client.http.cancel(1799)
                #expect(client.record.outcomes[899] == [.failed(.notProcessed(.neverSent))])
            }
            server.onRequest = { server, connection, stream, request in
                server.echo(connection, stream, id: TestServer.text(request.header("apns-id")))
            }
        }
        #expect(play.seen.count == 899)
        #expect(play.client.each.prefix(899).allSatisfy { $0.isAnswer })
    }

    @Test func `Draining lets open requests finish and takes no new ones`() async throws {
        let play = try await Play.run(requests: 100) { client, server in
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
            let play = try await Play.run(requests: 30) { client, server in
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

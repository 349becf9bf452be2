import HTTP2
import Loop
import TestLoop
import Testing
import Wire

/// GOAWAYs that come early, late or twice.
@Suite struct RefusalTests {
    /// Talks raw bytes to a client with `requests` requests: `greeting` at once, `answer` when its requests are there.
    private static func play(
        requests: Int,
        greeting: [UInt8],
        chunk: Int = .max,
        tls: Bool = true,
        settings: HTTP2Client.Settings = .init(),
        answer: @escaping @Sendable (RawConnection) -> Void = { _ in }
    ) async throws -> ClientRecord {
        try await onLoop(of: ClientRecord.self) { loop, report in
            let server = try RawServer(on: loop, tls: tls ? TestTLS.server : nil) { connection in
                connection.onOpen = { connection in
                    var rest = greeting[...]
                    func go() {
                        connection.transport!.write(Array(rest.prefix(chunk)))
                        rest = rest.dropFirst(chunk)
                        if !rest.isEmpty { loop.after(.milliseconds(1), go) }
                    }
                    go()
                }
                var isAnswered = false
                connection.onReceive = { connection, _ in
                    guard !isAnswered, connection.receivedCount > 200 + 280 * (requests - 1) else { return }
                    isAnswered = true
                    answer(connection)
                }
            }
            let tls = tls ? try TestTLS.client : nil
            let client = TestClient(to: server.port, tls: tls, settings: settings, on: loop)
            client.backlog = requests
            client.onClose = { client in loop.after(.zero) { report(client.record) } }
            return (server, client)
        }
    }

    @Test(arguments: [Int.max, 1])
    func `A GOAWAY in place of SETTINGS is delivered with its reason, then the connection is over`(
        chunk: Int
    ) async throws {
        let reason = Array("{\"reason\":\"BadCertificateEnvironment\"}".utf8)
        let goAway = frame(7, [0, 0, 0, 0, 0, 0, 0, 0] + reason)
        let record = try await Self.play(requests: 1, greeting: goAway, chunk: chunk)
        #expect(record.goAways == [GoAway(lastStreamID: 0, errorCode: 0, debugData: reason)])
        #expect(record.closes == [.refused(0)])
        #expect(record.ready == 0)
        #expect(record.limits.isEmpty)
        #expect(record.streams.isEmpty)
        #expect(record.late == 0)
        #expect(record.closes.first?.description == "refused with GOAWAY, NO_ERROR")
    }

    @Test func `A GOAWAY that names a higher last stream takes nothing back`() async throws {
        let record = try await Self.play(requests: 4, greeting: frame(4)) { connection in
            connection.transport!.write(
                frame(7, [0, 0, 0, 4, 0, 0, 0, 0]) + frame(7, [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 11, 65])
                    + frame(1, flags: 5, stream: 3, [0x88]) + frame(1, flags: 5, stream: 1, [0x88])
            )
        }
        let answered = Outcome.answered(status: 200, kept: [nil, nil], body: "")
        let refused = Outcome.failed(.notProcessed(.goAway))
        #expect(record.each == [answered, answered, refused, refused])
        #expect(
            record.goAways == [
                GoAway(lastStreamID: 3, errorCode: 0, debugData: []),
                GoAway(lastStreamID: 3, errorCode: HTTP2ErrorCode.enhanceYourCalm, debugData: [65]),
            ]
        )
        #expect(record.closes == [.drained])
    }

    @Test(
        arguments: [[0x89], [0x8b]] as [[UInt8]],
        [0, 1] as [UInt8]
    )
    func `A body where none may be fails at once, also when the connection is going away`(
        status: [UInt8],
        end: UInt8
    ) async throws {
        for isGoingAway in [false, true] {
            for drains in [false, true] {
                let answer =
                    frame(1, flags: 4, stream: 1, status) + frame(0, flags: end, stream: 1, [65, 66])
                let goAway = isGoingAway ? frame(7, [0, 0, 0, 1, 0, 0, 0, 0]) : []
                let record = try await onLoop(of: ClientRecord.self) { loop, report in
                    let server = try RawServer(on: loop, tls: nil) { connection in
                        connection.onOpen = { $0.transport!.write(frame(4)) }
                        var isAnswered = false
                        connection.onReceive = { connection, _ in
                            guard !isAnswered, connection.receivedCount > 200 else { return }
                            isAnswered = true
                            connection.transport!.write(goAway)
                            loop.after(.milliseconds(2)) { connection.transport!.write(answer) }
                        }
                    }
                    var settings = HTTP2Client.Settings()
                    settings.requestTimeout = .seconds(500)
                    settings.drainTimeout = .seconds(500)
                    let client = TestClient(to: server.port, tls: nil, settings: settings, on: loop)
                    client.backlog = 1
                    client.onReady = { client in loop.after(.milliseconds(1)) { if drains { client.http.drain() } } }
                    client.onOutcome = { client, _, _ in loop.after(.zero) { client.http.drain() } }
                    client.onClose = { report($0.record) }
                    return (server, client)
                }
                #expect(record.each == [.failed(.unknown(.malformed))])
                #expect(record.closes == [.drained])
            }
        }
    }
}

import HTTP2
import Loop
import TestLoop
import Testing
import Wire

/// Answers that are odd, but allowed or at fault alone: the connection goes on.
@Suite struct OddAnswerTests {
    struct Oddity: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: [UInt8]
        var outcome: Outcome

        var testDescription: String { self.name }
    }

    private static let ok: [UInt8] = [0x88]
    private static let answered = Outcome.answered(status: 200, kept: [nil, nil], body: "")
    private static let malformed = Outcome.failed(.unknown(.malformed))

    static let oddities: [Oddity] = [
        Oddity(name: "nothing odd", answer: frame(1, flags: 5, stream: 1, ok), outcome: answered),
        Oddity(
            name: "informational answers first",
            answer: many(frame(1, flags: 4, stream: 1, [0x48, 3, 49, 48, 48]), 3) + frame(1, flags: 5, stream: 1, ok),
            outcome: answered
        ),
        Oddity(
            name: "kept headers in an informational answer and in trailers",
            answer: frame(1, flags: 4, stream: 1, [0x48, 3, 49, 48, 51] + field("x-late", "early"))
                + frame(1, flags: 4, stream: 1, ok + field("apns-id", "id"))
                + frame(0, stream: 1, Array("body".utf8))
                + frame(1, flags: 5, stream: 1, field("x-late", "trailer")),
            outcome: .answered(status: 200, kept: ["id", nil], body: "body")
        ),
        Oddity(
            name: "padding, PRIORITY, unknown frames and empty DATA in between",
            answer: frame(2, stream: 1, [0, 0, 0, 3, 7]) + frame(1, flags: 4 | 8, stream: 1, [2] + ok + [0, 0])
                + frame(77, stream: 1, [1]) + frame(0, stream: 1) + frame(0, flags: 8, stream: 1, [1, 65, 0])
                + frame(0, flags: 1, stream: 1),
            outcome: .answered(status: 200, kept: [nil, nil], body: "A")
        ),
        Oddity(
            name: "an answer, then resets of its stream",
            answer: frame(1, flags: 5, stream: 1, ok) + many(frame(3, stream: 1, [0, 0, 0, 5]), 2),
            outcome: answered
        ),
        Oddity(
            name: "a refused stream that is reset again, with an answer on its way",
            answer: frame(3, stream: 1, [0, 0, 0, 7]) + frame(3, stream: 1, [0, 0, 0, 5])
                + frame(1, flags: 4, stream: 1, ok) + frame(0, flags: 1, stream: 1, [1]),
            outcome: .failed(.notProcessed(.refused))
        ),
        Oddity(
            name: "a header name in upper case",
            answer: frame(1, flags: 5, stream: 1, ok + field("X-Late", "a")),
            outcome: malformed
        ),
        Oddity(
            name: "a connection header of HTTP/1.1",
            answer: frame(1, flags: 5, stream: 1, ok + field("connection", "close")),
            outcome: malformed
        ),
        Oddity(
            name: "a header value that is no UTF-8",
            answer: frame(1, flags: 5, stream: 1, ok + [0, 6] + Array("x-late".utf8) + [2, 0xc3, 0x28]),
            outcome: .answered(status: 200, kept: [nil, "\u{fffd}("], body: "")
        ),
        Oddity(
            name: "a header value with a line break",
            answer: frame(1, flags: 5, stream: 1, ok + field("x-late", "a\r\nb: c")),
            outcome: malformed
        ),
        Oddity(
            name: "a body that is no UTF-8",
            answer: frame(1, flags: 4, stream: 1, ok) + frame(0, flags: 1, stream: 1, [0xff, 0xfe, 65]),
            outcome: .answered(status: 200, kept: [nil, nil], body: "\u{fffd}\u{fffd}A")
        ),
        Oddity(
            name: "a body longer than announced",
            answer: frame(1, flags: 4, stream: 1, ok + field("content-length", "1"))
                + frame(0, flags: 1, stream: 1, [65, 66]),
            outcome: malformed
        ),
        Oddity(
            name: "204 with a body",
            answer: frame(1, flags: 4, stream: 1, [0x89]) + frame(0, flags: 1, stream: 1, [65]),
            outcome: malformed
        ),
        Oddity(
            name: "304 with a body that does not end",
            answer: frame(1, flags: 4, stream: 1, [0x8b]) + frame(0, stream: 1, [65]),
            outcome: malformed
        ),
        Oddity(
            name: "unknown settings and frames on stream 0",
            answer: frame(4, [0xab, 0xcd, 1, 2, 3, 4]) + frame(200, flags: 255, [1]) + frame(10, [0, 0])
                + frame(1, flags: 5, stream: 1, ok),
            outcome: answered
        ),
        Oddity(name: "no status", answer: frame(1, flags: 5, stream: 1, field("a", "b")), outcome: malformed),
        Oddity(name: "two statuses", answer: frame(1, flags: 5, stream: 1, ok + ok), outcome: malformed),
        Oddity(
            name: "a status that is no number",
            answer: frame(1, flags: 5, stream: 1, [0x48, 3, 50, 48, 65]),
            outcome: malformed
        ),
        Oddity(
            name: "only an informational answer",
            answer: frame(1, flags: 5, stream: 1, [0x48, 3, 49, 48, 48]),
            outcome: malformed
        ),
        Oddity(
            name: "a body that is not as long as announced",
            answer: frame(1, flags: 4, stream: 1, ok + field("content-length", "5"))
                + frame(0, flags: 1, stream: 1, [65]),
            outcome: malformed
        ),
    ]

    @Test(arguments: Self.oddities)
    func `Odd answers are understood or fail alone`(oddity: Oddity) async throws {
        let record = try await onLoop(of: ClientRecord.self) { loop, report in
            let server = try RawServer(on: loop, tls: nil) { connection in
                connection.onOpen = { $0.transport!.write(frame(4)) }
                var isAnswered = false
                connection.onReceive = { connection, _ in
                    guard !isAnswered, connection.receivedCount > 400 else { return }
                    isAnswered = true
                    connection.transport!.write(oddity.answer)
                    // The connection must still work: the next request is answered plainly.
                    connection.transport!.write(frame(1, flags: 5, stream: 3, Self.ok))
                }
            }
            let client = TestClient(to: server.port, tls: nil, on: loop)
            client.backlog = 2
            client.onOutcome = { client, _, _ in
                if client.record.outcomeCount == 2 { client.http.drain() }
            }
            client.onClose = { report($0.record) }
            return (server, client)
        }
        #expect(record.each == [oddity.outcome, Self.answered])
        #expect(record.closes == [.drained])
    }

    @Test func `An answer before the body was sent counts, and the rest of the body is called off`() async throws {
        let record = try await onLoop(of: ClientRecord.self) { loop, report in
            let server = try RawServer(on: loop, tls: nil) { connection in
                // No window for bodies.
                connection.onOpen = { $0.transport!.write(frame(4, [0, 4, 0, 0, 0, 0])) }
                var isAnswered = false
                connection.onReceive = { connection, _ in
                    guard !isAnswered, connection.receivedCount > 120 else { return }
                    isAnswered = true
                    connection.transport!.write(frame(1, flags: 5, stream: 1, Self.ok))
                }
            }
            let client = TestClient(to: server.port, tls: nil, on: loop)
            client.backlog = 1
            client.onOutcome = { client, _, _ in
                client.loop.after(.zero) { client.loop.after(.zero) { client.http.drain() } }
            }
            client.onClose = { client in
                #expect(client.http.openStreams == 0)
                report(client.record)
            }
            return (server, client)
        }
        #expect(record.each == [Self.answered])
    }
}

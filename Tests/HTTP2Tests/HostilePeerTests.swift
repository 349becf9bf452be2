import HTTP2
import Loop
import TestLoop
import Testing
import Wire

/// Peers that break the rules on purpose; whatever they do, the connection ends with a reason.
@Suite struct HostilePeerTests {
    struct Attack: Sendable, CustomTestStringConvertible {
        var name: String
        /// Sent once, behind an empty SETTINGS.
        var opening: [UInt8] = []
        /// Sent again and again until the connection is over.
        var flood: [UInt8] = []
        var settingsFirst = true

        var testDescription: String { self.name }
    }

    /// A literal header field without indexing, with a large value.
    private static let largeField: [UInt8] =
        [0, 1, UInt8(ascii: "a"), 0x7f, 0x81, 0x7c] + [UInt8](repeating: 97, count: 16_000)
    /// Puts a field of 4000 bytes into the table, then names it again and again, a byte each.
    private static let bomb: [UInt8] =
        [0x88, 0x40, 1, UInt8(ascii: "a"), 0x7f, 0xa1, 0x1e] + [UInt8](repeating: 97, count: 4000)
        + [UInt8](repeating: 0xbe, count: 12_000)
    private static let ok: [UInt8] = [0x88]
    /// Puts three fields of 1300 bytes into the table.
    private static let tableFiller: [UInt8] = Array(
        repeating: [0x40, 1, UInt8(ascii: "a"), 0x7f, 0x95, 0x09] + [UInt8](repeating: 97, count: 1300),
        count: 3
    ).flatMap(\.self)

    /// Against a client that has one request open, on stream 1.
    static let againstClients: [Attack] = [
        Attack(name: "noise", opening: (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }),
        Attack(name: "HTTP/1.1", opening: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), settingsFirst: false),
        Attack(name: "a frame that is too large", opening: frame(0, stream: 1, [UInt8](repeating: 0, count: 20_000))),
        Attack(name: "HEADERS on stream 0", opening: frame(1, flags: 4, ok)),
        Attack(name: "HEADERS on a stream we never opened", opening: frame(1, flags: 4, stream: 99, ok)),
        Attack(name: "HEADERS on an even stream", opening: frame(1, flags: 4, stream: 2, ok)),
        Attack(name: "DATA on a stream we never opened", opening: frame(0, stream: 99, [1])),
        Attack(name: "DATA before HEADERS", opening: frame(0, flags: 1, stream: 1, [65])),
        Attack(name: "broken HPACK", opening: frame(1, flags: 4, stream: 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
        Attack(
            name: "a frame between HEADERS and CONTINUATION",
            opening: frame(1, stream: 1, ok) + frame(6, [1, 2, 3, 4, 5, 6, 7, 8])
        ),
        Attack(name: "CONTINUATION alone", opening: frame(9, flags: 4, stream: 1, ok)),
        Attack(name: "PUSH_PROMISE", opening: frame(5, flags: 4, stream: 1, [0, 0, 0, 2] + ok)),
        Attack(name: "a window that overflows", opening: many(frame(8, [0x7f, 0xff, 0xff, 0xff]), 3)),
        Attack(name: "WINDOW_UPDATE of nothing", opening: frame(8, [0, 0, 0, 0])),
        Attack(name: "SETTINGS of a wrong size", opening: frame(4, [1, 2, 3])),
        Attack(name: "SETTINGS with a value out of range", opening: frame(4, [0, 4, 0xff, 0xff, 0xff, 0xff])),
        Attack(name: "an ACK nobody asked for", opening: many(frame(4, flags: 1), 3)),
        Attack(
            name: "too many settings in one frame",
            opening: frame(4, Array((0..<100).map { _ in [0, 99, 0, 0, 0, 1] as [UInt8] }.joined()))
        ),
        Attack(name: "PING of a wrong size", opening: frame(6, [1])),
        Attack(
            name: "DATA after the end of its stream",
            opening: frame(1, flags: 5, stream: 1, ok) + frame(0, stream: 1, [1])
        ),
        Attack(
            name: "HEADERS after the end of their stream",
            opening: frame(1, flags: 5, stream: 1, ok) + frame(1, flags: 5, stream: 1, ok)
        ),
        Attack(name: "SETTINGS that turn push on", opening: frame(4, [0, 2, 0, 0, 0, 1])),
        Attack(
            name: "an initial window that overflows",
            opening: frame(4, [0, 4, 0x80, 0, 0, 0])
        ),
        Attack(name: "RST_STREAM on stream 0", opening: frame(3, [0, 0, 0, 8])),
        Attack(name: "RST_STREAM on a stream we never opened", opening: frame(3, stream: 99, [0, 0, 0, 8])),
        Attack(name: "DATA on stream 0", opening: frame(0, [1])),
        Attack(name: "SETTINGS on a stream", opening: frame(4, stream: 1)),
        Attack(name: "PING on a stream", opening: frame(6, stream: 1, [1, 2, 3, 4, 5, 6, 7, 8])),
        Attack(name: "GOAWAY on a stream", opening: frame(7, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0])),
        Attack(name: "a GOAWAY that is too short", opening: frame(7, [0, 0, 0, 0])),
        Attack(name: "a table size that we do not allow", opening: frame(1, flags: 4, stream: 1, [0x3f, 0xe1, 0x7f])),
        Attack(
            name: "DATA with more padding than there is",
            opening: frame(1, flags: 4, stream: 1, ok) + frame(0, flags: 8, stream: 1, [9, 0])
        ),
        Attack(name: "a flood of SETTINGS", flood: many(frame(4))),
        Attack(name: "a flood of PING", flood: many(frame(6, [1, 2, 3, 4, 5, 6, 7, 8]))),
        Attack(name: "a flood of PING acknowledgements", flood: many(frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8]))),
        Attack(
            name: "a flood of empty DATA",
            opening: frame(1, flags: 4, stream: 1, ok),
            flood: many(frame(0, stream: 1))
        ),
        Attack(
            name: "a flood of DATA that is all padding",
            opening: frame(1, flags: 4, stream: 1, ok),
            flood: many(frame(0, flags: 8, stream: 1, [3, 0, 0, 0]))
        ),
        Attack(
            name: "a flood of DATA after the end",
            opening: frame(1, flags: 5, stream: 1, ok),
            flood: many(frame(0, stream: 1, [1, 2]))
        ),
        Attack(
            name: "a flood of CONTINUATION",
            opening: frame(1, stream: 1, ok),
            flood: many(frame(9, stream: 1, [0, 1, 97, 1, 98]))
        ),
        Attack(
            name: "a flood of empty CONTINUATION",
            opening: frame(1, stream: 1, ok),
            flood: many(frame(9, stream: 1))
        ),
        Attack(
            name: "a flood of informational answers",
            flood: many(frame(1, flags: 4, stream: 1, [0x48, 3, 49, 48, 48]))
        ),
        Attack(
            name: "a header list of a megabyte in one block",
            opening: frame(1, stream: 1, ok) + many(frame(9, stream: 1, largeField), 64)
                + frame(9, flags: 4, stream: 1)
        ),
        Attack(
            name: "a flood of table sizes",
            flood: many(
                frame(1, flags: 4, stream: 1, Array(repeating: [0x20, 0x3f, 0xe1, 0x1f], count: 500).flatMap(\.self))
            )
        ),
        Attack(
            name: "a table that is filled again and again",
            flood: many(frame(1, flags: 4, stream: 1, [0x48, 3, 49, 48, 48] + tableFiller), 20)
        ),
        Attack(
            name: "a flood of SETTINGS that change the table",
            flood: many(frame(4, [0, 1, 0, 0, 0, 0]) + frame(4, [0, 1, 0xff, 0xff, 0xff, 0xff]))
        ),
        Attack(
            name: "a flood of SETTINGS that change the window",
            flood: many(frame(4, [0, 4, 0, 0, 0, 0]) + frame(4, [0, 4, 0x7f, 0xff, 0xff, 0xff]))
        ),
        Attack(name: "a flood of GOAWAY", flood: many(frame(7, [0, 0, 0, 1, 0, 0, 0, 0] + Array("why".utf8)))),
        Attack(name: "a flood of large header fields", flood: many(frame(1, flags: 4, stream: 1, largeField), 4)),
        Attack(name: "a header bomb", flood: many(frame(1, flags: 4, stream: 1, bomb), 4)),
        Attack(name: "a flood of WINDOW_UPDATE", flood: many(frame(8, stream: 1, [0, 0, 0, 1]))),
        Attack(name: "a flood of PRIORITY", flood: many(frame(2, stream: 1, [0, 0, 0, 3, 7]))),
        Attack(name: "a flood of RST_STREAM", flood: many(frame(3, stream: 1, [0, 0, 0, 8]))),
        Attack(name: "a flood of unknown frames", flood: many(frame(77, [1, 2, 3]))),
    ]

    @Test(arguments: Self.againstClients)
    func `A client ends the connection with a reason, and each request once`(attack: Attack) async throws {
        struct End: Sendable {
            var record: ClientRecord
            var written: Int
            var sessionMemory: Int
            var unsent: Int
        }
        let end = try await onLoop(of: End.self) { loop, report in
            let server = try RawServer(on: loop, tls: TestTLS.server) { connection in
                connection.onOpen = { connection in
                    if attack.settingsFirst { connection.transport!.write(frame(4)) }
                    if !attack.settingsFirst { connection.transport!.write(attack.opening) }
                }
                var isUnderAttack = false
                connection.onReceive = { connection, bytes in
                    // The client's request is there when it has sent its HEADERS.
                    guard !isUnderAttack, connection.receivedCount > 250 else { return }
                    isUnderAttack = true
                    connection.transport!.write(attack.opening)
                    connection.transport!.setNeedsFlush()
                }
                connection.onFlush = { connection in
                    guard isUnderAttack, connection.transport!.unsentBytes < 256 * 1024 else { return }
                    connection.transport!.write(attack.flood)
                }
            }
            var settings = HTTP2Client.Settings()
            settings.measuresMemory = true
            let client = TestClient(to: server.port, tls: try TestTLS.client, settings: settings, on: loop)
            client.backlog = 1
            client.onClose = { client in
                let end = End(
                    record: client.record,
                    written: server.connections[0].transport!.bytesWritten,
                    sessionMemory: client.http.sessionMemory,
                    unsent: client.http.unsentBytes
                )
                loop.after(.zero) { report(end) }
            }
            return (server, client)
        }
        #expect(end.record.closes.count == 1)
        guard case .protocolError(let text)? = end.record.closes.first else {
            Issue.record("\(end.record.closes)")
            return
        }
        #expect(!text.isEmpty)
        #expect(end.record.outcomes.values.allSatisfy { $0.count == 1 })
        #expect(end.record.outcomes.count == end.record.streams.count)
        #expect(end.record.late == 0)
        // What it took to see through it.
        #expect(end.written < 64 << 20)
        // What was held at most, header table and part of a frame, and what waited for the kernel.
        #expect(end.sessionMemory > 0 && end.sessionMemory < 512 << 10, "\(end.sessionMemory) bytes")
        #expect(end.unsent < 512 << 10)
    }

    /// Against a server; sent behind the client's preface and an empty SETTINGS.
    static let againstServers: [Attack] = [
        Attack(name: "noise", opening: (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }),
        Attack(name: "HTTP/1.1", opening: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), settingsFirst: false),
        Attack(name: "HEADERS on an even stream", opening: frame(1, flags: 5, stream: 2, [0x82])),
        Attack(name: "PUSH_PROMISE", opening: frame(5, flags: 4, stream: 1, [0, 0, 0, 2] + ok)),
        Attack(name: "broken HPACK", opening: frame(1, flags: 4, stream: 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
        Attack(name: "a flood of SETTINGS", flood: many(frame(4))),
        Attack(name: "a flood of PING", flood: many(frame(6, [1, 2, 3, 4, 5, 6, 7, 8]))),
        Attack(
            name: "a flood of empty CONTINUATION",
            opening: frame(1, stream: 1, [0x82]),
            flood: many(frame(9, stream: 1))
        ),
        Attack(name: "a flood of WINDOW_UPDATE", flood: many(frame(8, [0, 0, 0, 0]))),
        Attack(name: "a flood of unknown frames", flood: many(frame(77, [1, 2, 3]))),
    ]

    @Test(arguments: Self.againstServers)
    func `A server ends the connection with a reason`(attack: Attack) async throws {
        let reason = try await onLoop(of: CloseReason.self) { loop, report in
            let server = try TestServer(on: loop, tls: nil)
            server.onClose = { report($0.closes[0]) }
            let client = RawConnection()
            client.onOpen = { client in
                if attack.settingsFirst {
                    client.transport!.write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4))
                }
                client.transport!.write(attack.opening)
            }
            client.onFlush = { client in
                if client.transport!.unsentBytes < 256 * 1024 { client.transport!.write(attack.flood) }
            }
            client.connect(to: server.port, on: loop)
            return (server, client)
        }
        guard case .protocolError(let text) = reason else {
            Issue.record("\(reason)")
            return
        }
        #expect(!text.isEmpty)
    }
}

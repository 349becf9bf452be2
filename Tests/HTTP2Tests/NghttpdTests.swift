import HTTP2
import Loop
import Push
import TestLoop
import TestServers
import Testing
import Wire

/// A server that is not ours: nghttpd of Debian's nghttp2-server.
@Suite struct NghttpdTests {
    private static func play(
        _ server: Nghttpd,
        settings: HTTP2Client.Settings = .init(),
        _ prepare: @escaping @Sendable (TestClient) -> Void
    ) async throws -> ClientRecord {
        try await onLoop(of: ClientRecord.self) { loop, report in
            let client = TestClient(to: server.port, tls: try TestTLS.client, settings: settings, on: loop)
            prepare(client)
            client.onClose = { client in loop.after(.zero) { report(client.record) } }
            return client
        }
    }

    @Test func `A foreign server echoes ten thousand bodies`() async throws {
        let server = try Nghttpd(["--echo-upload", "--max-concurrent-streams=250"])
        defer { server.stop() }
        let total = 10_000
        let body = [UInt8]((0..<3000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let record = try await Self.play(server) { client in
            client.backlog = total
            client.body = body
            client.onOutcome = { client, _, _ in
                if client.record.outcomeCount == total { client.http.drain() }
            }
        }
        #expect(record.closes == [.drained])
        #expect(record.limits == [250])
        #expect(record.peakStreams == 250)
        #expect(record.outcomes.count == total)
        let expected = Outcome.answered(status: 200, kept: [nil, nil], body: String(decoding: body, as: UTF8.self))
        #expect(record.outcomes.values.allSatisfy { $0 == [expected] })
    }

    @Test func `A foreign server that pads, adds trailers and keeps windows small is understood`() async throws {
        let files = Dictionary(uniqueKeysWithValues: (0..<500).map { ("/3/device/\($0)", "file \($0)") })
        let server = try Nghttpd(
            [
                "--padding=200", "--trailer=foo: bar", "--window-bits=9", "--connection-window-bits=16",
                "--header-table-size=0",
            ],
            files: files
        )
        defer { server.stop() }
        let record = try await Self.play(server) { client in
            client.backlog = 1000
            client.onOutcome = { client, _, _ in
                if client.record.outcomeCount == 1000 { client.http.drain() }
            }
        }
        #expect(record.closes == [.drained])
        #expect(record.outcomes.count == 1000)
        for (context, outcomes) in record.outcomes {
            guard case .answered(let status, _, let body)? = outcomes.first, outcomes.count == 1 else {
                Issue.record("\(context): \(outcomes)")
                continue
            }
            #expect(status == (context < 500 ? 200 : 404))
            if context < 500 { #expect(body == "file \(context)") }
        }
    }

    @Test func `A foreign server that stops in its tracks is found out by PING`() async throws {
        let server = try Nghttpd(["--echo-upload"])
        defer { server.stop() }
        var settings = HTTP2Client.Settings()
        settings.pingInterval = .milliseconds(300)
        settings.pingTimeout = .milliseconds(300)
        let record = try await Self.play(server, settings: settings) { client in
            client.backlog = 1000
            client.onOutcome = { client, _, outcome in
                if client.record.outcomeCount == 100 { server.freeze() }
            }
        }
        #expect(record.closes == [.pingTimeout])
        #expect(record.outcomes.count == record.streams.count)
        #expect(record.outcomes.values.allSatisfy { $0.count == 1 })
        #expect(record.each.contains(.failed(.unknown(.connectionLost))))
    }

    @Test func `A foreign server that dies with streams open loses only those`() async throws {
        let server = try Nghttpd(["--echo-upload"])
        defer { server.stop() }
        let record = try await Self.play(server) { client in
            client.backlog = 1000
            client.onOutcome = { client, _, outcome in
                guard client.record.outcomeCount == 100 else { return }
                // Frozen first, so that what is sent now surely has no answer.
                server.freeze()
                client.loop.after(.milliseconds(20)) {
                    client.fill()
                    client.loop.after(.milliseconds(20)) { server.crash() }
                }
            }
        }
        #expect(record.outcomes.count == record.streams.count)
        #expect(record.outcomes.values.allSatisfy { $0.count == 1 })
        #expect(record.each.filter { $0.isAnswer }.count >= 100)
        #expect(record.each.contains(.failed(.unknown(.connectionLost))))
        guard case .transport(let error)? = record.closes.first else {
            Issue.record("\(record.closes)")
            return
        }
        #expect(!error.description.isEmpty)
    }
}

import HTTP2
import Loop
import Push
import TestLoop
import TestRandom
import TestServers
import Testing
import Wire

/// A server that does anything at any time; the client must still give every request exactly one outcome, and none
/// that the server's own ledger contradicts.
@Suite struct MisbehavingServerWalkTests {
    struct Walk: Sendable {
        var client = ClientRecord()
        /// The server handed the request to its owner.
        var seen: Set<String> = []
        /// The server's owner answered it.
        var answered: Set<String> = []
        /// Refused with REFUSED_STREAM before it was looked at.
        var steps: [String] = []
    }

    private static func walk(seed: UInt64) async throws -> Walk {
        try await onLoop(of: Walk.self) { loop, report in
            var random = SeededRandom(seed: seed)
            var walk = Walk()
            var serverSettings = HTTP2Server.Settings()
            serverSettings.maxConcurrentStreams = [1, 5, 50, 1000].randomElement(using: &random)!
            serverSettings.overflow = [.refuse, .accept, .goAway].randomElement(using: &random)!
            serverSettings.initialWindow = [50, 1000, 65_535].randomElement(using: &random)!
            var settings = HTTP2Client.Settings()
            settings.requestTimeout = .milliseconds(150)
            settings.pingInterval = .milliseconds(100)
            settings.pingTimeout = .milliseconds(100)
            settings.drainTimeout = .milliseconds(200)
            settings.settingsTimeout = .milliseconds(300)
            let hasTLS = Bool.random(using: &random)
            let server = try TestServer(on: loop, tls: hasTLS ? TestTLS.server : nil, settings: serverSettings)
            let tls = hasTLS ? try TestTLS.client : nil
            let client = TestClient(to: server.port, tls: tls, settings: settings, on: loop)
            client.backlog = 2000
            var waiting: [(stream: Int32, id: String)] = []
            server.onRequest = { server, connection, stream, request in
                let id = TestServer.text(request.header("apns-id")) ?? ""
                walk.seen.insert(id)
                waiting.append((stream, id))
                // Half are answered at once, the others when a step says so.
                if Bool.random(using: &random) { answer(connection) }
                if Int.random(in: 0..<60, using: &random) == 0 { step(connection) }
            }
            func answer(_ connection: HTTP2Server) {
                guard let index = waiting.indices.randomElement(using: &random) else { return }
                let (stream, id) = waiting.remove(at: index)
                walk.answered.insert(id)
                let body = Bool.random(using: &random) ? "" : "{\"reason\":\"Some\"}"
                server.echo(connection, stream, id: id, body: body, status: body.isEmpty ? 200 : 400)
            }
            func step(_ connection: HTTP2Server) {
                let number = Int.random(in: 0..<44, using: &random)
                walk.steps.append("\(number)")
                switch number {
                case 0: connection.abort()
                case 1: connection.close()
                case 2: connection.goAway(lastStreamID: connection.highestStreamID, code: 0)
                case 3: connection.goAway(lastStreamID: max(1, connection.highestStreamID - 20), code: 0)
                case 4:
                    connection.goAway(lastStreamID: .max, code: 0)
                    connection.goAway(lastStreamID: 1, code: 2, debugData: [1, 2, 3])
                case 5: connection.isSilent = true
                case 6: connection.inject(Array("what is this".utf8))
                case 7: connection.pauseReading()
                case 8: connection.resumeReading()
                case 9..<18:
                    guard let last = waiting.popLast() else { break }
                    connection.reset(stream: last.stream, code: UInt32.random(in: 0..<14, using: &random))
                case 18..<30: connection.setMaxConcurrentStreams([0, 1, 10, 1000].randomElement(using: &random)!)
                case 30: client.http.drain()
                case 31: client.http.close()
                case 32..<36: client.http.cancel(Int32.random(in: 0...connection.highestStreamID, using: &random))
                case 36:
                    connection.goAway(lastStreamID: connection.highestStreamID, code: 0)
                    connection.goAway(lastStreamID: .max, code: 0)
                case 37:
                    // A frame for a stream that may be open, over, cut or yet to come.
                    let stream = UInt32(Int32.random(in: 0...connection.highestStreamID + 2, using: &random))
                    let type = [0, 1, 3, 8].randomElement(using: &random)! as UInt8
                    connection.inject(frame(type, flags: 5, stream: stream, [0, 0, 0, 8]))
                default: for _ in 0..<20 { answer(connection) }
                }
            }
            func later() {
                guard client.record.closes.isEmpty else { return }
                if let connection = server.connections.first {
                    for _ in 0..<5 { answer(connection) }
                    step(connection)
                    // In the end every walk ends.
                    if walk.steps.count > 400 { connection.abort() }
                }
                loop.after(.milliseconds(Int.random(in: 0..<5, using: &random)), later)
            }
            loop.after(.zero, later)
            client.onOutcome = { client, _, _ in
                if client.record.outcomeCount == 2000 { client.http.drain() }
            }
            client.onClose = { client in
                loop.after(.zero) {
                    loop.after(.zero) {
                        walk.client = client.record
                        report(walk)
                    }
                }
            }
            return (client, server)
        }
    }

    @Test(arguments: 0..<60)
    func `Every request has one outcome, and the server's ledger agrees`(round: Int) async throws {
        let seed = UInt64(round) &* 0x9e37_79b9_7f4a_7c15 &+ UInt64.random(in: 0..<1 << 32)
        let walk = try await Self.walk(seed: seed)
        let comment: Comment = "seed \(seed)"
        let record = walk.client
        #expect(record.outcomes.values.allSatisfy { $0.count == 1 }, comment)
        #expect(record.outcomes.count == record.streams.count, comment)
        #expect(record.closes.count == 1, comment)
        #expect(record.late == 0, comment)
        for (context, outcomes) in record.outcomes {
            let id = TestClient.name(context)
            switch outcomes[0] {
            case .answered(_, let kept, _):
                #expect(walk.answered.contains(id), comment)
                #expect(kept[0] == id, comment)
            case .failed(.notProcessed(.neverSent)):
                #expect(!walk.seen.contains(id), comment)
            case .failed: break
            }
        }
    }
}

import HTTP2
import Loop
import TestLoop
import Testing
import Wire

/// Servers whose windows let bodies in slowly, late or never.
@Suite struct FlowControlTests {
    private static func window(_ size: UInt32) -> [UInt8] {
        [UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
    }

    private static func initialWindow(_ size: UInt32) -> [UInt8] { frame(4, [0, 4] + self.window(size)) }

    struct Play: Sendable {
        var client = ClientRecord()
        /// Bytes of DATA when the server had waited for a while, and in the end.
        var stuckAt = 0
        var bodies = 0
        var ends = 0
    }

    /// Counts DATA in what the client sends.
    private final class Reader {
        var inbound: [UInt8] = []
        var bodies = 0
        var ended: [UInt32] = []
        /// Of each DATA frame.
        var onData: (UInt32, Int) -> Void = { _, _ in }

        func take(_ bytes: UnsafeRawBufferPointer) {
            self.inbound += Array(bytes)
            if self.inbound.starts(with: Array("PRI".utf8)) { self.inbound.removeFirst(min(24, self.inbound.count)) }
            while self.inbound.count >= 9 {
                let size = Int(self.inbound[0]) << 16 | Int(self.inbound[1]) << 8 | Int(self.inbound[2])
                guard self.inbound.count >= 9 + size else { return }
                let stream = self.inbound[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                if self.inbound[3] == 0 {
                    self.bodies += size
                    if self.inbound[4] & 1 == 1 { self.ended.append(stream) }
                    self.onData(stream, size)
                }
                self.inbound.removeFirst(9 + size)
            }
        }
    }

    /// Lets `count` requests come, waits, heals with `healing`, and answers each request whose body is complete.
    private static func play(
        count: Int,
        greeting: [UInt8],
        updates: @escaping @Sendable (UInt32, Int) -> [UInt8] = { _, _ in [] },
        healing: [UInt8],
        timeout: Duration = .seconds(50)
    ) async throws -> Play {
        try await onLoop(of: Play.self) { loop, report in
            var play = Play()
            let reader = Reader()
            let server = try RawServer(on: loop, tls: TestTLS.server) { connection in
                connection.onOpen = { connection in
                    connection.transport!.write(greeting)
                    loop.after(.milliseconds(100)) {
                        play.stuckAt = reader.bodies
                        connection.transport!.write(healing)
                    }
                }
                reader.onData = { [unowned connection] stream, size in
                    connection.transport!.write(updates(stream, size))
                    guard reader.ended.last == stream else { return }
                    connection.transport!.write(frame(1, flags: 5, stream: stream, [0x88]))
                }
                connection.onReceive = { _, bytes in reader.take(bytes) }
            }
            var settings = HTTP2Client.Settings()
            settings.requestTimeout = timeout
            let client = TestClient(to: server.port, tls: try TestTLS.client, settings: settings, on: loop)
            client.backlog = count
            client.onOutcome = { client, _, _ in
                if client.record.outcomeCount == count { loop.after(.zero) { client.http.close() } }
            }
            client.onClose = { client in
                play.client = client.record
                play.bodies = reader.bodies
                play.ends = reader.ended.count
                loop.after(.zero) { report(play) }
            }
            return (server, client)
        }
    }

    @Test func `Streams without a window go on when SETTINGS gives them one`() async throws {
        let play = try await Self.play(count: 20, greeting: Self.initialWindow(0), healing: Self.initialWindow(65_535))
        #expect(play.stuckAt == 0)
        #expect(play.bodies == 20 * 263 && play.ends == 20)
        #expect(play.client.each.allSatisfy { $0.isAnswer })
    }

    @Test func `A connection whose window is used up goes on when it is opened`() async throws {
        // 99 streams of 263 bytes fit; a limit of 1000 and 400 requests use up 65,535 bytes.
        let greeting = frame(4, [0, 3, 0, 0, 3, 232])
        let healing = frame(8, Self.window(1 << 20))
        let play = try await Self.play(count: 400, greeting: greeting, healing: healing)
        #expect(play.stuckAt == 65_535)
        #expect(play.bodies == 400 * 263)
        #expect(play.client.each.allSatisfy { $0.isAnswer })
    }

    @Test func `Windows of one byte let a body through byte by byte`() async throws {
        let play = try await Self.play(
            count: 3,
            greeting: Self.initialWindow(1),
            updates: { stream, size in frame(8, stream: stream, Self.window(UInt32(size))) },
            healing: []
        )
        #expect(play.bodies == 3 * 263 && play.ends == 3)
        #expect(play.client.each.allSatisfy { $0.isAnswer })
    }

    @Test func `A window that SETTINGS has made negative heals by WINDOW_UPDATE`() async throws {
        // 100 bytes leave; then the window is 0 - 100, and each stream gets 100 + 163 bytes more.
        let updates = (0..<5 as Range<UInt32>).flatMap { frame(8, stream: $0 * 2 + 1, Self.window(263)) }
        let play = try await Self.play(
            count: 5,
            greeting: Self.initialWindow(100),
            healing: Self.initialWindow(0) + updates
        )
        #expect(play.stuckAt == 500)
        #expect(play.bodies == 5 * 263)
        #expect(play.client.each.allSatisfy { $0.isAnswer })
    }

    @Test func `Windows that stay shut cost each request its time and nothing else`() async throws {
        let play = try await Self.play(
            count: 30,
            greeting: Self.initialWindow(0),
            healing: [],
            timeout: .milliseconds(300)
        )
        #expect(play.bodies == 0)
        #expect(play.client.each == Array(repeating: .failed(.unknown(.timeout)), count: 30))
        #expect(play.client.closes == [.closed])
    }
}

import Glibc
import Loop
import Push
import TestLoop
import TestServers
import Testing
import Wire

/// With and without TLS.
enum Security: CaseIterable, Sendable {
    case plain, tls

    var client: TLSContext? {
        get throws { self == .plain ? nil : try .client(trusting: TestCertificates.shared.authority) }
    }

    var server: TLSContext? {
        get throws {
            let certificates = TestCertificates.shared
            guard self == .tls else { return nil }
            return try .server(certificate: certificates.serverCertificate, key: certificates.serverKey)
        }
    }
}

@Suite struct TransportTests {
    struct Echo: Sendable {
        var mirrored: Bool
        var largestQueue: Int
        var opened: Int
    }

    @Test(arguments: Security.allCases)
    func `Many megabytes are echoed unchanged while neither side queues more than its high water`(
        security: Security
    ) async throws {
        let size = 6000 * Self.pattern.count
        let echo = try await onLoop(of: Echo.self) { loop, report in
            var largestQueue = 0
            // The echo stops reading while its answers do not leave: back-pressure through two sockets and back.
            let server = try RecordingServer(on: loop, tls: security.server) { connection in
                connection.keepsBytes = false
                connection.onReceive = { connection, bytes in
                    connection.transport!.write(bytes)
                    largestQueue = max(largestQueue, connection.transport!.unsentBytes)
                    if connection.transport!.unsentBytes > 256 * 1024 { connection.transport!.pauseReading() }
                }
                connection.onFlush = { $0.transport!.resumeReading() }
            }
            let client = Recorder(to: server.port, tls: try security.client, on: loop)
            client.keepsBytes = false
            var sent = 0
            var isMirrored = true
            client.onFlush = { client in
                while sent < size, client.transport!.unsentBytes < 256 * 1024 {
                    client.transport!.write(Self.pattern)
                    sent += Self.pattern.count
                }
            }
            var checked = 0
            client.onReceive = { client, bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let offset = checked % Self.pattern.count
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pattern.count - offset))
                    let isSame = Self.pattern.withUnsafeBytes {
                        memcmp(part.baseAddress!, $0.baseAddress! + offset, part.count) == 0
                    }
                    isMirrored = isMirrored && isSame
                    checked += part.count
                    rest = rest.dropFirst(part.count)
                }
                guard client.receivedCount == size else { return }
                report(Echo(mirrored: isMirrored, largestQueue: largestQueue, opened: client.opened))
            }
            return (server, client)
        }
        #expect(echo.mirrored)
        #expect(echo.opened == 1)
        // One turn's reading may come on top.
        #expect(echo.largestQueue <= 256 * 1024 + 256 * 1024)
    }

    /// Its size divides no buffer's.
    private static let pattern = (0..<4099).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

    @Test(arguments: Security.allCases)
    func `What is written before the connection stands is sent when it does`(security: Security) async throws {
        let received = try await onLoop(of: [UInt8].self) { loop, report in
            let server = try RecordingServer(on: loop, tls: security.server) { connection in
                connection.onReceive = { connection, _ in
                    if connection.receivedCount == 5 { report(connection.received) }
                }
            }
            let client = Recorder(to: server.port, tls: try security.client, on: loop)
            client.transport!.write(Array("early".utf8))
            return (server, client)
        }
        #expect(String(decoding: received, as: UTF8.self) == "early")
    }

    @Test(arguments: Security.allCases, [0, 1, 1 << 20])
    func `Closing when sent delivers everything, then ends in an orderly way`(
        security: Security,
        size: Int
    ) async throws {
        struct End: Sendable, Equatable {
            var count: Int
            var error: TransportError
        }
        let end = try await onLoop(of: End.self) { loop, report in
            let server = try RecordingServer(on: loop, tls: security.server) { connection in
                connection.onClose = { report(End(count: $0.receivedCount, error: $1)) }
            }
            let client = Recorder(to: server.port, tls: try security.client, on: loop)
            client.transport!.write([UInt8](repeating: 7, count: size))
            client.transport!.closeWhenSent()
            return (server, client)
        }
        #expect(end == End(count: size, error: .closedByPeer))
    }

    @Test(arguments: Security.allCases)
    func `Closing when sent loses nothing though the peer is still sending`(security: Security) async throws {
        let size = 200_000
        let count = try await onLoop(of: Int.self) { loop, report in
            let server = try RecordingServer(on: loop, tls: security.server) { connection in
                connection.onOpen = { connection in
                    connection.transport!.write([UInt8](repeating: 7, count: size))
                    connection.transport!.closeWhenSent()
                }
            }
            let client = Recorder(to: server.port, tls: try security.client, on: loop)
            client.onOpen = { $0.transport!.pauseReading() }
            client.onFlush = { client in
                // It reads on only when much of what it sent can no longer be wanted.
                if client.transport!.bytesWritten > 1 << 20 { client.transport!.resumeReading() }
                if client.transport!.unsentBytes < 1000 { client.transport!.write([UInt8](repeating: 8, count: 1000)) }
            }
            client.onClose = { client, _ in report(client.receivedCount) }
            return (server, client)
        }
        #expect(count == size)
    }

    @Test(arguments: Security.allCases)
    func `The peer's close and the peer's reset are told apart`(security: Security) async throws {
        for isReset in [false, true] {
            let error = try await onLoop(of: TransportError.self) { loop, report in
                let server = try RecordingServer(on: loop, tls: security.server) { connection in
                    connection.onReceive = { connection, _ in
                        isReset ? connection.transport!.reset() : connection.transport!.close()
                    }
                }
                let client = Recorder(to: server.port, tls: try security.client, on: loop)
                client.transport!.write([1])
                client.onClose = { report($1) }
                return (server, client)
            }
            #expect(error == (isReset ? .broken(errno: 104) : .closedByPeer))
        }
    }

    @Test func `A reset is noticed while reading is paused`() async throws {
        let error = try await onLoop(of: TransportError.self) { loop, report in
            let server = try RecordingServer(on: loop, tls: nil) { connection in
                connection.onReceive = { connection, _ in connection.transport!.reset() }
            }
            let client = Recorder(to: server.port, tls: nil, on: loop)
            client.onOpen = { $0.transport!.pauseReading() }
            client.transport!.write([1])
            client.onClose = { report($1) }
            return (server, client)
        }
        #expect(error == .broken(errno: 104))
    }

    @Test func `After close and after reset the delegate hears nothing`() async throws {
        let calls = try await onLoop(of: Int.self) { loop, report in
            var calls = 0
            let server = try RecordingServer(on: loop, tls: nil) { connection in
                connection.onOpen = { $0.transport!.write([1, 2, 3]) }
                connection.onClose = { connection, _ in
                    // The server has heard of the client's end, so the client had every chance to hear something.
                    loop.after(.zero) { report(calls) }
                }
            }
            let client = Recorder(to: server.port, tls: nil, on: loop)
            client.onOpen = { client in
                client.transport!.close()
                client.transport!.write([1])
                client.transport!.setNeedsFlush()
            }
            client.onReceive = { _, _ in calls += 1 }
            client.onClose = { _, _ in calls += 1 }
            client.onFlush = { _ in calls += 1 }
            return (server, client)
        }
        #expect(calls == 0)
    }

    @Test func `A port where nobody listens refuses`() async throws {
        let error = try await Self.failure { loop, _ in
            // A port that was free a moment ago.
            let server = try RecordingServer(on: loop, tls: nil)
            return Endpoint(host: "127.0.0.1", port: server.port)
        }
        #expect(error == .connect(errno: 111))
    }

    @Test func `A name that does not exist fails to resolve`() async throws {
        let error = try await Self.failure { _, _ in Endpoint(host: "nothing.invalid", port: 1) }
        guard case .resolve(host: "nothing.invalid", _) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `A peer that takes the connection but says nothing fails at the handshake`() async throws {
        var settings = Transport.Settings()
        settings.connectTimeout = .milliseconds(700)
        let error = try await Self.failure(tls: .tls, settings: settings) { loop, keep in
            let server = try RecordingServer(on: loop, tls: nil)
            keep = server
            return Endpoint(host: "localhost", port: server.port)
        }
        #expect(error == .timeout(stage: .tls))
    }

    @Test func `A listener whose queue is full fails at connecting`() async throws {
        var settings = Transport.Settings()
        settings.connectTimeout = .milliseconds(300)
        let error = try await Self.failure(settings: settings) { _, keep in
            let full = try FullListener()
            keep = full
            return Endpoint(host: "127.0.0.1", port: full.port)
        }
        #expect(error == .timeout(stage: .connect))
    }

    /// Connects and reports why it failed.
    private static func failure(
        tls: Security = .plain,
        settings: Transport.Settings = .init(),
        _ prepare: @escaping @Sendable (EventLoop, inout Any?) throws -> Endpoint
    ) async throws -> TransportError {
        try await onLoop(of: TransportError.self) { loop, report in
            var kept: Any?
            let endpoint = try prepare(loop, &kept)
            let client = Recorder(
                to: endpoint.port,
                host: endpoint.host,
                tls: try tls.client,
                settings: settings,
                on: loop
            )
            client.onClose = { report($1) }
            return (kept as Any, client)
        }
    }
}

import Loop
import Push
import Synchronization
import TestServers
import Testing
import Wire

@testable import Broker

@Suite struct ConnectingTests {
    let broker = PrivateRabbitMQ.shared

    private func error(_ settings: BrokerSettings) async throws -> BrokerError? {
        do {
            let session = try await BrokerSession.connect(settings)
            await session.close()
            return nil
        } catch let error as BrokerError {
            return error
        }
    }

    @Test func `A wrong password is refused with the broker's text, without the password, once a second at most`()
        async throws
    {
        var settings = try self.broker.settings()
        settings.address.password = "s3cret-guess"
        settings.backoff = ReconnectBackoff(initial: .milliseconds(1), cap: .milliseconds(1))
        let error = try #require(try await self.error(settings))
        guard case .refused(code: 403, let text) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(text.contains("ACCESS_REFUSED"))
        #expect(!"\(error)".contains("s3cret"))

        let proxy = try FaultProxy(to: self.broker.port)
        defer { proxy.stop() }
        settings.address.endpoint.port = UInt16(proxy.port)
        let start = ContinuousClock.now
        let rig = try Rig(settings)
        while proxy.counters.accepted < 3 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(ContinuousClock.now - start >= .seconds(2))
        await rig.run { $0.client.close() }
    }

    @Test func `A virtual host that is not there is refused`() async throws {
        let error = try #require(try await self.error(try self.broker.settings(vhost: "nowhere")))
        guard case .refused(code: 530, let text) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(text.contains("nowhere"))
    }

    @Test func `Nobody there, and somebody who says nothing, are told apart and tried again`() async throws {
        let proxy = try FaultProxy(to: self.broker.port)
        defer { proxy.stop() }
        proxy.refuse()
        var settings = try self.broker.settings(port: proxy.port)
        settings.transport.connectTimeout = .milliseconds(300)
        let rig = try Rig(settings)
        try await rig.wait("refused") { if case .client(.waiting(.transport(.connect))) = $0 { true } else { false } }
        proxy.pass()
        try await rig.connected()
        let moment = rig.moment
        proxy.blackHole()
        proxy.cut()
        try await rig.wait("mute", after: moment) { if case .client(.waiting(.timeout)) = $0 { true } else { false } }
        proxy.pass()
        try await rig.connected(times: 2)
        try await rig.close()
    }

    @Test func `A peer that does not speak AMQP is left with an error`() async throws {
        let ports = Mutex<UInt16>(0)
        let thread = try LoopThread.start(name: "babbler") { loop in
            let babbler = Babbler()
            do {
                let listener = try Listener(on: Endpoint(host: "127.0.0.1", port: 0), tls: nil, loop: loop) { make in
                    babbler.transports.append(make(babbler))
                }
                ports.withLock { $0 = listener.port }
            } catch {
                Issue.record(error)
            }
        }
        var settings = try self.broker.settings()
        settings.address.endpoint.port = ports.withLock { $0 }
        let error = try #require(try await self.error(settings))
        guard case .violation = error else {
            Issue.record("\(error)")
            return
        }
        _ = thread
    }

    private final class Babbler: TransportDelegate {
        var transports: [Transport] = []

        func transportDidOpen(_ transport: Transport) {
            transport.write(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
        }

        func transport(_: Transport, didReceive _: UnsafeRawBufferPointer) {}
        func transport(_: Transport, didClose _: TransportError) {}
    }

    @Test func `Heartbeats keep an idle connection alive on both sides`() async throws {
        let proxy = try FaultProxy(to: self.broker.port)
        defer { proxy.stop() }
        let rig = try Rig(try self.broker.settings(vhost: try self.broker.makeVhost(), heartbeat: 1, port: proxy.port))
        try await rig.connected()
        // Three intervals of silence: the broker, too, would have ended the connection by now.
        try await Task.sleep(for: .milliseconds(3500))
        await rig.run { $0.makePublisher() }
        await rig.run { bench in
            var message = Message(to: "nowhere", "x")
            message.isMandatory = false
            #expect(bench.publisher.publish(message, token: 1))
        }
        #expect(try await rig.results(1)[0].outcome == .confirmed)
        #expect(proxy.counters.accepted == 1)
        try await rig.close()
    }

    @Test func `With TLS the authority and the name must be right`() async throws {
        let certificates = TestCertificates.shared
        var settings = try self.broker.settings()
        settings.address.usesTLS = true
        settings.address.endpoint = Endpoint(host: "localhost", port: UInt16(try #require(self.broker.tlsPort)))
        settings.authorities = certificates.authority
        #expect(try await self.error(settings) == nil)

        settings.address.endpoint.host = "127.0.0.1"
        #expect(try await self.error(settings) == nil)

        // The same machine by a name that the certificate does not have.
        settings.address.endpoint.host = "127.1"
        let name = try #require(try await self.error(settings))
        guard case .transport(.tls(let text)) = name else {
            Issue.record("\(name)")
            return
        }
        #expect(text.contains("mismatch"))

        settings.address.endpoint.host = "localhost"
        settings.authorities = certificates.unknownAuthority
        let unknown = try #require(try await self.error(settings))
        guard case .transport(.tls) = unknown else {
            Issue.record("\(unknown)")
            return
        }

        settings.authorities = "/nowhere/ca.pem"
        await #expect(throws: TLSContextError.self) { try await BrokerSession.connect(settings) }
    }
}

import APNs
import Foundation
import HTTP2
import Push
import TestServers
import Testing
import Wire

@testable import Simulator

@Suite struct ClientCertificateTests {
    @Test(
        arguments: [
            (.standard, .production, nil), (.standard, .sandbox, nil), (.renewed, .production, nil),
            (.production, .production, nil), (.sandbox, .sandbox, nil), (.voip, .production, nil),
            (.sandbox, .production, .badCertificateEnvironment), (.production, .sandbox, .badCertificateEnvironment),
            (.expired, .production, .badCertificate), (.future, .production, .badCertificate),
            (.plain, .production, .badCertificate),
        ] as [(TestCertificates.Client, APNsEnvironment, Reason?)]
    )
    func `A certificate is judged by its dates, its extensions and the environment`(
        client: TestCertificates.Client,
        environment: APNsEnvironment,
        reason: Reason?
    ) throws {
        let now = UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let certificate = try Bench.identity(client).certificate
        let verdict = ClientCertificateCheck.judge(certificate, for: environment, at: now)
        if let reason {
            #expect(verdict == .refused(reason))
        } else {
            #expect(verdict == .accepted(try #require(ClientCertificate(certificate))))
        }
    }

    @Test(
        arguments: [
            ("com.example.shop", nil), ("com.example.shop.voip", nil), ("com.example.shop.complication", nil),
            ("com.example.shop.push-type.liveactivity", .topicDisallowed), ("com.example.other", .topicDisallowed),
            ("", .missingTopic), ("com example", .badTopic), (String(repeating: "a", count: 256), .badTopic),
        ] as [(String, Reason?)]
    )
    func `Only the topics of the list are allowed, suffix and all`(topic: String, reason: Reason?) throws {
        let certificate = try #require(ClientCertificate(try Bench.identity(.standard).certificate))
        #expect(ClientCertificateCheck.refusal(of: Array(topic.utf8)[...], certificate) == reason)
    }

    private func with(
        _ client: TestCertificates.Client?,
        _ change: (inout Simulator.Settings) -> Void = { _ in },
        _ body: (Simulator, PushLine) async throws -> Void
    ) async throws {
        try await Bench.withLine(identity: try client.map(Bench.identity)) { settings in
            settings.controlPort = nil
            change(&settings)
        } _: { simulator, line in
            try await body(simulator, line)
        }
    }

    private static let draft = PushDraft(issuedAt: Int64(Date().timeIntervalSince1970))

    @Test func `With a certificate no provider token is needed, a bad one does no harm, and all streams are there`()
        async throws
    {
        try await self.with(.standard) { (simulator, line) async throws in
            let bare = Self.draft.with("authorization", nil)
            #expect(await line.send(bare).status == 200)
            #expect(await line.send(bare.with("authorization", "bearer nonsense")).status == 200)
            #expect(await line.history(untilClosed: false).limits.last == 1000)
            #expect(await line.send(bare.with("apns-topic", "com.example.other")).status == 400)
            #expect(try await simulator.requests(LedgerFilter(reason: "TopicDisallowed")).count == 1)
            #expect(try await simulator.summary().providerTokens.isEmpty)
            let many = await line.send((0..<300).map { _ in bare })
            #expect(many.allSatisfy { $0.status == 200 })
        }
    }

    @Test func `A topic may be left out when the certificate has just one`() async throws {
        let topicless = Self.draft.with("authorization", nil).with("apns-topic", nil)
        try await self.with(.production) { (simulator, line) async throws in
            #expect(await line.send(topicless).status == 200)
            #expect(try await simulator.requests().first?.topic == "com.example.shop")
        }
        try await self.with(.standard) { (simulator, line) async throws in
            #expect(await line.send(topicless).status == 400)
            #expect(try await simulator.requests(LedgerFilter(reason: "MissingTopic")).count == 1)
        }
    }

    @Test(arguments: [
        (TestCertificates.Client.sandbox, "BadCertificateEnvironment"), (.expired, "BadCertificate"),
        (.plain, "BadCertificate"),
    ])
    func `A bad certificate is told by GOAWAY with last stream 0 after a good handshake, and nothing is processed`(
        client: TestCertificates.Client,
        reason: String
    ) async throws {
        try await self.with(client) { (simulator, line) async throws in
            async let outcome = line.send(Self.draft)
            let history = await line.history()
            #expect(history.goAways.map(\.lastStreamID) == [0])
            let goAway = try #require(history.goAways.first)
            #expect(String(decoding: goAway.debugData, as: UTF8.self) == "{\"reason\":\"\(reason)\"}")
            #expect(await outcome.status == nil)
            #expect(try await simulator.summary().accepted == 0)
        }
    }

    @Test func `Without a certificate all is as before, also where authorities are named`() async throws {
        let authority = TestCertificates.shared.authority
        try await self.with(nil) {
            $0.clientAuthorities = authority
        } _: { (simulator, line) async throws in
            #expect(await line.send(Self.draft).status == 200)
            #expect(await line.send(Self.draft.with("authorization", nil)).status == 403)
            #expect(try await simulator.summary().providerTokens.count == 1)
        }
    }

    @Test func `A stranger's certificate is refused in the handshake where authorities are named`() async throws {
        let authority = TestCertificates.shared.authority
        try await self.with(.stranger) {
            $0.clientAuthorities = authority
        } _: { (simulator, line) async throws in
            async let outcome = line.send(Self.draft)
            guard case .transport = await line.history().closeReason else {
                Issue.record("the connection ended otherwise")
                return
            }
            #expect(await outcome == .failure(.notProcessed(.neverSent)))
            #expect(try await simulator.summary().requests == 0)
        }
        try await self.with(.stranger) { (_, line) async throws in #expect(await line.send(Self.draft).status == 200) }
    }

    /// Fault F65.
    @Test(arguments: [0, 1])
    func `A line that is slow or narrow slows pushes down, and no connection is taken for dead`(form: Int) async throws
    {
        try await self.with(.standard) { (simulator, _) async throws in
            let proxy = try FaultProxy(to: Int(simulator.port))
            defer { proxy.stop() }
            // 2 s there and back; 64 kbit/s.
            form == 0 ? proxy.delay(.seconds(1)) : proxy.throttle(8000)
            var settings = HTTP2Client.Settings()
            settings.pingInterval = .seconds(3)
            settings.pingTimeout = .seconds(5)
            settings.transport.connectTimeout = .seconds(20)
            let line = try PushLine.start(
                port: UInt16(proxy.port),
                settings: settings,
                identity: try Bench.identity(.standard)
            )
            defer { line.stop() }
            var draft = Self.draft.with("authorization", nil)
            draft.body = Array("{\"aps\":{\"alert\":\"\(String(repeating: "x", count: 500))\"}}".utf8)
            let outcomes = await line.send((0..<60).map { _ in draft })
            #expect(outcomes.allSatisfy { $0.status == 200 })
            #expect(await line.history(untilClosed: false).closeReason == nil)
            let counters = proxy.counters
            #expect(counters.accepted == 1 && counters.open == 1 && counters.broken == 0)
            #expect(counters.forwarded[.toServer, default: 0] > 60 * 500)
        }
    }
}

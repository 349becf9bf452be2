import Foundation
import HTTP2
import Push
import TestServers
import Testing
import Wire

import struct APNs.ClientCertificate

@testable import Simulator

/// `POST /4/broadcasts/apps/<bundle id>` and the channel management API, against section 6 of Apple's pages.
@Suite struct BroadcastTests {
    static let channel = "dHN0LXNyY2gtY2hubA=="
    static let silent = "c2lsZW50"

    static func draft(_ channel: String = Self.channel, issuedAt: Int64 = TestKey.now.seconds) -> PushDraft {
        var draft = PushDraft(issuedAt: issuedAt)
        draft.path = "/4/broadcasts/apps/com.example.shop"
        draft.set("apns-topic", nil)
        draft.set("apns-push-type", "liveactivity")
        draft.set("apns-channel-id", channel)
        draft.set("apns-expiration", "1700000100")
        draft.set("apns-request-id", "123e4567-e89b-12d3-a456-42665544000a")
        draft.body = Array(#"{"aps":{"event":"update"}}"#.utf8)
        return draft
    }

    static func check(bundleIDs: Set<String>? = nil, limit: Int = 10) throws -> RequestCheck {
        var check = RequestCheck.keyless(bundleIDs: bundleIDs, tokens: TokenRegistry(unknown: .refuse))
        try check.providerTokens.add(TestKey.shared.key)
        check.channels = ChannelRegistry(limit: limit)
        let app = Array("com.example.shop".utf8)[...]
        _ = check.channels.add(.init(id: Array(Self.channel.utf8), storage: .newest), to: app)
        _ = check.channels.add(.init(id: Array(Self.silent.utf8), storage: .none), to: app)
        return check
    }

    static let rows = [
        RequestRow("nothing wrong", nil) { _ in },
        RequestRow("the push type as the page also prints it", nil) { $0.set("apns-push-type", "Liveactivity") },
        RequestRow("priority 5", nil) { $0.set("apns-priority", "5") },
        RequestRow("expiration 0", nil) { $0.set("apns-expiration", "0") },
        RequestRow("no request id", nil) { $0.set("apns-request-id", nil) },
        RequestRow("5120 bytes", nil) { $0.body = Array("{\"a\":\"\(String(repeating: "x", count: 5112))\"}".utf8) },
        RequestRow("GET", .methodNotAllowed) { $0.method = "GET" },
        RequestRow("no bundle id", .badPath) { $0.path = "/4/broadcasts/apps/" },
        RequestRow("a path below the bundle id", .badPath) { $0.path += "/more" },
        RequestRow("no authorization", .missingProviderToken) { $0.set("authorization", nil) },
        RequestRow("a token that is none", .invalidProviderToken) { $0.set("authorization", "bearer x.y.z") },
        RequestRow("an id that is no UUID", .badMessageID) { $0.set("apns-request-id", "42") },
        RequestRow("no channel", .missingChannelID) { $0.set("apns-channel-id", nil) },
        RequestRow("a channel that is no base64", .badChannelID) { $0.set("apns-channel-id", "a b") },
        RequestRow("a channel that nobody made", .channelNotRegistered) { $0.set("apns-channel-id", "AAAA") },
        RequestRow("another app's channel", .channelNotRegistered) { $0.path = "/4/broadcasts/apps/com.example.other" },
        RequestRow("no push type", .missingPushType) { $0.set("apns-push-type", nil) },
        RequestRow("another push type", .invalidPushType) { $0.set("apns-push-type", "alert") },
        RequestRow("no expiration", .badExpirationDate) { $0.set("apns-expiration", nil) },
        RequestRow("an expiration that is none", .badExpirationDate) { $0.set("apns-expiration", "soon") },
        RequestRow("an expiration where nothing is stored", .badExpirationDate) {
            $0.set("apns-channel-id", Self.silent)
        },
        RequestRow("no expiration where nothing is stored", nil) {
            $0.set("apns-channel-id", Self.silent)
            $0.set("apns-expiration", "0")
        },
        RequestRow("no priority", .badPriority) { $0.set("apns-priority", nil) },
        RequestRow("priority 1", .badPriority) { $0.set("apns-priority", "1") },
        RequestRow("a topic's suffix", .topicDisallowed) {
            $0.path = "/4/broadcasts/apps/com.example.shop.push-type.liveactivity"
        },
        RequestRow("no body", .payloadEmpty) { $0.body = [] },
        RequestRow("5121 bytes", .payloadTooLarge) {
            $0.body = Array("{\"a\":\"\(String(repeating: "x", count: 5113))\"}".utf8)
        },
        RequestRow("a body that is no JSON", .badRequestPayload) { $0.body = Array("{".utf8) },
    ]

    private static let now = PushService.Moment(wall: TestKey.now, monotonic: MonotonicTime(nanoseconds: 0))

    @Test(arguments: rows) func `A broadcast is judged as the page says`(row: RequestRow) throws {
        var check = try Self.check()
        var draft = Self.draft()
        row.change(&draft)
        let verdict = check.verdict(on: draft)
        #expect(verdict.reason == row.reason)
        #expect(verdict.status == row.reason?.status ?? 200)
    }

    @Test func `An app that the team does not have cannot broadcast`() throws {
        var check = try Self.check(bundleIDs: ["com.example.other"])
        #expect(check.verdict(on: Self.draft()).reason == .topicDisallowed)
    }

    // MARK: With a certificate

    /// A connection that has shown a certificate.
    private static func binding(_ client: TestCertificates.Client) throws -> CredentialBinding {
        var binding = CredentialBinding()
        let certificate = try #require(ClientCertificate(try Bench.identity(client).certificate))
        binding.certificate = certificate
        return binding
    }

    @Test(
        arguments: [
            (.standard, "com.example.shop", nil), (.production, "com.example.shop", nil),
            (.standard, "com.example.other", .topicMismatch), (.voip, "com.example.shop", .topicMismatch),
            (.standard, "com.example.shop.voip", .topicDisallowed),
        ] as [(TestCertificates.Client, String, Reason?)]
    )
    func `A certificate stands for the provider token where it covers the bundle id`(
        client: TestCertificates.Client,
        bundleID: String,
        reason: Reason?
    ) throws {
        var check = try Self.check()
        var buckets = TokenBuckets(rate: nil)
        var random = SeededRandom(seed: 1)
        for authorization in [nil, "bearer nonsense"] as [String?] {
            var binding = try Self.binding(client)
            var draft = Self.draft().with("authorization", authorization)
            draft.path = "/4/broadcasts/apps/\(bundleID)"
            let finding = check.judge(draft.request, binding: &binding, buckets: &buckets, at: Self.now)
            #expect(finding.verdict.reason == reason && finding.verdict.status == reason?.status ?? 200)
            #expect(finding.isAuthorized && finding.providerToken == nil)
            var request = Self.request("GET", "/1/apps/\(bundleID)/all-channels")
            request.authorization = authorization.map { Array($0.utf8) }
            var answer = check.manage(request, binding: &binding, random: &random, at: TestKey.now)
            answer.requestID = ""
            let channels = ChannelAnswer(
                status: 200,
                body: Array("{\"channels\":[\"\(Self.channel)\",\"\(Self.silent)\"]}".utf8)
            )
            #expect(answer == reason.map { .refused($0) } ?? channels)
        }
        #expect(Reason.topicMismatch.status == 403)
    }

    @Test func `Beside the credential a broadcast with a certificate is judged as any other`() throws {
        var check = try Self.check()
        for row in Self.rows where row.reason != .missingProviderToken && row.reason != .invalidProviderToken {
            var draft = Self.draft().with("authorization", nil)
            row.change(&draft)
            let verdict = check.verdict(on: draft, try Self.binding(.standard))
            // Which comes first where the app is another one's is the only difference.
            #expect(verdict.reason == (draft.path.hasSuffix(".other") ? .topicMismatch : row.reason), "\(row)")
        }
    }

    @Test func `Over TLS a certificate manages channels and broadcasts, and a bad one is told by GOAWAY`() async throws
    {
        var settings = Bench.settings
        settings.keys = []
        settings.controlPort = nil
        settings.channelPort = 0
        let simulator = try await Simulator.start(settings)
        let channelPort = try #require(simulator.channelPort)
        let good = try Bench.identity(.standard)
        let push = try PushLine.start(port: simulator.port, identity: good)
        let management = try PushLine.start(port: channelPort, identity: good)
        let refused = try PushLine.start(port: channelPort, identity: try Bench.identity(.sandbox))
        defer {
            for line in [push, management, refused] { line.stop() }
        }
        var create = PushDraft(issuedAt: 0).with("authorization", nil)
        create.path = "/1/apps/com.example.shop/channels"
        create.body = Array(Self.good.utf8)
        #expect(await management.send(create).status == 201)
        let channel = try #require(try await simulator.channels().first).channel
        #expect(await push.send(Self.draft(channel).with("authorization", nil)).status == 200)
        var other = create
        other.path = "/1/apps/com.example.other/channels"
        #expect(await management.send(other).status == 403)

        async let outcome = refused.send(create)
        let history = await refused.history()
        #expect(history.goAways.map(\.lastStreamID) == [0])
        let debugData = try #require(history.goAways.first).debugData
        #expect(String(decoding: debugData, as: UTF8.self) == #"{"reason":"BadCertificateEnvironment"}"#)
        #expect(await outcome.status == nil)
        #expect(try await simulator.channels().count == 1)
        await simulator.stop()
    }

    // MARK: Management

    static func request(
        _ method: String,
        _ path: String = "/1/apps/com.example.shop/channels",
        channel: String? = nil,
        body: String = ""
    ) -> ChannelRequest {
        ChannelRequest(
            method: method,
            path: path,
            authorization: Array(("bearer " + TestKey.shared.token(issuedAt: TestKey.now.seconds)).utf8),
            channelID: channel,
            body: Array(body.utf8)
        )
    }

    static let good = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

    struct Ask: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: ChannelRequest
        let answer: ChannelAnswer

        init(_ description: String, _ request: ChannelRequest, _ reason: Reason) {
            self.testDescription = description
            self.request = request
            self.answer = .refused(reason)
        }

        init(_ description: String, _ request: ChannelRequest, _ status: UInt16, _ body: String = "") {
            self.testDescription = description
            self.request = request
            self.answer = ChannelAnswer(status: status, body: Array(body.utf8))
        }
    }

    static let all = "/1/apps/com.example.shop/all-channels"
    static let asks = [
        Ask("read", Self.request("GET", channel: Self.channel), 200, Self.good),
        Ask(
            "read one without storage",
            Self.request("GET", channel: Self.silent),
            200,
            #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        ),
        Ask("list", Self.request("GET", Self.all), 200, "{\"channels\":[\"\(Self.channel)\",\"\(Self.silent)\"]}"),
        Ask("list another app's", Self.request("GET", "/1/apps/a.b/all-channels"), 200, #"{"channels":[]}"#),
        Ask("delete", Self.request("DELETE", channel: Self.channel), 204),
        Ask("read without an id", Self.request("GET"), .missingChannelID),
        Ask("read a bad id", Self.request("GET", channel: "a b"), .badChannelID),
        Ask("read an unknown one", Self.request("GET", channel: "AAAA"), .channelNotRegistered),
        Ask("delete an unknown one", Self.request("DELETE", channel: "AAAA"), .channelNotRegistered),
        Ask("PUT", Self.request("PUT"), .methodNotAllowed),
        Ask("POST to the list", Self.request("POST", Self.all), .methodNotAllowed),
        Ask("another path", Self.request("GET", "/1/apps/com.example.shop"), .badPath),
        Ask("a channel in the path", Self.request("GET", "/1/apps/com.example.shop/channels/AAAA"), .badPath),
        Ask("a topic's suffix", Self.request("GET", "/1/apps/a.push-type.liveactivity/channels"), .topicDisallowed),
        Ask("create from nothing", Self.request("POST"), .payloadEmpty),
        Ask("create from no JSON", Self.request("POST", body: "{"), .badRequestPayload),
        Ask(
            "create without a push type",
            Self.request("POST", body: #"{"message-storage-policy":1}"#),
            .missingPushType
        ),
        Ask(
            "create with another push type",
            Self.request("POST", body: #"{"message-storage-policy":1,"push-type":"alert"}"#),
            .invalidPushType
        ),
        Ask(
            "create with another policy",
            Self.request("POST", body: #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#),
            .badRequestParams
        ),
        Ask("create without a policy", Self.request("POST", body: #"{"push-type":"LiveActivity"}"#), .badRequestParams),
    ]

    @Test(arguments: asks) func `Channels are managed as the page says`(ask: Ask) throws {
        var check = try Self.check()
        var binding = CredentialBinding()
        var random = SeededRandom(seed: 1)
        var answer = check.manage(ask.request, binding: &binding, random: &random, at: TestKey.now)
        #expect(answer.requestID.count == 36)
        answer.requestID = ""
        #expect(answer == ask.answer, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    /// A management API with its channels and one connection to it.
    struct Management {
        var check: RequestCheck
        private var binding = CredentialBinding()
        private var random = SeededRandom(seed: 1)

        init(_ check: RequestCheck) {
            self.check = check
        }

        mutating func ask(_ request: ChannelRequest, at now: UnixTime = TestKey.now) -> ChannelAnswer {
            self.check.manage(request, binding: &self.binding, random: &self.random, at: now)
        }
    }

    @Test func `A channel lives from its creation to its deletion, and there are no more than the limit`() throws {
        var management = Management(try Self.check(limit: 3))
        let created = management.ask(Self.request("POST", body: Self.good))
        let id = try #require(created.channelID)
        #expect(created.status == 201 && created.body.isEmpty && ChannelID.isValid(id))
        let tooMany = management.ask(Self.request("POST", body: Self.good))
        #expect(tooMany.body == ChannelAnswer.refused(.cannotCreateChannelConfig).body)
        let statuses = ["GET", "DELETE", "GET", "DELETE"].map {
            management.ask(Self.request($0, channel: id)).status
        }
        #expect(statuses == [200, 204, 400, 400])
        management.check.unknownChannelDeletion = .badPath
        let gone = management.ask(Self.request("DELETE", channel: id))
        #expect(gone.status == 404)
    }

    @Test func `A provider token is looked at as with pushes, and an id of one's own comes back`() throws {
        var management = Management(try Self.check())
        var request = Self.request("GET", Self.all)
        request.requestID = "123E4567-E89B-12D3-A456-42665544000A"
        let answer = management.ask(request)
        #expect(answer.requestID == "123e4567-e89b-12d3-a456-42665544000a")
        request.requestID = "42"
        let malformed = management.ask(request)
        #expect(malformed.body == ChannelAnswer.refused(.badMessageID).body)
        request.requestID = nil
        request.authorization = nil
        let unauthorized = management.ask(request)
        #expect(unauthorized.status == 403)
        // An hour later the same token is too old.
        let later = management.ask(Self.request("GET", Self.all), at: TestKey.now + .seconds(3601))
        #expect(later.body == ChannelAnswer.refused(.expiredProviderToken).body)
    }

    // MARK: On the wire

    @Test func `A broadcast on the wire is answered and stands in the ledger with its channel`() async throws {
        var settings = Bench.settings
        settings.channelPort = 0
        let simulator = try await Simulator.start(settings)
        let now = Int64(Date().timeIntervalSince1970)
        let push = try PushLine.start(port: simulator.port)
        let management = try PushLine.start(port: try #require(simulator.channelPort))
        defer {
            push.stop()
            management.stop()
        }
        var create = PushDraft(issuedAt: now)
        create.path = "/1/apps/com.example.shop/channels"
        create.body = Array(Self.good.utf8)
        #expect(await management.send(create).status == 201)
        let channel = try #require(try await simulator.channels().first)
        #expect(channel.bundleID == "com.example.shop" && channel.storage == "newest")
        #expect(await push.send(Self.draft(channel.channel, issuedAt: now)).status == 200)
        #expect(await push.send(Self.draft("AAAA", issuedAt: now)).status == 400)
        let records = try await simulator.requests()
        #expect(records.map(\.channel) == ["AAAA", channel.channel])
        #expect(records.map(\.reason) == ["ChannelNotRegistered", nil])
        let own = LedgerFilter(channel: channel.channel)
        #expect(try await simulator.requests(own).map(\.channel) == [channel.channel])
        #expect(try await simulator.requests(LedgerFilter(channel: "none")).isEmpty)
        #expect(records.allSatisfy { $0.token.isEmpty && $0.topic == "com.example.shop" && $0.hasOwnID })
        #expect(records.allSatisfy { $0.apnsID == "123e4567-e89b-12d3-a456-42665544000a" })
        // A lost registration, as after a reset, is a channel that nobody knows.
        try await simulator.reset()
        #expect(try await simulator.channels().isEmpty)
        await simulator.stop()
    }
}

import Push
import Testing

@testable import Simulator

@Suite struct RequestCheckTests {
    private func check(
        _ draft: PushDraft,
        bundleIDs: Set<String>? = nil,
        malformedBody: RequestCheck.MalformedBody = .accept,
        tokens: TokenRegistry = TokenRegistry(unknown: .accept)
    ) throws -> Verdict {
        var check = RequestCheck.keyless(bundleIDs: bundleIDs, malformedBody: malformedBody, tokens: tokens)
        try check.providerTokens.add(TestKey.shared.key)
        return check.verdict(on: draft)
    }

    static let rows = [
        RequestRow("nothing wrong", nil) { _ in },
        RequestRow("GET", .methodNotAllowed) { $0.method = "GET" },
        RequestRow("post in lower case", .methodNotAllowed) { $0.method = "post" },
        RequestRow("another path", .badPath) { $0.path = "/" },
        RequestRow("another version", .badPath) { $0.path = "/4/device/aa" },
        RequestRow("a path below the token", .badPath) { $0.path += "/more" },
        RequestRow("no token", .missingDeviceToken) { $0.path = "/3/device/" },
        RequestRow("no token and no slash", .missingDeviceToken) { $0.path = "/3/device" },
        RequestRow("an unknown header twice", nil) { $0.headers += [("x-a", "1"), ("x-a", "1")] },
        RequestRow("a known header twice", .duplicateHeaders) { $0.headers.append(("apns-priority", "10")) },
        RequestRow("authorization twice", .duplicateHeaders) { $0.headers.append(("authorization", "bearer x")) },
        RequestRow("no authorization", .missingProviderToken) { $0.set("authorization", nil) },
        RequestRow("another scheme", .missingProviderToken) { $0.set("authorization", "basic abc") },
        RequestRow("no token behind bearer", .missingProviderToken) { $0.set("authorization", "bearer ") },
        RequestRow("Bearer in upper case", nil) { draft in
            let token = TestKey.shared.token(issuedAt: TestKey.now.seconds)
            draft.set("authorization", "BEARER " + token)
        },
        RequestRow("a token that is none", .invalidProviderToken) { $0.set("authorization", "bearer x.y.z") },
        RequestRow("an id that is no UUID", .badMessageID) { $0.set("apns-id", "42") },
        RequestRow("an id in lower case", nil) { $0.set("apns-id", "123e4567-e89b-12d3-a456-42665544000a") },
        RequestRow("an id in upper case", nil) { $0.set("apns-id", "123E4567-E89B-12D3-A456-42665544000A") },
        RequestRow("an id with its hyphens elsewhere", .badMessageID) {
            $0.set("apns-id", "123e4567e-89b-12d3-a456-42665544000a")
        },
        RequestRow("an expiration", nil) { $0.set("apns-expiration", "1700000000") },
        RequestRow("expiration 0", nil) { $0.set("apns-expiration", "0") },
        RequestRow("a negative expiration", .badExpirationDate) { $0.set("apns-expiration", "-1") },
        RequestRow("a fraction of an expiration", .badExpirationDate) { $0.set("apns-expiration", "1.5") },
        RequestRow("an empty expiration", .badExpirationDate) { $0.set("apns-expiration", "") },
        RequestRow("an endless expiration", .badExpirationDate) { $0.set("apns-expiration", "99999999999999999999") },
        RequestRow("no priority", nil) { $0.set("apns-priority", nil) },
        RequestRow("priority 5", nil) { $0.set("apns-priority", "5") },
        RequestRow("priority 1", nil) { $0.set("apns-priority", "1") },
        RequestRow("priority 7", .badPriority) { $0.set("apns-priority", "7") },
        RequestRow("priority 100", .badPriority) { $0.set("apns-priority", "100") },
        RequestRow("priority 15", .badPriority) { $0.set("apns-priority", "15") },
        RequestRow("a word for a priority", .badPriority) { $0.set("apns-priority", "high") },
        RequestRow("64 bytes of collapse id", nil) { $0.set("apns-collapse-id", String(repeating: "c", count: 64)) },
        RequestRow("65 bytes of collapse id", .badCollapseID) {
            $0.set("apns-collapse-id", String(repeating: "c", count: 65))
        },
        RequestRow("33 characters of two bytes", .badCollapseID) {
            $0.set("apns-collapse-id", String(repeating: "é", count: 33))
        },
        RequestRow("no topic", .missingTopic) { $0.set("apns-topic", nil) },
        RequestRow("an empty topic", .missingTopic) { $0.set("apns-topic", "") },
        RequestRow("a topic with a space", .badTopic) { $0.set("apns-topic", "com.example shop") },
        RequestRow("a topic that is not ASCII", .badTopic) { $0.set("apns-topic", "com.exämple.shop") },
        RequestRow("no push type", nil) { $0.set("apns-push-type", nil) },
        RequestRow("a push type that there is not", .invalidPushType) { $0.set("apns-push-type", "banner") },
        RequestRow("a push type in upper case", .invalidPushType) { $0.set("apns-push-type", "Alert") },
        RequestRow("background with priority 10", .badPriority) { $0.set("apns-push-type", "background") },
        RequestRow("background with priority 5", nil) {
            $0.set("apns-push-type", "background")
            $0.set("apns-priority", "5")
        },
        RequestRow("background without a priority", nil) {
            $0.set("apns-push-type", "background")
            $0.set("apns-priority", nil)
        },
        RequestRow("a short token", nil) { $0.path = "/3/device/ab" },
        RequestRow("a token in upper case", nil) { $0.path = "/3/device/ABCDEF" },
        RequestRow("a long token", nil) { $0.path = "/3/device/" + String(repeating: "0f", count: 80) },
        RequestRow("a token without end", .badDeviceToken) {
            $0.path = "/3/device/" + String(repeating: "0f", count: 300)
        },
        RequestRow("an odd token", .badDeviceToken) { $0.path = "/3/device/abc" },
        RequestRow("a token that is not hexadecimal", .badDeviceToken) { $0.path = "/3/device/abcg" },
        RequestRow("no body", .payloadEmpty) { $0.body = [] },
        RequestRow("4096 bytes", nil) { $0.body = Array(repeating: 0x20, count: 4096) },
        RequestRow("4097 bytes", .payloadTooLarge) { $0.body = Array(repeating: 0x20, count: 4097) },
        RequestRow("5120 bytes of VoIP", nil) {
            $0.set("apns-push-type", "voip")
            $0.set("apns-topic", "com.example.shop.voip")
            $0.body = Array(repeating: 0x20, count: 5120)
        },
        RequestRow("5121 bytes of VoIP", .payloadTooLarge) {
            $0.set("apns-push-type", "voip")
            $0.set("apns-topic", "com.example.shop.voip")
            $0.body = Array(repeating: 0x20, count: 5121)
        },
        RequestRow("5120 bytes to a VoIP topic without a type", nil) {
            $0.set("apns-push-type", nil)
            $0.set("apns-topic", "com.example.shop.voip")
            $0.body = Array(repeating: 0x20, count: 5120)
        },
        RequestRow("an array for a body", nil) { $0.body = Array("[1]".utf8) },
    ]

    @Test(arguments: rows) func `Each fault has its reason`(_ row: RequestRow) throws {
        var draft = PushDraft()
        row.change(&draft)
        let verdict = try self.check(draft)
        #expect(verdict.reason == row.reason)
        #expect(verdict.status == row.reason?.status ?? 200)
    }

    @Test func `Of several faults the first in the order is told`() throws {
        var draft = PushDraft()
        // Each step adds a fault that is looked at earlier than all before it.
        let steps: [(Reason, (inout PushDraft) -> Void)] = [
            (.payloadEmpty, { $0.body = [] }),
            (.badDeviceToken, { $0.path = "/3/device/abc" }),
            (.invalidPushType, { $0.set("apns-push-type", "banner") }),
            (.badTopic, { $0.set("apns-topic", "a b") }),
            (.badCollapseID, { $0.set("apns-collapse-id", String(repeating: "c", count: 65)) }),
            (.badPriority, { $0.set("apns-priority", "2") }),
            (.badExpirationDate, { $0.set("apns-expiration", "soon") }),
            (.badMessageID, { $0.set("apns-id", "1") }),
            (.invalidProviderToken, { $0.set("authorization", "bearer x") }),
            (.duplicateHeaders, { $0.headers.append(("apns-id", "2")) }),
            (.missingDeviceToken, { $0.path = "/3/device/" }),
            (.badPath, { $0.path = "/" }),
            (.methodNotAllowed, { $0.method = "GET" }),
        ]
        var tokens = TokenRegistry(unknown: .accept)
        tokens.set(Array(repeating: 0xa1, count: 32), topic: nil, to: .unregistered(at: TestKey.now))
        #expect(try self.check(draft, tokens: tokens).reason == .unregistered)
        for (reason, change) in steps {
            change(&draft)
            #expect(try self.check(draft, tokens: tokens).reason == reason)
        }
    }

    @Test(arguments: PushKind.allCases, PushKind.allCases)
    func `A push type fits its own topic only`(type: PushKind, other: PushKind) throws {
        let draft = PushDraft(topic: "com.example.shop" + other.topicSuffix).with("apns-push-type", type.name)
            .with("apns-priority", "5")
        let fits = type.topicSuffix == other.topicSuffix
        #expect(try self.check(draft).reason == (fits ? nil : .invalidPushType))
        #expect(try self.check(draft, bundleIDs: ["com.example.shop"]).reason == (fits ? nil : .invalidPushType))
    }

    @Test(arguments: [
        ("com.example.shop", nil), ("com.example.shop.voip", nil), ("com.example.other", Reason.topicDisallowed),
        ("com.example.shop.unknown", .topicDisallowed), ("com.example.other.voip", .topicDisallowed),
        ("com.example.phone.voip", nil),
    ])
    func `Only the team's bundle ids are topics`(topic: String, reason: Reason?) throws {
        let draft = PushDraft(topic: topic).with("apns-push-type", nil)
        #expect(try self.check(draft, bundleIDs: ["com.example.shop", "com.example.phone.voip"]).reason == reason)
    }

    @Test(arguments: [("{}", true), ("[1]", false), ("nonsense", false), (#"{"aps":"#, false), ("\"text\"", false)])
    func `A malformed body is refused where that is asked for`(body: String, isGood: Bool) throws {
        var draft = PushDraft()
        draft.body = Array(body.utf8)
        #expect(try self.check(draft, malformedBody: .refuse).reason == (isGood ? nil : .badRequestPayload))
        #expect(try self.check(draft).reason == nil)
    }

    @Test(arguments: ["123e4567-e89b-12d3-a456-42665544000a", "00000000-0000-0000-0000-000000000000"])
    func `An id reads as it was written`(text: String) throws {
        let id = try #require(MessageID(Array(text.utf8)))
        #expect(id.text() == text)
        #expect(id.text(upperCase: true) == text.uppercased())
        #expect(MessageID(Array(text.uppercased().utf8)) == id)
    }

    /// Everything is wrong with it; what is told is what is looked at first.
    @Test func `The order of the checks can be changed`() {
        var draft = PushDraft().with("apns-topic", nil).with("apns-id", "x").with("apns-push-type", "x")
            .with("authorization", nil)
        draft.method = "GET"
        draft.body = []
        draft.headers.append(("apns-priority", "10"))
        draft = draft.to("abc")
        let reasons: [CheckStep: Reason] = [
            .method: .methodNotAllowed, .duplicates: .duplicateHeaders, .authorization: .missingProviderToken,
            .headers: .badMessageID, .topic: .missingTopic, .pushType: .invalidPushType, .token: .badDeviceToken,
            .body: .payloadEmpty,
        ]
        var check = RequestCheck.keyless()
        for (step, reason) in reasons {
            check.order = [step] + CheckStep.allCases.filter { $0 != step }
            #expect(check.verdict(on: draft).reason == reason)
        }
    }

    @Test func `A topic that was looked at before the key is held against it afterwards`() throws {
        var check = RequestCheck.keyless()
        var key = TestKey.shared.key
        key.topics = ["com.example.other"]
        try check.providerTokens.add(key)
        check.order = [.topic] + CheckStep.allCases.filter { $0 != .topic }
        #expect(check.verdict(on: PushDraft()).reason == .topicDisallowed)
    }
}

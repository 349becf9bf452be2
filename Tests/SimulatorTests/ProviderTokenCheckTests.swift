import Crypto
import Foundation
import Push
import Testing

@testable import Simulator

@Suite final class ProviderTokenCheckTests {
    private static let other = TestKey(id: "KEYOTHER00", team: "TEAM123456")
    private static let foreign = TestKey(id: "KEYFOREIGN", team: "TEAMFOREIG")
    private static let now = TestKey.now

    private var check = ProviderTokenCheck(settings: ProviderTokenCheck.Settings())
    private var binding = CredentialBinding()

    init() throws {
        try self.check.add(TestKey.shared.key)
        try self.check.add(Self.other.key)
        try self.check.add(Self.foreign.key)
    }

    private func judge(_ token: String, after seconds: Int64 = 0) -> Reason? {
        var binding = self.binding
        defer { self.binding = binding }
        return self.judge(token, after: seconds, binding: &binding)
    }

    private func judge(_ token: String, after seconds: Int64, binding: inout CredentialBinding) -> Reason? {
        let header = Array("bearer \(token)".utf8)
        let now = UnixTime(seconds: Self.now.seconds + seconds)
        switch self.check.check(header[...], binding: &binding, topics: TopicRules(bundleIDs: nil), at: now) {
        case .accepted: return nil
        case .refused(let reason, _): return reason
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: Reason?
        var header = #"{"alg":"ES256","kid":"KEY1234567"}"#
        var claims = #"{"iss":"TEAM123456","iat":1700000000}"#
    }

    static let rows = [
        Row(testDescription: "good", reason: nil),
        Row(testDescription: "with typ", reason: nil, header: #"{"typ":"JWT","alg":"ES256","kid":"KEY1234567"}"#),
        Row(testDescription: "iat as text", reason: nil, claims: #"{"iss":"TEAM123456","iat":"1700000000"}"#),
        Row(testDescription: "more claims", reason: nil, claims: #"{"iss":"TEAM123456","iat":1700000000,"kid":"x"}"#),
        Row(testDescription: "iat as a fraction", reason: nil, claims: #"{"iss":"TEAM123456","iat":1700000000.7}"#),
        Row(testDescription: "an hour old", reason: nil, claims: #"{"iss":"TEAM123456","iat":1699996400}"#),
        Row(
            testDescription: "older than an hour",
            reason: .expiredProviderToken,
            claims: #"{"iss":"TEAM123456","iat":1699996399}"#
        ),
        Row(
            testDescription: "from a far future",
            reason: .expiredProviderToken,
            claims: #"{"iss":"TEAM123456","iat":1700003601}"#
        ),
        Row(
            testDescription: "iat in milliseconds",
            reason: .expiredProviderToken,
            claims: #"{"iss":"TEAM123456","iat":1700000000000}"#
        ),
        Row(testDescription: "no iat", reason: .invalidProviderToken, claims: #"{"iss":"TEAM123456"}"#),
        Row(
            testDescription: "iat as a boolean",
            reason: .invalidProviderToken,
            claims: #"{"iss":"TEAM123456","iat":true}"#
        ),
        Row(testDescription: "no iss", reason: .invalidProviderToken, claims: #"{"iat":1700000000}"#),
        Row(
            testDescription: "another team",
            reason: .invalidProviderToken,
            claims: #"{"iss":"TEAMFOREIG","iat":1700000000}"#
        ),
        Row(testDescription: "no kid", reason: .invalidProviderToken, header: #"{"alg":"ES256"}"#),
        Row(
            testDescription: "an unknown kid",
            reason: .invalidProviderToken,
            header: #"{"alg":"ES256","kid":"KEY9999999"}"#
        ),
        Row(
            testDescription: "another key's kid",
            reason: .invalidProviderToken,
            header: #"{"alg":"ES256","kid":"KEYOTHER00"}"#
        ),
        Row(
            testDescription: "another algorithm",
            reason: .invalidProviderToken,
            header: #"{"alg":"HS256","kid":"KEY1234567"}"#
        ),
        Row(testDescription: "no JSON", reason: .invalidProviderToken, claims: "iss"),
    ]

    @Test(arguments: rows) func `Each fault of a token has its reason`(_ row: Row) {
        let token = TestKey.shared.token(header: row.header, claims: row.claims)
        #expect(self.judge(token) == row.reason)
        #expect(self.judge(token) == row.reason)
    }

    @Test func `A token that was tampered with is invalid`() {
        let token = TestKey.shared.token(issuedAt: Self.now.seconds)
        let parts = token.split(separator: ".").map(String.init)
        let later = TestKey.encode(Data(#"{"iss":"TEAM123456","iat":1700000001}"#.utf8))
        let zeroes = Data(count: 64)
        #expect(self.judge([parts[0], later, parts[2]].joined(separator: ".")) == .invalidProviderToken)
        #expect(self.judge([parts[0], parts[1]].joined(separator: ".")) == .invalidProviderToken)
        #expect(self.judge(parts.joined(separator: ".") + ".") == .invalidProviderToken)
        #expect(self.judge(parts[0] + "." + parts[1] + "." + TestKey.encode(zeroes)) == .invalidProviderToken)
        #expect(self.judge(parts[0] + "." + parts[1] + "." + parts[2] + "==") == .invalidProviderToken)
        #expect(self.judge(token) == nil)
    }

    @Test func `A token that was good grows old`() {
        let token = TestKey.shared.token(issuedAt: Self.now.seconds)
        #expect(self.judge(token) == nil)
        #expect(self.judge(token, after: 3600) == nil)
        #expect(self.judge(token, after: 3601) == .expiredProviderToken)
        #expect(self.check.uses.map(\.requests) == [3])
        #expect(self.check.uses[0].firstUse == Self.now.milliseconds)
        #expect(self.check.uses[0].lastUse == Self.now.milliseconds + 3_601_000)
    }

    @Test func `A second new token within 20 minutes is one too many on a connection`() {
        let tokens = (0..<3).map { TestKey.shared.token(issuedAt: Self.now.seconds + $0) }
        #expect(self.judge(tokens[0]) == nil)
        #expect(self.judge(tokens[1], after: 1199) == .tooManyProviderTokenUpdates)
        #expect(self.judge(tokens[0], after: 1199) == nil)
        #expect(self.judge(tokens[1], after: 1200) == nil)
        #expect(self.judge(tokens[0], after: 1300) == nil)
        #expect(self.judge(tokens[2], after: 2399) == .tooManyProviderTokenUpdates)
        #expect(self.judge(tokens[2], after: 2400) == nil)
        var another = CredentialBinding()
        #expect(self.judge(tokens[0], after: 2400, binding: &another) == nil)
    }

    @Test func `The 20 minutes can be counted for the key`() throws {
        var settings = ProviderTokenCheck.Settings()
        settings.updateScope = .key
        self.check = ProviderTokenCheck(settings: settings)
        try self.check.add(TestKey.shared.key)
        var another = CredentialBinding()
        let tokens = (0..<2).map { TestKey.shared.token(issuedAt: Self.now.seconds + $0) }
        #expect(self.judge(tokens[0]) == nil)
        #expect(self.judge(tokens[0], after: 5, binding: &another) == nil)
        #expect(self.judge(tokens[1], after: 5, binding: &another) == .tooManyProviderTokenUpdates)
        #expect(self.judge(tokens[1], after: 1200, binding: &another) == nil)
    }

    @Test func `The first good token binds the connection to its team and key`() {
        #expect(self.judge("nonsense") == .invalidProviderToken)
        #expect(self.binding.key == nil)
        #expect(self.judge(Self.foreign.token(issuedAt: Self.now.seconds)) == nil)
        #expect(self.binding.key?.key.team == Self.foreign.team)
        #expect(self.judge(TestKey.shared.token(issuedAt: Self.now.seconds)) == .invalidProviderToken)
        self.binding = CredentialBinding()
        #expect(self.judge(TestKey.shared.token(issuedAt: Self.now.seconds)) == nil)
        #expect(self.judge(Self.other.token(issuedAt: Self.now.seconds)) == .unrelatedKeyIDInToken)
    }

    @Test func `A related key may share the connection`() throws {
        var related = Self.other.key
        related.related = TestKey.shared.id
        try self.check.add(related)
        #expect(self.judge(TestKey.shared.token(issuedAt: Self.now.seconds)) == nil)
        #expect(self.judge(Self.other.token(issuedAt: Self.now.seconds), after: 1200) == nil)
    }

    @Test func `A key of the other environment is refused`() throws {
        var key = TestKey.shared.key
        key.environment = .sandbox
        try self.check.add(key)
        #expect(self.judge(TestKey.shared.token(issuedAt: Self.now.seconds)) == .badEnvironmentKeyInToken)
        key.environment = .production
        try self.check.add(key)
        #expect(self.judge(TestKey.shared.token(issuedAt: Self.now.seconds)) == nil)
    }

    @Test func `A revoked key's tokens are invalid until it is added again`() throws {
        let token = TestKey.shared.token(issuedAt: Self.now.seconds)
        #expect(self.judge(token) == nil)
        #expect(self.check.revoke(TestKey.shared.id) == true)
        #expect(self.check.revoke(TestKey.shared.id) == false)
        #expect(self.judge(token) == .invalidProviderToken)
        try self.check.add(TestKey.shared.key)
        #expect(self.judge(token) == nil)
    }

    @Test func `A topic key pushes to its topics only`() throws {
        var key = TestKey.shared.key
        key.topics = ["com.example.shop", "com.example.phone.voip"]
        let registered = try RegisteredKey(key)
        let rules = TopicRules(bundleIDs: nil)
        for (topic, reason) in [
            ("com.example.shop", nil), ("com.example.shop.voip", nil), ("com.example.phone.voip", nil),
            ("com.example.phone", Reason.topicDisallowed), ("com.example", .topicDisallowed),
        ] {
            #expect(rules.refusal(of: Array(topic.utf8)[...], key: registered) == reason)
        }
    }

    @Test func `A key that is none is refused`() {
        #expect(throws: ProviderKeyError(id: "A")) {
            try RegisteredKey(ProviderKey(id: "A", team: "B", pem: "nonsense"))
        }
        let secret = TestKey.shared.secret.pemRepresentation
        #expect(throws: Never.self) { try RegisteredKey(ProviderKey(id: "A", team: "B", pem: secret)) }
    }

    @Test func `Tokens without end do not fill the memory`() {
        for number in 0..<20_000 { _ = self.judge("made.up.\(number)") }
        #expect(self.check.uses.count == 16_384)
        #expect(self.judge(TestKey.shared.token(issuedAt: Self.now.seconds)) == nil)
    }
}

import Push
import Testing

/// What is refused, and how it is told.
extension EnvelopeDecoderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let reason: DeadLetterReason
        let field: String?
        let hint: String

        init(_ text: String, _ reason: DeadLetterReason, _ field: String?, _ hint: String = "") {
            self.text = text
            self.reason = reason
            self.field = field
            self.hint = hint
        }

        var testDescription: String { "\(self.reason.rawValue) \(self.field ?? "-"): \(self.text.prefix(70))" }
    }

    static func token(count: Int) -> String { String(repeating: "a", count: count) }

    static let refused: [Case] = [
        Case("", .invalidJSON, nil, "empty"),
        Case(" ", .invalidJSON, nil),
        Case("hello", .invalidJSON, nil, "byte 0"),
        Case("{\"app\":\"a\"", .invalidJSON, nil, "too early"),
        Case("\u{FEFF}" + Self.body(), .invalidJSON, nil, "byte order mark"),
        Case(Self.body() + "\u{0}", .invalidJSON, nil),
        Case(Self.body() + Self.body(), .invalidJSON, nil),
        Case(Self.body(payload: "{\"a\":\"\\ud800\"}"), .invalidJSON, nil, "surrogate"),
        Case(Self.body(payload: "{\"a\":1e999}"), .invalidJSON, nil, "too large"),
        Case(Self.body(payload: String(repeating: "{\"a\":", count: 10_000)), .invalidJSON, nil, "64 deep"),
        Case(String(repeating: "[", count: 100_000), .invalidJSON, nil, "64 deep"),
        Case(Self.body(payload: "{\"a\":\"\u{1}\"}"), .invalidJSON, nil, "control character"),
        // Broken JSON further on goes before a field at fault.
        Case("{\"nope\":1,\"app\":\"\",}", .invalidJSON, nil),
        Case("[]", .notAnObject, nil, "object"),
        Case("\"text\"", .notAnObject, nil),
        Case("null", .notAnObject, nil),
        Case(Self.body(extra: "\"x\":\"\(String(repeating: "x", count: 262_144))\""), .tooLarge, nil, "262144"),
        Case(Self.body(extra: "\"version\":2"), .unsupportedVersion, "version", "\"2\""),
        Case(Self.body(extra: "\"new_field\":true,\"version\":2"), .unsupportedVersion, "version"),
        Case(Self.body(extra: "\"version\":1.0"), .unsupportedVersion, "version"),
        Case(Self.body(extra: "\"version\":0"), .unsupportedVersion, "version"),
        Case(Self.body(extra: "\"version\":\"1\""), .invalidField, "version", "a string"),
        Case("{}", .missingField, "app"),
        Case("{\"app\":\"a\",\"payload\":{}}", .missingField, "tokens"),
        Case("{\"app\":\"a\",\"tokens\":[\"aa\"]}", .missingField, "payload"),
        Case("{\"tokens\":[\"aa\"],\"payload\":{}}", .missingField, "app"),
        Case(Self.body(extra: "\"pushType\":\"alert\""), .unknownField, "pushType", "did you mean \"push_type\"?"),
        Case(Self.body(extra: "\"token\":\"aa\""), .unknownField, "token", "did you mean \"tokens\"?"),
        Case(Self.body(extra: "\"Priority\":5"), .unknownField, "Priority", "did you mean \"priority\"?"),
        Case(Self.body(extra: "\"colapse_id\":\"a\""), .unknownField, "colapse_id", "did you mean \"collapse_id\"?"),
        Case(Self.body(extra: "\"badge\":5"), .unknownField, "badge", "inside \"payload\""),
        Case(Self.body(extra: "\"\":5"), .unknownField, ""),
        Case(Self.body(extra: "\"a\\nb\\u001b[2J\":5"), .unknownField, "a\\u{a}b\\u{1b}[2J"),
        Case(Self.body(extra: "\"\(Self.token)\":5"), .unknownField, "740f…78ad"),
        Case(Self.body(extra: "\"app\":\"b\""), .duplicateField, "app"),
        Case(Self.body(extra: "\"\\u0061pp\":\"b\""), .duplicateField, "app"),
        Case(Self.body(extra: "\"payload\":{}"), .duplicateField, "payload"),
        Case(Self.body(extra: "\"tokens\":[\"aa\"]"), .duplicateField, "tokens"),
        Case(Self.body(app: "\"\""), .invalidField, "app"),
        Case(Self.body(app: "1"), .invalidField, "app", "a number"),
        Case(Self.body(app: "null"), .invalidField, "app", "leave"),
        Case(Self.body(app: "\".a\""), .invalidField, "app"),
        Case(Self.body(app: "\"a b\""), .invalidField, "app"),
        Case(Self.body(app: "\"a\\r\\nb\""), .invalidField, "app"),
        Case(Self.body(app: "\"äpp\""), .invalidField, "app"),
        Case(Self.body(app: "\"\(Self.token(count: 129))\""), .invalidField, "app"),
        Case(Self.body(tokens: "[]"), .invalidField, "tokens", "empty"),
        Case(Self.body(tokens: "\"aa\""), .invalidField, "tokens", "in [ ]"),
        Case(Self.body(tokens: "{}"), .invalidField, "tokens", "an object"),
        Case(Self.body(tokens: "null"), .invalidField, "tokens"),
        Case(Self.body(tokens: "[1]"), .invalidField, "tokens", "entry 1"),
        Case(Self.body(tokens: "[\"aa\",null]"), .invalidField, "tokens", "entry 2"),
        Case(Self.body(tokens: "[\"aa\",\"\"]"), .invalidField, "tokens", "entry 2 is empty"),
        Case(Self.body(tokens: "[\"aaa\"]"), .invalidField, "tokens", "even"),
        Case(Self.body(tokens: "[\"ag\"]"), .invalidField, "tokens", "hexadecimal"),
        Case(Self.body(tokens: "[\"aa \"]"), .invalidField, "tokens", "hexadecimal"),
        Case(Self.body(tokens: "[\"<740f4707 bebcf74f>\"]"), .invalidField, "tokens", "hexadecimal"),
        Case(Self.body(tokens: "[\"..%2f..%2fa\"]"), .invalidField, "tokens"),
        Case(Self.body(tokens: "[\"aa\\r\\nx-evil: 1\"]"), .invalidField, "tokens"),
        Case(Self.body(tokens: "[\"aa\\u0000\"]"), .invalidField, "tokens"),
        Case(Self.body(tokens: "[\"\\u0061a\"]"), .invalidField, "tokens"),
        Case(Self.body(tokens: "[\"１２\"]"), .invalidField, "tokens"),
        Case(Self.body(tokens: "[\"\(Self.token(count: 402))\"]"), .invalidField, "tokens", "at most 400"),
        Case(Self.body(tokens: "[\"\(Self.token(count: 201))\"]"), .invalidField, "tokens"),
        Case(
            Self.body(tokens: "[\(Array(repeating: "\"aa\"", count: 1001).joined(separator: ","))]"),
            .invalidField,
            "tokens",
            "1001"
        ),
        Case(Self.body(extra: "\"push_type\":\"alerts\""), .invalidField, "push_type", "did you mean \"alert\"?"),
        Case(Self.body(extra: "\"push_type\":\"\""), .invalidField, "push_type", "one of"),
        Case(Self.body(extra: "\"push_type\":\"LiveActivity\""), .invalidField, "push_type", "\"liveactivity\""),
        Case(Self.body(extra: "\"push_type\":5"), .invalidField, "push_type"),
        Case(Self.body(extra: "\"push_type\":\"alert\\r\\n\""), .invalidField, "push_type"),
        Case(Self.body(extra: "\"priority\":0"), .invalidField, "priority", "1, 5 or 10"),
        Case(Self.body(extra: "\"priority\":11"), .invalidField, "priority"),
        Case(Self.body(extra: "\"priority\":-5"), .invalidField, "priority"),
        Case(Self.body(extra: "\"priority\":5.0"), .invalidField, "priority"),
        Case(Self.body(extra: "\"priority\":\"10\""), .invalidField, "priority", "a string"),
        Case(Self.body(extra: "\"priority\":99999999999999999999"), .invalidField, "priority"),
        Case(Self.body(extra: "\"collapse_id\":\"\""), .invalidField, "collapse_id", "1 to 64"),
        Case(Self.body(extra: "\"collapse_id\":\"\(Self.token(count: 65))\""), .invalidField, "collapse_id", "65"),
        Case(Self.body(extra: "\"collapse_id\":\"a b\""), .invalidField, "collapse_id"),
        Case(Self.body(extra: "\"collapse_id\":\"a\\r\\nb\""), .invalidField, "collapse_id"),
        Case(Self.body(extra: "\"collapse_id\":\"a\\u0000b\""), .invalidField, "collapse_id"),
        Case(Self.body(extra: "\"collapse_id\":\"\u{7F}\""), .invalidField, "collapse_id"),
        Case(Self.body(extra: "\"collapse_id\":\"é\""), .invalidField, "collapse_id"),
        Case(Self.body(extra: "\"collapse_id\":17"), .invalidField, "collapse_id"),
        Case(Self.body(extra: "\"topic\":\"\""), .invalidField, "topic"),
        Case(Self.body(extra: "\"topic\":\"a/b\""), .invalidField, "topic"),
        Case(Self.body(extra: "\"topic\":\"a\\nb\""), .invalidField, "topic"),
        Case(Self.body(extra: "\"topic\":\"\(Self.token(count: 256))\""), .invalidField, "topic"),
        Case(Self.body(extra: "\"expires_at\":-1"), .invalidField, "expires_at"),
        Case(Self.body(extra: "\"expires_at\":7289654400"), .invalidField, "expires_at", "1970 and 2200"),
        Case(Self.body(extra: "\"expires_at\":1767225600000"), .invalidField, "expires_at", "milliseconds"),
        Case(Self.body(extra: "\"expires_at\":9223372036854775808"), .invalidField, "expires_at"),
        Case(Self.body(extra: "\"expires_at\":1767225600.5"), .invalidField, "expires_at", "whole"),
        Case(Self.body(extra: "\"expires_at\":1e9"), .invalidField, "expires_at", "plain digits"),
        Case(Self.body(extra: "\"expires_at\":\"2026-01-01\""), .invalidField, "expires_at", "Unix seconds"),
        Case(Self.body(extra: "\"expires_at\":null"), .invalidField, "expires_at", "leave the key out"),
        Case(Self.body(extra: "\"receipt\":\"yes\""), .invalidField, "receipt", "a string"),
        Case(Self.body(extra: "\"receipt\":1"), .invalidField, "receipt", "a number"),
        Case(Self.body(extra: "\"not_before\":-5"), .invalidField, "not_before"),
        Case(Self.body(extra: "\"not_before\":99999999999"), .invalidField, "not_before"),
        Case(Self.body(extra: "\"not_before\":true"), .invalidField, "not_before", "a boolean"),
        Case(Self.body(payload: "[]"), .invalidField, "payload", "an array"),
        Case(Self.body(payload: "\"{}\""), .invalidField, "payload", "a string"),
        Case(Self.body(payload: "null"), .invalidField, "payload"),
    ]

    @Test("is refused with a reason, the field and the fix", arguments: Self.refused)
    func refuses(refused: Case) throws {
        let refusal = try #require(Self.refusal(refused.text))
        #expect(refusal.reason == refused.reason, "\(refusal)")
        #expect(refusal.field == refused.field)
        #expect(refusal.detail.contains(refused.hint), "\(refusal.detail)")
        Self.checkDetail(refusal)
    }

    static func checkDetail(_ refusal: Refusal) {
        #expect(!refusal.detail.isEmpty && refusal.detail.utf8.count <= 300)
        #expect(!refusal.detail.contains(Self.token))
        #expect(refusal.detail.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        if let field = refusal.field, EnvelopeField(rawValue: field) != nil {
            #expect(refusal.detail.contains(field))
        }
    }

    @Test("invalid UTF-8 has a reason of its own, wherever it stands")
    func invalidUTF8() {
        for bad in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]] {
            let text = Array(Self.body(payload: "{\"a\":\"@\"}").utf8)
            let at = text.firstIndex(of: UInt8(ascii: "@"))!
            let refusal = Self.refusal(Array(text[..<at]) + bad + Array(text[(at + 1)...]))
            #expect(refusal?.reason == .invalidUTF8)
            #expect(Self.refusal(Array("{\"".utf8) + bad + Array("\":1}".utf8))?.reason == .invalidUTF8)
        }
        #expect(Self.refusal([0xFF, 0xFE, 0x7B, 0x00])?.reason == .invalidUTF8)
    }

    @Test("the payload limit counts UTF-8 bytes, and voip has a higher one")
    func payloadLimit() {
        func payload(_ size: Int, _ filler: String) -> String {
            let empty = "{\"a\":\"\"}".utf8.count
            let count = (size - empty) / filler.utf8.count
            let rest = (size - empty) % filler.utf8.count
            return "{\"a\":\"" + String(repeating: filler, count: count) + String(repeating: "x", count: rest) + "\"}"
        }
        for filler in ["x", "é", "😀"] {
            for (limit, extra) in [
                (4096, ""), (5120, "\"push_type\":\"voip\""), (4096, "\"push_type\":\"liveactivity\""),
            ] {
                #expect(Self.refusal(Self.body(payload: payload(limit, filler), extra: extra)) == nil)
                let refusal = Self.refusal(Self.body(payload: payload(limit + 1, filler), extra: extra))
                #expect(refusal?.reason == .payloadTooLarge && refusal?.field == "payload")
                #expect(
                    refusal?.detail.contains("\(limit + 1)") == true && refusal?.detail.contains("\(limit)") == true
                )
            }
        }
    }

    @Test("a body of exactly the limit is read, one byte more is not")
    func bodyLimit() {
        let body = Self.body()
        let padded = body + String(repeating: " ", count: Contract.bodyLimit - body.utf8.count)
        #expect(Self.refusal(padded) == nil)
        #expect(Self.refusal(padded + " ")?.reason == .tooLarge)
    }
}

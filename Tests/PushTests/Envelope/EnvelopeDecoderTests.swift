import Push
import TestRandom
import Testing

@Suite("Envelope")
struct EnvelopeDecoderTests {
    static let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

    /// A body with the required fields, and `extra` members after them.
    static func body(
        app: String = "\"com.example.shop\"",
        tokens: String = "[\"\(Self.token)\"]",
        payload: String = "{\"aps\":{\"alert\":\"Hi\"}}",
        extra: String = ""
    ) -> String {
        "{\"app\":\(app),\"tokens\":\(tokens),\"payload\":\(payload)\(extra.isEmpty ? "" : ",\(extra)")}"
    }

    static func decode(_ text: String) throws(Refusal) -> Job {
        try EnvelopeDecoder.decode(body: Array(text.utf8))
    }

    static func refusal(_ bytes: [UInt8]) -> Refusal? {
        do {
            _ = try EnvelopeDecoder.decode(body: bytes)
            return nil
        } catch {
            return error
        }
    }

    static func refusal(_ text: String) -> Refusal? { Self.refusal(Array(text.utf8)) }

    // MARK: Accepted

    @Test("a minimal message gets the defaults")
    func minimal() throws {
        let text = Self.body()
        let job = try Self.decode(text)
        #expect(job.appName == "com.example.shop")
        #expect(job.pushType == .alert)
        #expect(job.priority == .immediate)
        #expect(job.expiresAt == nil && job.notBefore == nil)
        #expect(job.collapseID == nil && job.topicOverride == nil)
        #expect(job.tokenCount == 1 && job.token(0) == Self.token)
        #expect(job.isAddressed(to: AppID("com.example.shop")!))
        #expect(!job.isAddressed(to: AppID("com.example.shop2")!))
        #expect(job.withCollapseID { $0.count } == 0 && job.withTopicOverride { $0.count } == 0)
        #expect(job.body == Array(text.utf8))
    }

    @Test("every field of a full message arrives")
    func full() throws {
        let job = try Self.decode(
            " { \"version\" : 1 , \"app\":\"a\", \"tokens\" : [ \"ABcd\" , \"00\" ], \"push_type\":\"background\",\n"
                + "\"priority\":5,\"collapse_id\":\"order-17\",\"topic\":\"com.example.shop\","
                + "\"expires_at\":1767225600,"
                + "\"not_before\":1767220000,\"receipt\":true,\"payload\": {\"aps\": {} }\t} "
        )
        #expect(job.appName == "a")
        #expect(job.pushType == .background && job.priority == .considerate)
        #expect(job.collapseID == "order-17" && job.topicOverride == "com.example.shop")
        #expect(job.expiresAt == UnixTime(seconds: 1_767_225_600))
        #expect(job.notBefore == UnixTime(seconds: 1_767_220_000))
        #expect(job.wantsReceipt)
        #expect(try !Self.decode(Self.body(extra: "\"receipt\":false")).wantsReceipt)
        #expect([job.token(0), job.token(1)] == ["abcd", "00"])
        #expect(job.withPayload { String(decoding: $0, as: UTF8.self) } == "{\"aps\": {} }")
    }

    @Test("every push type has its default priority", arguments: PushType.allCases)
    func pushTypes(type: PushType) throws {
        let job = try Self.decode(Self.body(extra: "\"push_type\":\"\(type.rawValue)\""))
        #expect(job.pushType == type)
        #expect(job.priority.rawValue == (type == .background ? 5 : 10))
    }

    @Test(
        "values at the edge of what is allowed",
        arguments: [
            "\"collapse_id\":\"\(String(repeating: "x", count: 64))\"", "\"collapse_id\":\"!\"",
            "\"collapse_id\":\"a\\/b\\u003c\"", "\"topic\":\"\(String(repeating: "t", count: 255))\"",
            "\"topic\":\"com.example\\u002eshop\"", "\"expires_at\":0", "\"expires_at\":7289654399", "\"not_before\":0",
            "\"priority\":1", "\"priority\":10", "\"push_type\":\"\\u0061lert\"", "\"\\u0074opic\":\"a.b\"",
            "\"version\":1",
        ]
    )
    func edges(extra: String) throws {
        _ = try Self.decode(Self.body(extra: extra))
    }

    @Test("escapes in short texts are resolved")
    func escapes() throws {
        let job = try Self.decode(
            Self.body(app: "\"com\\u002eexample\"", extra: "\"collapse_id\":\"a\\/b\\u003c\",\"topic\":\"x\\u002Ey\"")
        )
        #expect(job.appName == "com.example")
        #expect(job.isAddressed(to: AppID("com.example")!))
        #expect(job.collapseID == "a/b<")
        #expect(job.topicOverride == "x.y")
    }

    @Test("a token may have from 2 to 200 digits", arguments: [2, 4, 6, 8, 10, 14, 16, 18, 64, 96, 108, 160, 198, 200])
    func tokenLengths(length: Int) throws {
        let digits = String((0..<length).map { Array("0123456789abcdefABCDEF")[$0 % 22] })
        let job = try Self.decode(Self.body(tokens: "[\"\(digits)\"]"))
        #expect(job.token(0) == digits.lowercased())
        var buffer = [UInt8](repeating: 0, count: 200)
        let count = buffer.withUnsafeMutableBytes { job.writeToken(0, to: $0) }
        #expect(String(decoding: buffer[..<count], as: UTF8.self) == digits.lowercased())
        var appended = Array("/3/device/".utf8)
        job.appendToken(0, to: &appended)
        #expect(String(decoding: appended, as: UTF8.self) == "/3/device/" + digits.lowercased())
    }

    @Test(
        "a payload reaches Apple byte for byte",
        arguments: ["{}", "{ \"aps\" : { } }", "{\"é\":\"\\u00e9 😀\",\"a\":1,\"a\":2}"]
    )
    func payload(text: String) throws {
        let job = try Self.decode(Self.body(payload: text))
        #expect(job.withPayload { Array($0) } == Array(text.utf8))
    }

    // MARK: Tokens

    @Test("repeated tokens are sent once, in the order of their first appearance", arguments: [7, 8, 9] as [UInt64])
    func repetitions(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let pool = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                let length = [2, 4, 6, 8, 10, 64].randomElement(using: &random)!
                return String((0..<length).map { _ in "0123456789abcdef".randomElement(using: &random)! })
            }
            let list = (0..<Int.random(in: 1...120, using: &random)).map { _ in
                let token = pool.randomElement(using: &random)!
                return Bool.random(using: &random) ? token.uppercased() : token
            }
            var expected: [String] = []
            for token in list where !expected.contains(token.lowercased()) { expected.append(token.lowercased()) }
            let job = try Self.decode(Self.body(tokens: "[\"\(list.joined(separator: "\",\""))\"]"))
            #expect((0..<job.tokenCount).map(job.token) == expected, "seed \(seed)")
            #expect(job.repeatedTokens == list.count - expected.count)
        }
    }

    @Test("a thousand tokens are one message")
    func thousand() throws {
        let tokens = (0..<1000).map { String(0x1_0000_0000 + $0, radix: 16).dropFirst() }
        let job = try Self.decode(Self.body(tokens: "[\"\(tokens.joined(separator: "\",\""))\"]"))
        #expect(job.tokenCount == 1000 && job.repeatedTokens == 0)
        #expect((0..<1000).allSatisfy { job.token($0) == tokens[$0] })
    }

    @Test("a copy with some tokens keeps every other byte")
    func splice() throws {
        let before = "{ \"app\":\"a\" ,\"tokens\": "
        let after = " ,\r\n\"payload\":{\"aps\": { \"alert\":\"é\" }}, \"collapse_id\":\"\\u0041\" } "
        let job = try Self.decode(before + "[ \"aa\" ,\"BB\", \"aA\",\"cc\" ]" + after)
        #expect(job.tokenCount == 3)
        let copy = job.body(withTokens: [1, 2])
        #expect(String(decoding: copy, as: UTF8.self) == before + "[\"BB\",\"cc\"]" + after)
        let again = try EnvelopeDecoder.decode(body: copy)
        #expect([again.token(0), again.token(1)] == ["bb", "cc"])
        #expect(again.collapseID == "A")
        let one = try EnvelopeDecoder.decode(body: again.body(withTokens: [1]))
        #expect(one.tokenCount == 1 && one.token(0) == "cc")
        #expect(String(decoding: one.body, as: UTF8.self) == before + "[\"cc\"]" + after)
    }

    // MARK: Refused

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
        Case(Self.body(tokens: "[\"\(Self.token(count: 202))\"]"), .invalidField, "tokens", "at most 200"),
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

    @Test(
        "whatever is done to a body, it is read or refused, and nothing else",
        arguments: [11, 12, 13, 14] as [UInt64]
    )
    func fuzz(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let extra =
            "\"push_type\":\"voip\",\"priority\":5,\"collapse_id\":\"a\\/b\",\"expires_at\":17,"
            + "\"not_before\":9,\"receipt\":true,\"topic\":\"a.b\""
        let source = Array(Self.body(tokens: "[\"AAbb\",\"aaBB\",\"0011223344556677\"]", extra: extra).utf8)
        let alphabet = Array("{}[]\",:\\u0aeE.-1 \u{1}".utf8) + [0x80, 0xFF]
        var accepted = 0
        for _ in 0..<5000 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = alphabet.randomElement(using: &random)!
                case 1: bytes[at] = UInt8.random(in: .min ... .max, using: &random)
                case 2: bytes.insert(alphabet.randomElement(using: &random)!, at: at)
                default: bytes.remove(at: at)
                }
            }
            if let refusal = Self.refusal(bytes) {
                Self.checkDetail(refusal)
                continue
            }
            accepted += 1
            let job = try EnvelopeDecoder.decode(body: bytes)
            // What reaches a header is within its alphabet.
            #expect((0..<job.tokenCount).allSatisfy { job.token($0).allSatisfy(\.isHexDigit) })
            #expect(job.withCollapseID { $0.allSatisfy { (0x21...0x7E).contains($0) } })
            #expect(job.withTopicOverride { $0.isEmpty || Topic.isValid($0) })
            #expect(AppID(job.appName) != nil)
            let one = try EnvelopeDecoder.decode(body: job.body(withTokens: [job.tokenCount - 1]))
            #expect(one.token(0) == job.token(job.tokenCount - 1), "seed \(seed)")
        }
        #expect(accepted > 200, "\(accepted)")
    }

    @Test("many faults in one body cost no more than the first")
    func faultsWithoutNumber() {
        let tokens = Self.body(tokens: "[" + String(repeating: "0,", count: 100_000) + "0]")
        #expect(Self.refusal(tokens)?.detail.contains("entry 1") == true)
        let keys = "{" + String(repeating: "\"x\":0,", count: 40_000) + "\"x\":0}"
        #expect(Self.refusal(keys)?.reason == .unknownField)
        let versions = "{" + String(repeating: "\"version\":2,", count: 20_000) + "\"x\":0}"
        #expect(Self.refusal(versions)?.reason == .unsupportedVersion)
    }
}

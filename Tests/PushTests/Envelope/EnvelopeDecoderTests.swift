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

    @Test(
        "a token may have from 2 to 400 digits",
        arguments: [2, 4, 6, 8, 10, 14, 16, 18, 64, 96, 108, 160, 200, 398, 400]
    )
    func tokenLengths(length: Int) throws {
        let digits = String((0..<length).map { Array("0123456789abcdefABCDEF")[$0 % 22] })
        let job = try Self.decode(Self.body(tokens: "[\"\(digits)\"]"))
        #expect(job.token(0) == digits.lowercased())
        var buffer = [UInt8](repeating: 0, count: 400)
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

    // MARK: Anything at all

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

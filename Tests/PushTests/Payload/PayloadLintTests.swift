import Foundation
import Push
import TestRandom
import Testing

@Suite("Payload lint")
struct PayloadLintTests {
    /// A file of `deploy/contract/samples/lint`: `<push type>--<path at fault>--<note>.json`.
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]

        var parts: [String] { self.name.components(separatedBy: "--") }
        var type: PushType? { PushType(rawValue: self.parts[0]) }
        var path: String { self.parts[1] }
        var testDescription: String { self.name }
    }

    static func samples(_ kind: String) throws -> [Sample] {
        let folder = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            .appendingPathComponent("deploy/contract/samples/lint/\(kind)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            var bytes = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            return Sample(name: String(name.dropLast(".json".count)), bytes: bytes)
        }
    }

    static func findings(
        _ bytes: [UInt8],
        _ type: PushType = .alert,
        isBroadcast: Bool = false
    ) -> [PayloadLint.Finding] {
        bytes.withUnsafeBytes { PayloadLint.findings(in: $0, type: type, isBroadcast: isBroadcast) }
    }

    static func findings(_ text: String, _ type: PushType = .alert, isBroadcast: Bool = false) -> [PayloadLint.Finding]
    {
        Self.findings(Array(text.utf8), type, isBroadcast: isBroadcast)
    }

    @Test("the valid samples have no finding, and there are some of every push type")
    func valid() throws {
        let samples = try Self.samples("valid")
        for sample in samples {
            let type = try #require(sample.type, "\(sample.name)")
            #expect(Self.findings(sample.bytes, type) == [], "\(sample.name)")
        }
        #expect(Set(samples.compactMap(\.type)) == Set(PushType.allCases))
    }

    @Test("each invalid sample has one finding, at the path that its name says; there are some of every push type")
    func invalid() throws {
        let samples = try Self.samples("invalid")
        for sample in samples {
            let type = try #require(sample.type, "\(sample.name)")
            let findings = Self.findings(sample.bytes, type)
            #expect(findings.map(\.path) == [sample.path], "\(sample.name): \(findings)")
            for finding in findings { Self.checkDetail(finding) }
        }
        #expect(Set(samples.compactMap(\.type)) == Set(PushType.allCases))
    }

    static func checkDetail(_ finding: PayloadLint.Finding) {
        let refusal = Refusal(finding)
        #expect(refusal.reason == .payloadLint && refusal.field == finding.path)
        #expect(refusal.detail.utf8.count <= Refusal.detailLimit)
        #expect(finding.path.hasPrefix("payload"))
        for text in [finding.path, finding.detail] {
            #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(text)")
        }
        #expect(finding.detail.hasSuffix(".") || finding.detail.hasSuffix("?"), "\(finding.detail)")
    }

    @Test(
        "the sentence says how to mend it",
        arguments: [
            (#"{"aps":{"alert":{"titel":"x"}}}"#, #"did you mean "title"?"#),
            (#"{"aps":{"content_available":1,"badge":1}}"#, #"did you mean "content-available"?"#),
            (#"{"aps":{"threadId":"x"}}"#, #"did you mean "thread-id"?"#),
            (#"{"aps":{"subtitle":"x"}}"#, #"it belongs in "alert"."#),
            (#"{"aps":{"alert":{"category":"x"}}}"#, #"it belongs in "aps" itself."#),
            (#"{"aps":{"order":17}}"#, #"put your own keys beside "aps"."#),
            (#"{"apns":{}}"#, #"is it what you call "apns"?"#),
            (#"{"alert":"x"}"#, "Apple's keys go inside it."),
            (#"{"aps":{"badge":"3"}}"#, "must be a whole number from 0; it is a string"),
            (#"{"aps":{"badge":3.5}}"#, "it is 3.5"),
            (#"{"aps":{"badge":null}}"#, "leave the key out instead of null"),
            (#"{"aps":{"alert":"x","content-available":true}}"#, "Apple wants the number"),
            (#"{"aps":{"interruption-level":"loud"}}"#, #""time-sensitive", "critical"; it is "loud""#),
            (#"{"aps":{"alert":"x","relevance-score":2}}"#, "a number from 0 to 1; it is 2"),
            (#"{"aps":{"content-available":1}}"#, "push_type must be background"),
            (#"{"aps":{"alert":{"\u0074itel":"x"}}}"#, #""titel" is not a key"#),
        ]
    )
    func advice(payload: String, words: String) throws {
        let findings = Self.findings(payload)
        #expect(findings.count == 1, "\(findings)")
        #expect(findings.first?.detail.contains(words) == true, "\(findings)")
    }

    @Test("every finding is told, in the order of the text; escapes in keys change nothing")
    func all() {
        let findings = Self.findings(
            #"{"aps":{"b\u0061dge":"3","sond":"x","alert":{"body":7,"loc-args":[1]},"mutable-content":2}}"#
        )
        #expect(
            findings.map(\.path) == [
                "payload.aps.badge", "payload.aps.sond", "payload.aps.alert.body", "payload.aps.alert.loc-args",
                "payload.aps.alert.loc-args", "payload.aps.mutable-content",
            ]
        )
    }

    @Test("a broadcast may have more bytes but starts nothing")
    func broadcast() {
        let start =
            #"{"aps":{"timestamp":1,"event":"start","alert":"x","attributes-type":"A","attributes":{},"#
            + #""content-state":{}}}"#
        #expect(Self.findings(start, .liveactivity) == [])
        #expect(Self.findings(start, .liveactivity, isBroadcast: true).map(\.path) == ["payload.aps.event"])
        let update = #"{"aps":{"timestamp":1,"event":"update","content-state":{"a":"@"}}}"#
        let long = update.replacing("@", with: String(repeating: "x", count: 5120 - update.utf8.count + 1))
        #expect(Self.findings(long, .liveactivity).map(\.path) == ["payload"])
        #expect(Self.findings(long, .liveactivity, isBroadcast: true) == [])
        #expect(Self.findings(long + " ", .liveactivity, isBroadcast: true).map(\.path) == ["payload"])
    }

    @Test("a message is checked with its push type, and for a priority that Apple does not name")
    func job() throws {
        func finding(_ payload: String, _ extra: String) throws -> PayloadLint.Finding? {
            let body = EnvelopeDecoderTests.body(payload: payload, extra: extra)
            return PayloadLint.first(in: try EnvelopeDecoderTests.decode(body))
        }
        #expect(try finding(#"{"aps":{"alert":"x"}}"#, #""priority":1"#) == nil)
        #expect(try finding(#"{"aps":{"content-available":1}}"#, #""push_type":"background""#) == nil)
        #expect(
            try finding(#"{"aps":{"content-available":1}}"#, #""push_type":"background","priority":1"#)?.path
                == "priority"
        )
        #expect(try finding(#"{}"#, #""push_type":"location","priority":1"#)?.detail.contains("10 or 5") == true)
        #expect(try finding(#"{"aps":{"content-available":1}}"#, #""push_type":"widgets""#) != nil)
        #expect(try finding(#"{"aps":{"sond":1,"badge":"x"}}"#, #""priority":5"#)?.path == "payload.aps.sond")
    }

    @Test("the text that truncation leaves is as good as the whole")
    func truncated() throws {
        let long = String(repeating: "y", count: 5000)
        let job = try PayloadTruncationTests.decode("{\"aps\":{\"alert\":{\"body\":\"\(long)\"}}}")
        #expect(PayloadLint.first(in: job) == nil)
    }

    /// A valid payload of Apple's keys, some of them misspelt, with values that may fit.
    private static func made(_ random: inout SeededRandom) -> [UInt8] {
        let keys = [
            "alert", "badge", "sound", "thread-id", "content-available", "mutable-content", "interruption-level",
            "relevance-score", "timestamp", "event", "content-state", "attributes-type", "attributes",
            "content-changed", "title", "body", "loc-args", "loc-key", "critical", "volume", "titel", "al\\u0065rt", "",
        ]
        let values = [
            "1", "0", "0.5", "-3", "1e-5", "\"x\"", "\"start\"", "\"end\"", "true", "null", "[\"a\",2]", "{}",
        ]
        func object(_ depth: Int) -> String {
            let members = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let isNested = depth > 0 && Int.random(in: 0..<3, using: &random) == 0
                let value = isNested ? object(depth - 1) : values.randomElement(using: &random)!
                return "\"\(keys.randomElement(using: &random)!)\": \(value)"
            }
            return "{\(members.joined(separator: ","))}"
        }
        return Array("{\"aps\":\(object(3)),\"alert\":1}".utf8)
    }

    @Test("whatever is done to a payload, it has findings or none, and nothing else", arguments: 1...10)
    func mutated(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let sources = try (Self.samples("valid") + Self.samples("invalid")).map { ($0.bytes, $0.type ?? .alert) }
        let alphabet = Array("{}[]\",:\\u0aeE.-1tfn \u{1}".utf8) + [0x80, 0xF0, 0xFF]
        let pieces = ["\"aps\":", "\"alert\":{", "null", "\"\\ud83d\\ude00\"", "1e308", "-0", "[[[[", "\"badge\":"]
            .map { Array($0.utf8) }
        var (broken, fine, found) = (0, 0, 0)
        for _ in 0..<5000 {
            var (bytes, type) = sources.randomElement(using: &random)!
            if Bool.random(using: &random) { bytes = Self.made(&random) }
            for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: bytes[at] = alphabet.randomElement(using: &random)!
                case 1: bytes[at] = UInt8.random(in: .min ... .max, using: &random)
                case 2: bytes.insert(alphabet.randomElement(using: &random)!, at: at)
                case 3: bytes.insert(contentsOf: pieces.randomElement(using: &random)!, at: at)
                case 4: bytes.removeSubrange(at..<Int.random(in: at...bytes.count, using: &random))
                default: bytes.remove(at: at)
                }
            }
            if Int.random(in: 0..<4, using: &random) == 0 { type = PushType.allCases.randomElement(using: &random)! }
            let findings = Self.findings(bytes, type, isBroadcast: Bool.random(using: &random))
            for finding in findings { Self.checkDetail(finding) }
            // The same verdict on the grammar as the scanner's own.
            let isObject = bytes.withUnsafeBytes { buffer in
                var scanner = JSONScanner(buffer)
                return (try? scanner.document())?.kind == .object
            }
            #expect(isObject == !findings.contains { $0.path == "payload" }, "seed \(seed): \(findings)")
            if !isObject { broken += 1 } else if findings.isEmpty { fine += 1 } else { found += 1 }
        }
        #expect(broken > 500 && fine > 200 && found > 500, "\(broken) \(fine) \(found)")
    }
}

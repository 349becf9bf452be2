import Foundation
import Push
import TestRandom
import Testing

@Suite("JSON scanner")
struct JSONScannerTests {
    static func scan(_ bytes: [UInt8]) -> Result<JSONValue, JSONFault> {
        bytes.withUnsafeBytes { raw in
            var scanner = JSONScanner(raw)
            return Result { () throws(JSONFault) in try scanner.document() }
        }
    }

    static func foundationAccepts(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    }

    /// Foundation lets a comma stand before a closing brace.
    static func isTrailingComma(_ fault: JSONFault, in bytes: [UInt8]) -> Bool {
        guard fault.offset < bytes.count, "]}".utf8.contains(bytes[fault.offset]) else { return false }
        return bytes[..<fault.offset].last { !" \t\n\r".utf8.contains($0) } == UInt8(ascii: ",")
    }

    @Test("gives the verdict of the corpus", arguments: JSONCorpus.all)
    func corpus(_ text: JSONCase) {
        let result = Self.scan(text.bytes)
        let isAccepted = (try? result.get()) != nil
        #expect(isAccepted == text.isValid, "\(result)")
    }

    @Test("agrees with Foundation where it should", arguments: JSONCorpus.all)
    func foundation(_ text: JSONCase) {
        #expect((Self.foundationAccepts(text.bytes) == text.isValid) == !text.foreign)
    }

    @Test("the corpus is large enough to mean something")
    func size() {
        #expect(JSONCorpus.valid.count >= 80)
        #expect(JSONCorpus.all.count >= 250)
    }

    @Test("agrees with Foundation on mutated texts", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func fuzz(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let seeds = JSONCorpus.all.filter { !$0.foreign && $0.bytes.count < 400 }.map(\.bytes)
        let alphabet = Array("{}[]\",:\\u0019eE+-.tfn dD8 \n\u{1}é😀".utf8) + [0x80, 0xC0, 0xE2, 0xED, 0xF4, 0xFF]
        var accepted = 0
        for _ in 0..<5000 {
            var bytes = seeds.randomElement(using: &random)!
            if Int.random(in: 0..<4, using: &random) == 0 {
                bytes = [0x5B] + bytes + [0x2C] + seeds.randomElement(using: &random)! + [0x5D]
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let at = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes.insert(alphabet.randomElement(using: &random)!, at: at)
                case 1 where at < bytes.count: bytes.remove(at: at)
                case 2 where at < bytes.count: bytes[at] = alphabet.randomElement(using: &random)!
                case 3 where at < bytes.count: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 4 where at < bytes.count: bytes.removeSubrange(at..<min(bytes.count, at + 4))
                default: break
                }
            }
            let ours = Self.scan(bytes)
            let theirs = Self.foundationAccepts(bytes)
            switch ours {
            case .success:
                accepted += 1
                #expect(theirs, "seed \(seed): only the scanner accepts \(bytes)")
            case .failure(let fault):
                // A NUL among the first four bytes makes Foundation guess UTF-16 or UTF-32.
                let guessed = bytes.prefix(4).contains(0) || fault.kind == .byteOrderMark || fault.kind == .tooDeep
                let isForeign = guessed || Self.isTrailingComma(fault, in: bytes)
                #expect(!theirs || isForeign, "seed \(seed): only Foundation accepts \(bytes): \(fault)")
            }
        }
        #expect(accepted > 500, "the mutations leave too little that is valid: \(accepted)")
    }

    @Test("never reads past the end, wherever a text is cut")
    func truncation() {
        let text = Array("{\"a\":[1.5e+3,\"\\ud83d\\ude00é😀\",true,null],\"b\":{\"c\":-0}}".utf8)
        for length in 0..<text.count {
            // A buffer of its own size, so that a sanitizer would see one byte too many.
            #expect(throws: JSONFault.self) { try Self.scan(Array(text[..<length])).get() }
        }
        #expect(throws: Never.self) { try Self.scan(text).get() }
    }

    @Test(
        "names the fault and its place",
        arguments: [
            ("", JSONFault.Kind.unexpectedEnd, 0), ("{\"a\":1,}", .unexpectedByte, 7), ("[1 2]", .unexpectedByte, 3),
            ("\"a\nb\"", .controlCharacter, 2), ("\"\\x\"", .badEscape, 1), ("\"ab\\ud800\"", .loneSurrogate, 3),
            ("[01]", .badNumber, 1), ("[1e999]", .numberOutOfRange, 1), ("{} 1", .trailingBytes, 3),
            ("\u{FEFF}{}", .byteOrderMark, 0), (String(repeating: "[", count: 99), .tooDeep, 64),
        ]
    )
    func faults(text: String, kind: JSONFault.Kind, offset: Int) {
        #expect(Self.scan(Array(text.utf8)) == .failure(JSONFault(kind, at: offset)))
    }

    @Test("refuses 100,000 levels as it refuses 65")
    func depth() {
        for text in ["[", "{\"a\":", "[[{\"a\":"] {
            let bytes = Array(String(repeating: text, count: 100_000).utf8)
            guard case .failure(let fault) = Self.scan(bytes) else {
                Issue.record("accepted")
                continue
            }
            #expect(fault.kind == .tooDeep)
        }
    }

    @Test("levels entered by hand count as levels")
    func openedDepth() {
        let inner = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        for (text, fits) in [("{\"a\":\(inner)}", true), ("{\"a\":[\(inner)]}", false)] {
            let result: Bool = Array(text.utf8).withUnsafeBytes { raw in
                var scanner = JSONScanner(raw)
                do {
                    try scanner.openObject()
                    _ = try scanner.nextKey(first: true)
                    _ = try scanner.value()
                    return try scanner.nextKey(first: false) == nil
                } catch {
                    return false
                }
            }
            #expect(result == fits)
        }
    }

    @Test(
        "resolves escapes as Foundation does",
        arguments: [
            "plain", "\\u0041\\n\\/\\\\\\\"", "\\ud83d\\ude00 é \\u20ac", "\\b\\f\\r\\t\\u0000x", "\\uDBFF\\uDFFF",
        ]
    )
    func unescaping(content: String) throws {
        let text = Array("\"\(content)\"".utf8)
        let expected = try #require(
            try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed) as? String
        )
        let resolved = text.withUnsafeBytes { JSONScanner($0).unescaped(1..<text.count - 1) }
        #expect(String(decoding: resolved, as: UTF8.self) == expected)
    }

    @Test(
        "reads plain whole numbers and nothing else as integers",
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("-12", -12), ("999999999999999999", 999_999_999_999_999_999),
            ("1000000000000000000", nil), ("1.0", nil), ("1e3", nil), ("-999999999999999999", -999_999_999_999_999_999),
        ] as [(String, Int64?)]
    )
    func integers(text: String, value: Int64?) {
        let bytes = Array(text.utf8)
        #expect(bytes.withUnsafeBytes { JSONScanner($0).integer(0..<bytes.count) } == value)
    }
}

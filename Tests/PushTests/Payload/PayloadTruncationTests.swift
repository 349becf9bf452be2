import Foundation
import Push
import TestRandom
import Testing

@Suite("Payload truncation")
struct PayloadTruncationTests {
    /// A payload that is shortened to `limit` bytes in a message of this type, for which filler makes room.
    static func decode(_ payload: String, type: PushType = .alert, fit: PayloadFit = .truncate) throws(Refusal) -> Job {
        let body = EnvelopeDecoderTests.body(payload: payload, extra: "\"push_type\":\"\(type.rawValue)\"")
        return try EnvelopeDecoder.decode(body: Array(body.utf8), fit: fit)
    }

    static func sent(_ job: Job) -> String { job.withPayload { String(decoding: $0, as: UTF8.self) } }

    /// `before` + text + `after` with filler so that `room` bytes are left for the text.
    static func payload(_ text: String, room: Int, type: PushType = .alert) -> (whole: String, frame: (String, String))
    {
        let (before, after) = ("{\"aps\":{\"alert\":{\"title\":\"T\",\"body\":\"", "\"}},\"filler\":\"\"}")
        let missing = type.rules.payloadLimit - room - before.utf8.count - after.utf8.count
        let end = "\"}},\"filler\":\"" + String(repeating: "x", count: missing) + "\"}"
        return (before + text + end, (before, end))
    }

    static func shortened(_ text: String, room: Int, type: PushType = .alert) throws -> String {
        let (whole, frame) = Self.payload(text, room: room, type: type)
        let job = try Self.decode(whole, type: type)
        let isTruncated = job.isTruncated
        #expect(isTruncated)
        let sent = Self.sent(job)
        #expect(sent.utf8.count <= type.rules.payloadLimit)
        // By bytes: a mark at the text's start makes one character with the quote before it.
        #expect(sent.utf8.starts(with: frame.0.utf8) && sent.utf8.reversed().starts(with: frame.1.utf8.reversed()))
        return String(decoding: sent.utf8.dropFirst(frame.0.utf8.count).dropLast(frame.1.utf8.count), as: UTF8.self)
    }

    @Test(
        "the text is cut between characters, as late as fits",
        arguments: [
            ("abcdefghij", 9, "abcdef…"), ("abcdefghij", 4, "a…"), ("abcdefghij", 3, "…"), ("abcdefghij", 2, ""),
            ("abcdefghij", 0, ""), ("ééééé", 9, "ééé…"), ("ééééé", 8, "éé…"), ("😀😀😀", 11, "😀😀…"),
            ("😀😀😀", 10, "😀…"),
            // A family of four, 25 bytes; flags; a letter with two marks; a line end of two bytes.
            ("a👨‍👩‍👧‍👦b", 26, "a…"), ("ab👨‍👩‍👧‍👦cdefg", 30, "ab👨‍👩‍👧‍👦…"), ("🇩🇪🇫🇷", 15, "🇩🇪…"), ("🇩🇪🇫🇷", 10, "…"),
            ("e\u{301}\u{302}xyzw", 8, "e\u{301}\u{302}…"), ("e\u{301}\u{302}xyz", 7, "…"), ("👍🏽👍🏽", 12, "👍🏽…"),
            ("각각각각", 8, "각…"),
        ]
    )
    func cuts(text: String, room: Int, expected: String) throws {
        #expect(try Self.shortened(text, room: room) == expected)
    }

    @Test(
        "escapes stay as they were written and are never cut",
        arguments: [
            (#"\n\n\n\n"#, 7, #"\n\n…"#), (#"\u00e9\u00e9"#, 9, #"\u00e9…"#), (#"\u00e9\u00e9"#, 8, "…"),
            (#"\ud83d\ude00\ud83d\ude00"#, 15, #"\ud83d\ude00…"#), (#"\ud83d\ude00\ud83d\ude00"#, 14, "…"),
            (#"a\"b\\c\/d"#, 9, #"a\"b\\…"#), (#"e\u0301xyzwv"#, 10, #"e\u0301…"#), (#"e\u0301xyzwv"#, 9, "…"),
            (#"\r\nabcd"#, 7, #"\r\n…"#), (#"\r\nabcd"#, 6, "…"), (#"\u20ac\u20ac€"#, 12, #"\u20ac…"#),
            (#"\u0000\u0000"#, 9, #"\u0000…"#),
        ]
    )
    func escapes(text: String, room: Int, expected: String) throws {
        #expect(try Self.shortened(text, room: room) == expected)
    }

    @Test("an alert that is the text itself is shortened, and so is a Live Activity's; other types keep their limits")
    func places() throws {
        let long = String(repeating: "y", count: 6000)
        let plain = Self.sent(try Self.decode("{\"aps\":{\"alert\":\"\(long)\",\"badge\":1}}"))
        #expect(plain.utf8.count == 4096 && plain.hasSuffix("y…\",\"badge\":1}}"))
        let activity = Self.sent(
            try Self.decode("{\"aps\":{\"event\":\"update\",\"alert\":{\"body\":\"\(long)\"}}}", type: .liveactivity)
        )
        #expect(activity.utf8.count == 4096 && activity.hasSuffix("y…\"}}}"))
        #expect(Self.sent(try Self.decode("{\"aps\":{\"alert\":\"\(long)\"}}", type: .voip)).utf8.count == 5120)
        let escaped = Self.sent(try Self.decode(#"{"\u0061ps":{"al\u0065rt":{"bod\u0079":""# + long + #""}}}"#))
        #expect(escaped.utf8.count == 4096 && escaped.hasPrefix(#"{"\u0061ps":{"al\u0065rt":{"bod\u0079":"yyy"#))
        let twice = Self.sent(try Self.decode("{\"aps\":{\"alert\":\"first\",\"alert\":\"\(long)\"}}"))
        #expect(twice.hasPrefix("{\"aps\":{\"alert\":\"first\",\"alert\":\"yyy"))
    }

    @Test(
        "what no shorter text can help is refused as before",
        arguments: [
            "{\"aps\":{},\"a\":\"@\"}", "{\"a\":\"@\"}", "{\"aps\":{\"alert\":{\"title\":\"@\"}}}",
            "{\"aps\":{\"alert\":{\"body\":\"text\"}},\"a\":\"@\"}", "{\"aps\":{\"alert\":\"\"},\"a\":\"@\"}",
            "{\"aps\":[\"alert\",\"@\"]}", "{\"aps\":{\"alert\":{\"body\":{\"loc-key\":\"@\"}}}}",
            "{\"alert\":\"@\",\"aps\":{\"alert\":7}}", "{\"aps\":\"@\"}",
        ]
    )
    func hopeless(pattern: String) {
        let payload = pattern.replacing("@", with: String(repeating: "z", count: 4200))
        for fit in PayloadFit.allCases {
            #expect(throws: Refusal.self) { try Self.decode(payload, fit: fit) }
            do throws(Refusal) {
                _ = try Self.decode(payload, fit: fit)
            } catch {
                #expect(error.reason == .payloadTooLarge && error.field == "payload")
                #expect(error.detail.contains("even without the alert's text") == (fit == .truncate))
            }
        }
    }

    @Test("what fits is left alone, and the body always keeps the whole text")
    func untouched() throws {
        let job = try Self.decode("{\"aps\":{\"alert\":\"short\"}}")
        #expect(!job.isTruncated && job.outgoing == job.body)
        let long = try Self.decode("{\"aps\":{\"alert\":\"\(String(repeating: "y", count: 5000))\"}}")
        #expect(long.isTruncated && long.body.count > 5000 && long.outgoing.count == 4096)
        #expect(long.body(withTokens: [0]).count == long.body.count)
        // A retry carries the whole text and is shortened to the same bytes.
        let again = try EnvelopeDecoder.decode(body: long.body(withTokens: [0]), fit: .truncate)
        #expect(again.outgoing == long.outgoing)
    }

    // MARK: By chance

    /// Pieces of text, each the raw JSON of whole characters or of parts of them.
    private static let pieces = [
        "a", "Order ", " ", "é", "e\u{301}", "\u{301}", "€", "😀", "👍🏽", "👨‍👩‍👧‍👦", "\u{200D}", "🇩🇪", "🇫", "각", "ᄀ", "ᅡ",
        "\u{600}",
        "नि", "\u{FE0F}", "❤️‍🔥", "\\n", "\\r", "\\\"", "\\\\", "\\/", "\\t", "\\u0041", "\\u00e9", "\\u0301", "\\u20AC",
        "\\ud83d\\ude00", "\\u200d", "\\ud83d\\udc69", "\\uD83C\\uDDE9", "\\ud83c\\uddea", "\\u0000", "שלום", "漢字", "…",
    ]

    @Test("random texts: the longest prefix of whole characters that fits, and nothing else changes", arguments: 1...8)
    func walk(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var sizes: Set<Int> = []
        for _ in 0..<250 {
            var text = ""
            for _ in 0..<Int.random(in: 1...60, using: &random) { text += Self.pieces.randomElement(using: &random)! }
            let room = Int.random(in: 0..<text.utf8.count, using: &random)
            let result = try Self.shortened(text, room: room)
            #expect(result.utf8.count <= room)
            sizes.insert(room - result.utf8.count)
            guard room >= 3 else {
                #expect(result == "")
                continue
            }
            // What JSON readers see, by Foundation's reader rather than ours.
            let whole = try Self.value(text)
            let short = try Self.value(result)
            #expect(short.unicodeScalars.last == "…")
            let kept = String(String.UnicodeScalarView(short.unicodeScalars.dropLast()))
            let characters = Array(whole)
            let count = (0...characters.count).first { String(characters[..<$0]).utf8.elementsEqual(kept.utf8) }
            let number = try #require(count, "seed \(seed): \(text.debugDescription) cut inside a character")
            #expect(number < characters.count)
            // One character more does not fit: its raw bytes are found by its share of the raw text.
            let rawKept = String(String.UnicodeScalarView(result.unicodeScalars.dropLast()))
            #expect(text.utf8.starts(with: rawKept.utf8))
            let next = try Self.rawEnd(of: String(characters[...number]), in: text)
            #expect(next + 3 > room, "seed \(seed): \(text.debugDescription) could have kept more in \(room)")
        }
        #expect(sizes.count > 3)
    }

    private static func value(_ raw: String) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data("[\"\(raw)\"]".utf8)) as? [String]
        return try #require(object?.first)
    }

    /// The length of the shortest raw prefix that reads as `text`; found by trying, not by the code under test.
    private static func rawEnd(of text: String, in raw: String) throws -> Int {
        let scalars = raw.unicodeScalars
        var end = scalars.startIndex
        while true {
            let prefix = String(scalars[..<end])
            if let read = try? Self.value(prefix), read.utf8.elementsEqual(text.utf8) { return prefix.utf8.count }
            try #require(end < scalars.endIndex)
            end = scalars.index(after: end)
        }
    }
}

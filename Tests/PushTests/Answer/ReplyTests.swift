import Push
import TestRandom
import Testing

@Suite("Reply")
struct ReplyTests {
    static func reply(_ body: String) -> Reply {
        Array(body.utf8).withUnsafeBytes { Reply(status: 410, body: $0) }
    }

    @Test("reads reason and time")
    func reads() {
        let reply = Self.reply("{\"reason\":\"Unregistered\",\"timestamp\":1700000000123}")
        #expect(
            reply == Reply(status: 410, reason: .unregistered, timestamp: UnixTime(milliseconds: 1_700_000_000_123))
        )
        #expect(
            Self.reply(" { \"timestamp\" : 5, \"x\": [{}], \"reason\" : \"Bad\\u0050ath\" } ").reason?.text == "BadPath"
        )
    }

    @Test(
        "makes nothing of anything else",
        arguments: [
            "", " ", "{}", "[]", "null", "<html>Bad Gateway</html>", "{\"reason\":", "{\"reason\":\"Unregistered\"",
            "{\"reason\":\"Unregistered\"} x", "{\"reason\":5}", "{\"reason\":\"\"}", "{\"reason\":null}",
            "{\"Reason\":\"Unregistered\"}", "{\"reason\":\"a\\r\\nb\"}", "{\"reason\":\"\u{1B}[2J\"}",
            "{\"reason\":\"é\"}",
            "{\"reason\":\"\(String(repeating: "x", count: 65))\"}", "Unregistered", "{\"reason\":{\"reason\":\"x\"}}",
            String(repeating: "[", count: 100_000),
        ]
    )
    func garbage(body: String) {
        #expect(Self.reply(body) == Reply(status: 410))
    }

    @Test(
        "drops a time that cannot be one",
        arguments: ["-1", "1e12", "1.5", "\"1700000000123\"", "99999999999999999999", "999999999999999999", "null"]
    )
    func times(time: String) {
        let reply = Self.reply("{\"reason\":\"Unregistered\",\"timestamp\":\(time)}")
        #expect(reply == Reply(status: 410, reason: .unregistered))
    }

    @Test("garbage bytes never trap", arguments: [21, 22] as [UInt64])
    func fuzz(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let source = Array("{\"reason\":\"Unregistered\",\"timestamp\":1700000000123}".utf8)
        for _ in 0..<3000 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
            let reply = bytes.withUnsafeBytes { Reply(status: 410, body: $0) }
            #expect(reply.reason.map { $0.text.utf8.allSatisfy { (0x20...0x7E).contains($0) } } ?? true, "seed \(seed)")
        }
    }

    @Test("debug data may be JSON, text or nothing")
    func debugData() {
        func reason(_ text: String) -> String? {
            Array(text.utf8).withUnsafeBytes { Reply.reason(inDebugData: $0)?.text }
        }
        #expect(reason("{\"reason\":\"BadCertificateEnvironment\"}") == "BadCertificateEnvironment")
        #expect(reason("Stream limit exceeded") == nil)
        #expect(reason("") == nil)
    }

    @Test(
        "Retry-After is seconds or a date, and capped",
        arguments: [
            ("0", .zero), ("7", .seconds(7)), ("3600", .seconds(3600)), ("86400", .seconds(3600)),
            ("999999999999999999", .seconds(3600)), ("9999999999999999999", nil), ("", nil), ("-1", nil), ("1.5", nil),
            ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Tue, 14 Nov 2023 22:13:30 GMT", .seconds(10)),
            ("Tue, 14 Nov 2023 22:13:19 GMT", .zero), ("Thu, 29 Feb 2024 00:00:00 GMT", .seconds(3600)),
            ("Tue, 14 Nov 2023 22:13:30 CET", nil), ("Tue, 14 Nox 2023 22:13:30 GMT", nil),
            ("Tue, 14 Nov 2023 25:13:30 GMT", nil), ("Tue, 00 Nov 2023 22:13:30 GMT", nil),
        ] as [(String, Duration?)]
    )
    func retryAfter(text: String, expected: Duration?) {
        // 2023-11-14 22:13:20
        let now = UnixTime(seconds: 1_700_000_000)
        #expect(Array(text.utf8).withUnsafeBytes { RetryAfter.parse($0, now: now) } == expected)
    }
}

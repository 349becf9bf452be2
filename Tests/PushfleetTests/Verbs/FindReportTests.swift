internal import Push
internal import Testing

@testable internal import Desk
@testable internal import Store
@testable import pushfleet

@Suite struct FindReportTests {
    private static let time = UnixTime(milliseconds: 1_767_225_600_000)

    private static func record(
        _ tokens: [TokenTrace],
        id: String = "order-17",
        refusal: UInt16 = 0,
        end: TrailEnd = .acknowledged
    ) -> [RedisReply] {
        var lists: [RedisReply] = []
        let message = MessageTrace(
            line: 1,
            received: Self.time,
            published: Self.time - .milliseconds(1500),
            refusal: refusal,
            end: end,
            ended: Self.time + .seconds(1)
        )
        let log = TrailLog()
        _ = tokens.withUnsafeBufferPointer { log.append(message, id: Array(id.utf8), tokens: $0, earlier: []) }
        log.take(session: 1) { list, element in
            if list & 0x100 == 0 { lists.append(.array([.string(Array(element))])) }
        }
        return lists
    }

    /// What a search finds when Redis answers with this.
    private static func find(_ id: String, _ lists: [RedisReply], index: [String: String] = [:]) -> TrailSearch.Findings
    {
        var search = TrailSearch(.message(Array(id.utf8)))
        func hash(_ fields: [String: String]) -> RedisReply {
            .array(fields.flatMap { [.string(Array($0.key.utf8)), .string(Array($0.value.utf8))] })
        }
        var replies = [hash(["1767225600": "1767225600000 1767225700000 10 10"].merging(index) { $1 })]
        let names = [
            "worker": "evil\u{1b}[31m", "1": "line now:com.example.shop", "2": "answer 410 Unregistered",
            "3": "reason invalid_json", "4": "failure timeout maybe", "5": "reason age_limit",
        ]
        var isAskingForNames = false
        while true {
            switch search.next(replies) {
            case .done(let findings): return findings
            case .ask(let commands):
                replies = isAskingForNames ? commands.map { _ in hash(names) } : lists
                isAskingForNames = true
            }
        }
    }

    private static func token(_ number: Int, _ state: TrailState, name: UInt16 = 0, detail: UInt32 = 0) -> TokenTrace {
        var trace = TokenTrace()
        let digits = Array(String(number + 0x1000_0000, radix: 16).utf8) + Array("00112233445566778899aabb".utf8)
        digits.withUnsafeBytes { trace.identify($0, hash: Fingerprint.of($0)) }
        (trace.state, trace.isAnswered, trace.sends, trace.time, trace.latency) = (state, true, 1, 60, 40)
        (trace.name, trace.detail) = (name, detail)
        return trace
    }

    private static func lines(_ id: String, _ lists: [RedisReply], all: Bool = false) -> [String] {
        FindReport(id, .messageID, Self.find(id, lists), token: nil).lines(all: all)
    }

    @Test func `The story has Apple's word, what came of it, and what to do`() {
        let lines = Self.lines("order-17", Self.record([Self.token(1, .gone, name: 2, detail: 1_767_000_000)]))
        let text = lines.joined(separator: "\n")
        for part in [
            "message order-17 (com.example.shop, now)", "2025-12-31 23:59:58.500 UTC  published", "received by evil",
            "attempt 1: Apple answered 410 Unregistered (40 ms, connection 0", "the token is gone",
            "invalid since 2025-12-29", "What to do:",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(!text.contains("\u{1b}"))
    }

    @Test func `A refused message, one without an answer and one still under way are told as such`() {
        let refused = Self.lines("order-17", Self.record([], refusal: 3)).joined(separator: "\n")
        #expect(refused.contains("dead-lettered whole: invalid_json") && refused.contains("JSON library"))
        let lost = Self.lines("order-17", Self.record([Self.token(1, .deadLetter, name: 4, detail: 5)])).joined(
            separator: "\n"
        )
        #expect(lost.contains("no answer: timeout, Apple may have had it") && lost.contains("dead-lettered: age_limit"))
        var waiting = Self.token(1, .sent)
        waiting.isAnswered = false
        let open = Self.lines("order-17", Self.record([waiting], end: .open)).joined(separator: "\n")
        #expect(open.contains("sent; no answer so far") && open.contains("not over when this was written"))
    }

    @Test func `Of many tokens those that failed are shown first, and how to see the others`() {
        let tokens = (0..<100).map { Self.token($0, $0 == 77 ? .gone : .delivered, name: $0 == 77 ? 2 : 0) }
        let lists = Self.record(tokens)
        let some = Self.lines("order-17", lists)
        #expect(some.contains("  100 tokens: 99 delivered, 1 gone") && some.contains { $0.contains(": gone") })
        #expect(some.contains { $0.contains("and 88 more") })
        #expect(Self.lines("order-17", lists, all: true).count { $0.hasPrefix("  token ") } == 100)
    }

    @Test func `Hostile ids are shown and never executed`() throws {
        let id = "a\u{1b}]0;x\u{7}\n\\ü"
        let report = FindReport(
            id,
            .messageID,
            Self.find(id, Self.record([Self.token(1, .delivered)], id: id)),
            token: nil
        )
        #expect(report.searched == "a\\u{1b}]0;x\\u{7}\\u{a}\\\\\\u{fc}")
        #expect(try #require(report.messages.first).messageId == report.searched)
        #expect(
            report.lines(all: false).allSatisfy {
                $0.unicodeScalars.allSatisfy { $0 == "…" || (" "..."~").contains($0) }
            }
        )
    }

    @Test func `Where nothing is found it is told since when there is a trail, and what was lost`() {
        func nothing(_ index: [String: String], isOn: Bool = true) -> String {
            FindReport("x", .token, Self.find("x", [], index: index), token: "x").nothing(isOn: isOn, app: nil)
        }
        #expect(nothing([:]).contains("the trail begins 2026-01-01 00:00:00.000 UTC"))
        #expect(
            nothing(["plain_since": "1767225660000"]).contains("for what went well at once 2026-01-01 00:01:00.000 UTC")
        )
        #expect(nothing(["kept_since": "1767225660000"]).contains("for everything else 2026-01-01 00:01:00.000 UTC"))
        #expect(nothing(["lost": "17", "lost_at": "1767225660000"]).contains("17 messages could not be written"))
    }
}

import Broker
import Foundation
import Push
import Testing

@testable import Desk
@testable import pushfleet

@Suite struct DeadReportTests {
    private static let hostile = "\u{1B}]0;pwned\u{7}\u{202E}\u{9B}2J<script>"
    private static let now = UnixTime(milliseconds: 1_790_000_090_000)

    private static func letter(app: String = "com.example.shop", body: String? = nil) -> DeadLetter {
        let token = String(repeating: "ab", count: 32)
        return DeadLetter(
            routingKey: "\(app).now",
            messageID: Array("\(Self.hostile)".utf8),
            headers: [
                Header("x-pushfleet-reason", .string("apns_rejected")),
                Header("x-pushfleet-apns-reason", .string("BadTopic")),
                Header("x-pushfleet-detail", .string(Self.hostile)),
                Header("x-pushfleet-died-at", .integer(1_790_000_000_000)), Header(Self.hostile, .string(Self.hostile)),
            ],
            body: Array((body ?? #"{"app":"\#(app)","tokens":["\#(token)"],"payload":{"aps":{}}}"#).utf8)
        )
    }

    private static func show(_ letter: DeadLetter, tokens: Bool = false) -> DeadShowReport {
        let rules = ReplayRules(apps: ["com.example.shop": .init(fit: .reject, lint: .off)])
        return DeadShowReport(
            letter,
            problem: rules.problem(of: letter, now: Self.now),
            environment: "production",
            showsTokens: tokens,
            now: Self.now
        )
    }

    private static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
            && !text.unicodeScalars.contains("\u{202E}")
    }

    @Test func `What a publisher wrote is shown and never executed`() throws {
        let letter = Self.letter(body: "{\"\(Self.hostile)\"}")
        let report = Self.show(letter)
        #expect(Self.isHarmless(report.lines.joined(separator: "\n")))
        #expect(report.lines.joined().contains("\\u{1b}]0;pwned"))
        let json = DeadLetterFile.ascii(String(decoding: try Terminal.encode(report), as: UTF8.self))
        #expect(json.utf8.allSatisfy { $0 == 0x0a || ($0 >= 0x20 && $0 < 0x7f) })
        let back = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect((back["body"] as? String)?.contains(Self.hostile) == true)
    }

    /// As a publisher with another tool may have written it: nothing in a letter is to be trusted.
    @Test func `Hostile apps, reasons and ids are escaped in lists, and so are keys in what is wrong`() throws {
        let letter = DeadLetter(
            routingKey: "\(Self.hostile).now",
            messageID: Array(Self.hostile.utf8),
            headers: ["reason", "apns-reason", "field", "detail", "worker", "version"].map {
                Header("x-pushfleet-\($0)", .string(Self.hostile))
            },
            body: Array("{".utf8)
        )
        let look = DeadLetterLook([letter], DeadLetterWalk.End(ready: 1, seen: 1, others: 0))
        let list = DeadListReport(look, limit: 20, now: Self.now)
        let text = list.lines(isSummary: false).joined(separator: "\n")
        #expect(Self.isHarmless(text) && text.components(separatedBy: "\\u{1b}]0;pwned").count == 8, "\(text)")
        #expect(Self.isHarmless(Self.show(letter).lines.joined(separator: "\n")))
        let json = DeadLetterFile.ascii(String(decoding: try Terminal.encode(list), as: UTF8.self))
        #expect(json.utf8.allSatisfy { $0 == 0x0a || ($0 >= 0x20 && $0 < 0x7f) })

        let rules = ReplayRules(apps: ["shop": .init(fit: .reject, lint: .strict)])
        let hostile = #"\u001b]0;pwned\u0007\u202e\u009b2J"#
        for body in [
            #"{"app":"\#(hostile)","tokens":["00ff"],"payload":{"aps":{}}}"#,
            #"{"app":"shop","tokens":["\#(hostile)"],"payload":{"aps":{}}}"#,
            #"{"app":"shop","tokens":["00ff"],"\#(hostile)":1,"payload":{"aps":{}}}"#,
            #"{"app":"shop","tokens":["00ff"],"push_type":"\#(hostile)","payload":{"aps":{}}}"#,
            #"{"app":"shop","tokens":["00ff"],"payload":{"aps":{"\#(hostile)":1}}}"#,
            #"{"app":"shop","tokens":["00ff"],"payload":{"aps":{"alert":{"\#(hostile)":1}}}}"#,
        ] {
            let problem = try #require(
                rules.problem(routingKey: "shop.now", body: Array(body.utf8), now: Self.now),
                "\(body)"
            )
            #expect(Self.isHarmless(problem.sentence), "\(body)")
        }
    }

    @Test func `One letter is shown with Apple's reason, the next step, and whether it can be replayed`() {
        let text = Self.show(Self.letter()).lines.joined(separator: "\n")
        #expect(text.contains("BadTopic:") && text.contains("What to do:"))
        #expect(text.contains("workers would take it as it is") && text.contains("1m 30s ago"))
        #expect(text.contains("com.example.shop, now, production"))
        #expect(text.contains("abab…abab") && !text.contains("abababab"))
        #expect(Self.show(Self.letter(), tokens: true).body.contains("abababab"))
        let bad = Self.show(Self.letter(app: "shop"))
        #expect(!bad.canReplay && bad.problem?.contains("unknown_app (app)") == true)
    }

    @Test func `A job says what stays and why, and what to do`() {
        var report = DeadLetterReport(total: 10)
        (report.done, report.failed, report.missing) = (5, 1, 2)
        report.trouble = "RabbitMQ refused it; is a queue full?"
        report.isStopped = true
        let id = Self.letter().id
        for _ in 0..<2 { report.refuse(id, Refusal(.invalidJSON, "The body is not valid JSON.")) }
        let lines = DeadJob.lines(report, "replayed")
        #expect(lines.first == "replayed 5 of 10 dead letters")
        #expect(lines.contains("  2 × invalid_json: The body is not valid JSON. (such as \(id))"))
        #expect(
            lines.contains { $0.contains("is a queue full?") } && lines.last == "stopped; run it again for the rest"
        )
        #expect(!report.isComplete && report.decided == 10)
    }

    @Test func `Progress has percent, rate and what remains`() {
        var report = DeadLetterReport(total: 1000)
        report.done = 250
        #expect(
            DeadProgress.line(report, "replayed", after: .seconds(5))
                == "replayed 250 of 1000 (25 %), 50 a second, 16s left"
        )
        #expect(DeadProgress.line(DeadLetterReport(total: 0), "replayed", after: .zero).contains("100 %"))
    }
}

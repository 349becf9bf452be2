import Broker
import Push
import Testing

@testable import Dashboard
@testable import Desk

@Suite struct DeadTests {
    private static let now = UnixTime(milliseconds: 1_767_225_600_000)

    private static func letter(_ number: Int, reason: String = "expired", apns: String? = nil) -> DeadLetter {
        var headers = [
            Header("x-pushfleet-reason", .string(reason)),
            Header("x-pushfleet-died-at", .integer(self.now.milliseconds - Int64(number / 2) * 1000)),
        ]
        if let apns { headers.append(Header("x-pushfleet-apns-reason", .string(apns))) }
        return DeadLetter(
            routingKey: "com.example.shop.\(number.isMultiple(of: 2) ? "now" : "bulk")",
            messageID: Array("order-\(number)".utf8),
            headers: headers,
            body: Array(#"{"app":"com.example.shop","tokens":["\#(String(repeating: "ab", count: 32))"]}"#.utf8)
        )
    }

    private static func contents(_ letters: [DeadLetter]) -> DeadIndex.Contents {
        DeadIndex.Contents(letters: letters.sorted(by: DeadLetterLook.isLater), whole: [:], ready: letters.count)
    }

    private static func page(_ contents: DeadIndex.Contents, _ query: String) throws -> DeadPage {
        let parameters = try Parameters(query, of: .dead)
        return DeadPage(
            contents,
            try DeadQuestion(parameters),
            after: try parameters.text("after").flatMap { DeadCursor($0) },
            limit: try parameters.limit(),
            messages: nil,
            at: Self.now
        )
    }

    @Test func `pages go through all letters once, also when some of them leave or come meanwhile`() throws {
        let letters = (0..<25).map { Self.letter($0) }
        var seen: [String] = []
        var next: String?
        repeat {
            // Two to each second: the id decides.
            let page = try Self.page(Self.contents(letters), "limit=4" + (next.map { "&after=\($0)" } ?? ""))
            seen += page.items.map(\.id)
            #expect(page.matched == 25)
            next = page.next
        } while next != nil
        #expect(seen == Self.contents(letters).letters.map { "\($0.id)" })

        let first = try Self.page(Self.contents(letters), "limit=4")
        let gone = Set(first.items.map(\.id))
        let rest = letters.filter { !gone.contains("\($0.id)") } + [Self.letter(-2), Self.letter(-1)]
        let second = try Self.page(Self.contents(rest), "limit=4&after=\(try #require(first.next))")
        #expect(second.items.map(\.id) == Array(seen[4..<8]))
    }

    @Test func `groups are of what fits but for the reasons`() throws {
        let contents = Self.contents(
            (0..<3).map { Self.letter($0) } + (3..<5).map { Self.letter($0, reason: "apns_rejected", apns: "BadTopic") }
        )
        let page = try Self.page(contents, "reason=apns_rejected")
        #expect(page.matched == 2 && page.indexed == 5)
        #expect(
            page.groups == [
                DeadPage.Group(reason: "expired", apnsReason: nil, count: 3),
                DeadPage.Group(reason: "apns_rejected", apnsReason: "BadTopic", count: 2),
            ]
        )
        #expect(try Self.page(contents, "lane=now").matched == 3)
        #expect(try Self.page(contents, "q=order-4").items.map(\.messageId) == ["order-4"])
        #expect(try Self.page(contents, "min_age_ms=1000&max_age_ms=1000").matched == 2)
    }

    @Test func `what a filter chooses is no more than the operator was shown`() throws {
        let letters = (0..<5).map { Self.letter($0) }
        func ids(_ body: String) throws -> Set<DeadLetterID> {
            let selection = try DeadSelection(Array(body.utf8), hasRate: false)
            return try selection.named ?? selection.select(letters, at: Self.now)
        }
        #expect(try ids(#"{"filter":{"lane":"now"},"expected":3}"#).count == 3)
        let problem = #expect(throws: Problem.self) { try ids(#"{"filter":{},"expected":4}"#) }
        #expect(problem?.status == 409 && problem?.code == .changed)
        let named = try DeadSelection(Array(#"{"ids":["\#(letters[0].id)","x"],"expected":2}"#.utf8), hasRate: false)
        #expect(named.named == [letters[0].id] && named.strangers == 1)
    }

    @Test func `only who may act sees tokens`() throws {
        let letter = Self.letter(1)
        let rules = ReplayRules(apps: [:])
        for mayAct in [true, false] {
            let detail = DeadDetail(letter, rules: rules, showsTokens: mayAct, at: Self.now)
            let text = String(decoding: Answer.encode(detail), as: UTF8.self)
            #expect(text.contains(String(repeating: "ab", count: 32)) == mayAct)
            #expect(text.contains("\"can_replay\":false") && text.contains("The fleet has no app"))
        }
    }

    @Test(arguments: [
        "", "-", "x-1", "0123456789abcdef01234567", "0123456789abcdef01234567-", "0123456789abcdef01234567-x",
    ])
    func `what is no cursor is refused`(text: String) {
        #expect(DeadCursor(text) == nil)
    }
}

import Broker
import Push
import Testing

@testable import Desk

@Suite struct DeadLetterTests {
    /// A letter that lies in no queue.
    static func letter(_ message: Message) -> DeadLetter {
        let foreign = message.properties.headers.filter { !$0.name.hasPrefix("x-") }
        return DeadLetter(copyOf: message, foreign: foreign)
    }

    static func letter(_ number: Int) -> DeadLetter { Self.letter(DeadQueue.letter(number)) }

    @Test func `An id is made of what tells letters apart, and of nothing that a look changes`() throws {
        let message = DeadQueue.letter(1)
        let letter = Self.letter(message)
        var looked = message
        looked.properties.headers.append(Header("x-delivery-count", .integer(17)))
        #expect(Self.letter(looked).id == letter.id)
        #expect(DeadLetterID("\(letter.id)") == letter.id)
        #expect("\(letter.id)".count == 24)

        var others: [Message] = [DeadQueue.letter(2)]
        var other = message
        other.body += [32]
        others.append(other)
        other = message
        other.routingKey = "com.example.shop.bulk"
        others.append(other)
        for (index, value) in [
            (0, HeaderValue.integer(4)), (1, .integer(5)), (3, .string("expired")), (6, .integer(1)),
        ] {
            other = message
            other.properties.headers[index].value = value
            others.append(other)
        }
        other = message
        other.properties.messageID = []
        others.append(other)
        #expect(Set(others.map { Self.letter($0).id } + [letter.id]).count == others.count + 1)
        // What belongs to one part is no part of its neighbour.
        #expect(DeadLetterID(hashing: [[1, 2], [3]]) != DeadLetterID(hashing: [[1], [2, 3]]))
    }

    @Test(arguments: [
        "", "1c9a2f0b6d3e48579a0b1c2", "1c9a2f0b6d3e48579a0b1c2dd", "+c9a2f0b6d3e48579a0b1c2d",
        "żc9a2f0b6d3e48579a0b1c2",
    ])
    func `What is no id is refused`(text: String) {
        #expect(DeadLetterID(text) == nil)
    }

    @Test func `Headers of any type and size are read as far as they go`() {
        let odd = Header("x-pushfleet-attempt", .string("many"))
        let huge = Header("x-pushfleet-copy", .integer(.max))
        let late = Header("x-pushfleet-died-at", .integer(-5))
        let letter = DeadLetter(
            routingKey: "\u{1B}[2J.now",
            messageID: [0xff],
            headers: [odd, huge, late, Header("x-death", .array([.string("odd")]))],
            body: Array("{".utf8)
        )
        #expect(letter.attempts == 0 && letter.copies == 1_000_000 && letter.diedAt == nil)
        #expect(letter.reason == "unknown" && letter.tokens == nil && !letter.isUnfinished)
        #expect(letter.app == "\u{1B}[2J" && letter.lane == .now)
        let body = #"{"app":"shop","tokens":["00ff"],"payload":{"aps":{}}}"#
        let elsewhere = DeadLetter(routingKey: "urgent", messageID: [], headers: [], body: Array(body.utf8))
        #expect(elsewhere.app == "shop" && elsewhere.lane == nil && elsewhere.tokens == 1)
    }

    @Test func `A filter takes what fits all of it`() {
        let letter = Self.letter(7)
        let died = UnixTime(milliseconds: 1_790_000_000_007)
        func filter(_ change: (inout DeadLetterFilter) -> Void) -> Bool {
            var filter = DeadLetterFilter()
            change(&filter)
            return filter.matches(letter)
        }
        #expect(filter { _ in })
        #expect(filter { $0.app = DeadQueue.app } && !filter { $0.app = "shop" })
        #expect(filter { $0.lane = .now } && !filter { $0.lane = .bulk })
        #expect(filter { $0.reason = "apns_rejected" } && !filter { $0.reason = "expired" })
        #expect(filter { $0.apnsReason = "BadTopic" } && !filter { $0.apnsReason = "Gone" })
        #expect(filter { $0.diedSince = died } && !filter { $0.diedBefore = died })
        #expect(
            filter { $0.diedBefore = died + .milliseconds(1) } && !filter { $0.diedSince = died + .milliseconds(1) }
        )
        #expect(filter { $0.messageID = Array("order-7".utf8) } && !filter { $0.messageID = Array("order".utf8) })
        #expect(filter { $0.text = "der-7" } && filter { $0.text = "Becau" } && !filter { $0.text = "order-8" })
        #expect(filter { $0.ids = [letter.id] } && !filter { $0.ids = [] })
        #expect(!filter { ($0.app, $0.reason) = (DeadQueue.app, "expired") })
        var reasons = DeadLetterFilter()
        (reasons.reason, reasons.app) = ("expired", DeadQueue.app)
        #expect(reasons.withoutReasons.matches(letter))
        let timeless = DeadLetter(routingKey: "a.now", messageID: [], headers: [], body: [])
        var ever = DeadLetterFilter()
        ever.diedBefore = UnixTime(milliseconds: .max)
        #expect(!ever.matches(timeless))
    }

    @Test func `Groups are counted by app and reasons, the largest first`() {
        let letters = (0..<5).map { Self.letter(DeadQueue.letter($0, app: $0 < 3 ? "a" : "b")) }
        let groups = DeadLetterGroup.of(letters)
        #expect(groups.map(\.app) == ["a", "b"] && groups.map(\.count) == [3, 2] && groups.map(\.tokens) == [3, 2])
        #expect(DeadLetterGroup.of(letters, byApp: false).map(\.count) == [5])
    }

    @Test func `Tokens are shortened wherever they stand, and nothing else is`() {
        let token = String(repeating: "ab", count: 32)
        let cases = [
            #"{"app":"a","tokens":["\#(token)","00ff"],"payload":{"aps":{"alert":"feed 12345"}}}"#:
                #"{"app":"a","tokens":["abab…abab","…(4)"],"payload":{"aps":{"alert":"feed 12345"}}}"#,
            #"{"tokens":["\#(token)""#: #"{"tokens":["abab…abab""#,
            "": "",
        ]
        for (body, masked) in cases {
            #expect(String(decoding: MaskedTokens.body(Array(body.utf8)), as: UTF8.self) == masked)
        }
    }
}

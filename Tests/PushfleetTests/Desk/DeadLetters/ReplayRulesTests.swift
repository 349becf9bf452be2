import Broker
import Push
import Testing

@testable import Desk

@Suite struct ReplayRulesTests {
    static let rules = ReplayRules(apps: [
        DeadQueue.app: .init(fit: .reject, lint: .off), "strict": .init(fit: .reject, lint: .strict),
        "short": .init(fit: .truncate, lint: .off),
    ])
    private static let now = UnixTime(seconds: 1_790_000_000)

    private static func body(_ more: String = "", app: String = DeadQueue.app, payload: String = #"{"aps":{}}"#)
        -> String
    {
        #"{"app":"\#(app)","tokens":["00ff"],\#(more)"payload":\#(payload)}"#
    }

    private static let long = #"{"aps":{"alert":"\#(String(repeating: "x", count: 5000))"}}"#

    static let cases: [(String, String, DeadLetterReason?, String?)] = [
        ("com.example.shop.now", Self.body(), nil, nil),
        ("com.example.shop.urgent", Self.body(), .unroutableLane, "routing key"),
        ("now", Self.body(), .unroutableLane, "routing key"),
        (".now", Self.body(), .unroutableLane, "routing key"),
        ("com.example.shoop.now", Self.body(), .unknownApp, "app"),
        ("com.example.shop.now", Self.body(app: "strict"), .appMismatch, "app"),
        ("com.example.shop.now", "{", .invalidJSON, nil),
        ("com.example.shop.now", Self.body(#""color":"red","#), .unknownField, "color"),
        ("com.example.shop.now", Self.body(#""expires_at":1789999999,"#), .expired, "expires_at"),
        ("com.example.shop.now", Self.body(#""expires_at":0,"#), nil, nil),
        ("com.example.shop.now", Self.body(#""expires_at":1790000001,"#), nil, nil),
        ("com.example.shop.now", Self.body(#""not_before":1790000100,"#), nil, nil),
        ("com.example.shop.now", Self.body(#""not_before":1890000000,"#), .holdLimit, "not_before"),
        ("com.example.shop.now", Self.body(payload: Self.long), .payloadTooLarge, "payload"),
        ("short.bulk", Self.body(app: "short", payload: Self.long), nil, nil),
        ("strict.now", Self.body(app: "strict", payload: #"{"aps":{"alert":{"titel":"x"}}}"#), .payloadLint, nil),
    ]

    @Test(arguments: Self.cases.indices)
    func `What a worker would refuse is refused, with the field and the fix`(index: Int) {
        let (key, body, reason, field) = Self.cases[index]
        let problem = Self.rules.problem(routingKey: key, body: Array(body.utf8), now: Self.now)
        #expect(problem?.reason == reason, "\(body)")
        if let field { #expect(problem?.field == field) }
        if reason != nil { #expect((problem?.detail.count ?? 0) > 20) }
    }

    @Test func `Strict rules check payloads of all apps`() {
        let body = Array(Self.body(payload: #"{"aps":{"alert":{"titel":"x"}}}"#).utf8)
        #expect(Self.rules.problem(routingKey: "com.example.shop.now", body: body, now: Self.now) == nil)
        let problem = Self.rules.strict.problem(routingKey: "com.example.shop.now", body: body, now: Self.now)
        #expect(problem?.reason == .payloadLint)
    }

    @Test func `A replay begins anew, keeps its name, and cannot be taken for what was done before`() {
        let letter = DeadLetterTests.letter(1)
        let message = ReplayMessage.make(letter, mark: "m", now: Self.now)
        let headers = Dictionary(uniqueKeysWithValues: message.properties.headers.map { ($0.name, $0.value) })
        #expect(message.exchange == "pushfleet" && message.routingKey == "com.example.shop.now")
        #expect(message.properties.messageID == letter.messageID && message.properties.timestamp == Self.now)
        #expect(message.body == letter.body)
        #expect(
            headers == [
                "traceparent": .string("00-1"), "x-pushfleet-replay": .string("\(letter.id)"),
                "x-pushfleet-once": .string("m"), "x-pushfleet-copy": .integer(5),
            ]
        )
    }

    @Test func `What RabbitMQ gave up goes on as the same copy, so that what was done of it counts`() {
        let death = HeaderValue.table([Header("reason", .string("delivery_limit"))])
        let letter = DeadLetter(
            routingKey: "com.example.shop.now",
            messageID: [1],
            headers: [Header("x-pushfleet-copy", .integer(2)), Header("x-death", .array([death]))],
            body: Array(Self.body().utf8)
        )
        #expect(letter.reason == "delivery_limit" && letter.isUnfinished)
        let message = ReplayMessage.make(letter, mark: "m", now: Self.now)
        #expect(message.properties.headers.contains(Header("x-pushfleet-copy", .integer(2))))
        #expect(message.properties.headers.contains(Header("x-pushfleet-unfinished", .bool(true))))
        // With another body it is another copy.
        let mended = ReplayMessage.make(letter, body: [], mark: "m", now: Self.now)
        #expect(mended.properties.headers.contains(Header("x-pushfleet-copy", .integer(3))))
        #expect(!mended.properties.headers.contains(Header("x-pushfleet-unfinished", .bool(true))))
    }

    @Test(arguments: [1, 7, 500, 100_000])
    func `A pace gives what its rate says, without bursts`(rate: Int) {
        var pace = ReplayPace(rate: rate)
        var taken = 0
        var burst = 0
        for step in 0...1000 {
            pace.refill(at: MonotonicTime(nanoseconds: Int64(step) * 10_000_000))
            var now = 0
            while pace.take() { now += 1 }
            burst = max(burst, now)
            taken += now
        }
        #expect(abs(taken - rate * 10) <= max(2, rate / 100))
        #expect(burst <= max(1, rate / 5))
        // After a pause there is no more than a fifth of a second's worth.
        pace.refill(at: MonotonicTime(nanoseconds: 3_600_000_000_000))
        var after = 0
        while pace.take() { after += 1 }
        #expect(after <= max(1, rate / 5))
    }
}

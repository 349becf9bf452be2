import CRabbitMQ
import Push
import Testing

@testable import Broker

@Suite struct HeaderReaderTests {
    private func read(_ headers: [Header], all: Bool = false) -> DeliveryHeaders {
        let arena = CodecArena()
        return withExtendedLifetime(arena) { HeaderReader.read(arena.table(headers), readsAll: all) }
    }

    @Test func `Known headers are read`() {
        let headers = self.read([
            Header("x-pushfleet-attempt", .integer(3)),
            Header("x-pushfleet-copy", .integer(5)),
            Header("x-pushfleet-first-seen", .integer(1_767_225_600_123)),
            Header("x-pushfleet-reason", .string("age_limit")),
            Header("x-delivery-count", .integer(7)),
            Header("x-first-death-reason", .string("delivery_limit")),
            Header("traceparent", .string("00-abc")),
            Header("x-other", .string("not carried on")),
        ])
        #expect(headers.attempt == 3)
        #expect(headers.copy == 5)
        #expect(headers.firstSeen == UnixTime(milliseconds: 1_767_225_600_123))
        #expect(headers.reason == "age_limit")
        #expect(headers.deliveryCount == 7)
        #expect(headers.firstDeathReason == .deliveryLimit)
        #expect(headers.foreign == [Header("traceparent", .string("00-abc"))])
        #expect(headers.all.isEmpty)
    }

    @Test(arguments: [
        HeaderValue.string("3"), .bool(true), .double(3), .none, .array([.integer(3)]),
        .table([Header("a", .integer(3))]),
        .timestamp(UnixTime(seconds: 3)),
    ])
    func `A value of the wrong type counts as absent`(value: HeaderValue) {
        let headers = self.read([
            Header("x-pushfleet-attempt", value), Header("x-pushfleet-first-seen", value),
            Header("x-delivery-count", value),
        ])
        #expect(headers.attempt == 0)
        #expect(headers.firstSeen == nil)
        #expect(headers.deliveryCount == 0)
    }

    @Test(arguments: [(-1, 0), (.min, 0), (.max, 1_000_000), (999_999, 999_999)] as [(Int64, Int)])
    func `Numbers are clamped`(number: Int64, attempt: Int) {
        let headers = self.read([Header("x-pushfleet-attempt", .integer(number))])
        #expect(headers.attempt == attempt)
    }

    @Test func `What publishers add is carried on within bounds`() {
        let many = (0..<100).map { Header("h\($0)", .integer(Int64($0))) }
        #expect(self.read(many).foreign.count == 32)
        let large = (0..<10).map { Header("h\($0)", .string(String(repeating: "x", count: 5000))) }
        #expect(self.read(large).foreign.count == 3)
        let nested = Header("deep", .table([Header("a", .integer(1))]))
        #expect(self.read([nested, Header("plain", .bool(true))]).foreign == [Header("plain", .bool(true))])
    }

    @Test func `For display everything is read down to a depth`() {
        var deep = HeaderValue.integer(1)
        for _ in 0..<10 { deep = .array([deep]) }
        let headers = [
            Header("x-death", .array([.table([Header("queue", .string("q")), Header("count", .integer(2))])])),
            Header("deep", deep), Header("time", .timestamp(UnixTime(seconds: 5))), Header("nothing", .none),
        ]
        let all = self.read(headers, all: true).all
        #expect(all.map(\.name) == ["x-death", "deep", "time", "nothing"])
        #expect(all[0] == headers[0])
        #expect("\(all[1].value)" == "[[[[…]]]]")
        #expect(all[2].value == headers[2].value)
    }
}

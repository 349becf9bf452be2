import Broker
import Push
import TestServers
import Testing

@testable import Gateway

@Suite struct FanOutTests {
    private static func tokens(_ count: Int, from start: Int = 1) -> [String] {
        (start..<start + count).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits
        }
    }

    @Test("a topic of few is published to at once, in the lane of what somebody waits for")
    func small() async throws {
        let test = try await TestGateway.start()
        _ = try await test.makeApplication()
        let topic = try await test.makeTopic("few", tokens: Self.tokens(20))
        let answer = try await test.call("Publish", ["TopicArn": topic, "Message": "Hello"])
        let id = try #require(answer.element("MessageId"))
        let session = try await test.session()
        // The answer came after the confirms.
        let delivery = try #require(try await session.get(queue: "pushfleet.\(TestGateway.app).now"))
        let message = try TakenMessage(delivery, lane: "now")
        #expect(message.id == "\(id).0.0.0")
        #expect(Set(message.tokens) == Set(Self.tokens(20)))
        await session.close()
        await test.gateway.stop()
    }

    @Test("a topic of many is fanned out behind the answer: everyone once, a thousand tokens to a message")
    func large() async throws {
        let test = try await TestGateway.start()
        _ = try await test.makeApplication()
        let topic = try await test.makeTopic("many", tokens: Self.tokens(2500))
        let answer = try await test.call("Publish", ["TopicArn": topic, "Message": "Hello"])
        let id = try #require(answer.element("MessageId"))
        let session = try await test.session()
        let taken = try await test.take(tokens: 2500, from: session)
        #expect(taken.flatMap(\.tokens).sorted() == Self.tokens(2500))
        #expect(taken.map(\.id).sorted() == ["\(id).0.0.0", "\(id).1.0.0", "\(id).2.0.0"])
        #expect(taken.allSatisfy { $0.lane == "bulk" && $0.once != nil })
        #expect(taken.map(\.tokens.count).max() == 1000)
        await session.close()
        await test.gateway.stop()
    }

    @Test("two endpoints with one token get one push, whichever chunks they are in")
    func duplicates() async throws {
        let test = try await TestGateway.start()
        _ = try await test.makeApplication()
        let topic = try await test.makeTopic("twice", tokens: Self.tokens(2100))
        // All of them take the token of the first.
        for token in Self.tokens(8, from: 2) {
            let application = TestGateway.account + "app/APNS/Shop"
            let endpoint = try await test.makeEndpoint(token, of: application)
            let answer = try await test.call(
                "SetEndpointAttributes",
                [
                    "EndpointArn": endpoint, "Attributes.entry.1.key": "Token",
                    "Attributes.entry.1.value": Self.tokens(1)[0],
                ]
            )
            #expect(answer.status == 200, "\(answer.text)")
        }
        _ = try await test.call("Publish", ["TopicArn": topic, "Message": "Hello"])
        let session = try await test.session()
        let taken = try await test.take(tokens: 2092, from: session)
        #expect(taken.flatMap(\.tokens).sorted() == Self.tokens(1) + Self.tokens(2091, from: 10))
        await session.close()
        await test.gateway.stop()
    }

    @Test(
        "when a gateway loses its order in the middle, another goes on: nobody is left out, and what repeats is known"
    )
    func takeover() async throws {
        let first = try await TestGateway.start()
        _ = try await first.makeApplication()
        let tokens = Self.tokens(12_000)
        let topic = try await first.makeTopic("all", tokens: tokens)
        let second = try await TestGateway.start(beside: first)
        let session = try await first.session()
        _ = try await first.call("Publish", ["TopicArn": topic, "Message": "Hello"])
        // Whoever has the order loses it, and the publishes that are under way with it.
        var taken = try await first.take(tokens: 1, from: session)
        try PrivateRabbitMQ.shared.rabbitmqctl("close_all_connections", "--vhost", first.vhost, "test")
        await session.close()
        let again = try await first.session()
        try await eventually("everybody is reached") {
            taken += try await first.take(tokens: 0, from: again)
            return Set(taken.flatMap(\.tokens)).count == tokens.count
        }
        var byID: [String: TakenMessage] = [:]
        for message in taken {
            if let known = byID.updateValue(message, forKey: message.id) {
                // The same message, perhaps under another mark: workers take one of them.
                #expect(known.tokens == message.tokens && known.once != nil && message.once != nil)
            }
        }
        #expect(byID.values.flatMap(\.tokens).sorted() == tokens)
        await again.close()
        await second.gateway.stop()
        await first.gateway.stop()
    }
}

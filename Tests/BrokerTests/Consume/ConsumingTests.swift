import Push
import TestRandom
import TestServers
import Testing

@testable import Broker

@Suite struct ConsumingTests {
    let broker = PrivateRabbitMQ.shared

    private func publish(_ count: Int, to queue: String, in session: BrokerSession) async throws {
        let outcomes = try await session.publish((0..<count).map { Message(to: queue, "\($0)") })
        #expect(outcomes.allSatisfy { $0 == .confirmed })
    }

    @Test func `Ten thousand messages are consumed and acknowledged, and none is left`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        try await self.publish(10_000, to: "q", in: session)
        let rig = try Rig(settings, acksAtOnce: true)
        await rig.run { $0.consume("q", prefetch: 500) }
        let deliveries = try await rig.deliveries(10_000)
        #expect(deliveries.map(\.body) == (0..<10_000).map { Array("\($0)".utf8) })
        #expect(deliveries[17].messageID == Array("id-17".utf8))
        #expect(deliveries[17].routingKey == "q")
        try await rig.close()
        try await session.expect("q", messages: 0, consumers: 0)
        await session.close()
    }

    @Test func `Ten megabytes and an empty body come through unchanged, with their properties`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        var random = SeededRandom(seed: 1)
        let large = (0..<10 << 17).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        #expect(large.count == 10 << 20)
        var message = Message(to: "q", "large", headers: [Header("x-pushfleet-attempt", .integer(2))])
        message.body = large
        message.properties.timestamp = UnixTime(seconds: 1_767_225_600)
        #expect(try await session.publish(message) == .confirmed)
        #expect(try await session.publish(Message(exchange: "", routingKey: "q", body: [])) == .confirmed)

        let rig = try Rig(settings, acksAtOnce: true)
        await rig.run { $0.consume("q", prefetch: 10) }
        let deliveries = try await rig.deliveries(2)
        #expect(deliveries[0].body == large)
        #expect(deliveries[0].timestamp == UnixTime(seconds: 1_767_225_600))
        #expect(deliveries[0].headers.attempt == 2)
        #expect(deliveries[0].contentType == "application/json")
        #expect(deliveries[1].body == [])
        #expect(deliveries[1].messageID == [])
        #expect(deliveries[1].timestamp == nil)
        try await rig.close()
        await session.close()
    }

    @Test func `A smaller prefetch waits until what is open fits, and zero holds nothing more`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        try await self.publish(100, to: "q", in: session)
        let rig = try Rig(settings)
        await rig.run { $0.consume("q", prefetch: 10) }
        let first = try await rig.deliveries(10)
        let start = rig.moment
        await rig.run { $0.consumers["q"]!.setPrefetch(4) }
        try await rig.wait("cancelled", after: start) { if case .consumer("q", .starting) = $0 { true } else { false } }
        // Ten are open and four are allowed: with five left nothing comes, as the broker itself says.
        await rig.run { bench in for delivery in first[..<5] { bench.consumers["q"]!.ack(delivery.id) } }
        try await session.expect("q", messages: 90)
        await rig.run { _ = $0.consumers["q"]!.ack(first[5].id) }
        let more = try await rig.deliveries(14)
        #expect(await rig.run { $0.consumers["q"]!.openCount } == 8)
        await rig.run { bench in for delivery in first[6...] { bench.consumers["q"]!.ack(delivery.id) } }
        await rig.run { $0.consumers["q"]!.setPrefetch(0) }
        try await rig.state(of: "q", "paused") { $0 == .paused }
        await rig.run { bench in for delivery in more[10...] { bench.consumers["q"]!.ack(delivery.id) } }
        try await session.expect("q", messages: 86)
        #expect(await rig.run { $0.consumers["q"]!.openCount } == 0)

        let moment = rig.moment
        await rig.run { $0.consumers["q"]!.setPrefetch(50) }
        try await rig.wait("50 more", count: 50, after: moment) { $0.delivery != nil }
        #expect(await rig.run { $0.client.connects } == 1)
        try await rig.close()
        try await session.expect("q", messages: 86)
        await session.close()
    }

    @Test func `However often the prefetch changes under load, every message comes and is settled`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        let rig = try Rig(settings, acksAtOnce: true)
        await rig.run { $0.consume("q", prefetch: 1) }
        var random = SeededRandom(seed: 3)
        for round in 0..<40 {
            try await self.publish(50, to: "q", in: session)
            let prefetch = [0, 1, 2, 5, 100].randomElement(using: &random)!
            await rig.run { $0.consumers["q"]!.setPrefetch(round == 39 ? 100 : prefetch) }
            if round % 5 == 0 { await rig.run { $0.consumers["q"]!.pause() } }
            if round % 5 == 2 { await rig.run { $0.consumers["q"]!.resume() } }
        }
        let bodies = try await rig.deliveries(2000).map(\.body)
        #expect(Set(bodies).count == 50)
        let stale = await rig.run { $0.consumers["q"]!.staleSettlements + $0.consumers["q"]!.refusedSettlements }
        #expect(stale == 0)
        try await rig.close()
        try await session.expect("q", messages: 0)
        await session.close()
    }

    @Test func `A queue deleted under the consumer is reported and consumed from again when it is back`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"), .quorum("other"))
        try await self.publish(3, to: "q", in: session)
        let rig = try Rig(settings)
        await rig.run { bench in
            bench.consume("q", prefetch: 10)
            bench.consume("other", prefetch: 10)
        }
        let old = try await rig.deliveries(3)
        try await session.delete(queue: "q")
        try await rig.state(of: "q", "queue missed") { $0.waitingFor?.isNotFound == true }
        // The passive declare that finds no queue closes the channel.
        try await rig.wait("deliveries lost") { if case .lost("q", 3, _) = $0 { true } else { false } }
        #expect(await rig.run { $0.consumers["q"]!.ack(old[0].id) } == false)
        let moment = rig.moment
        #expect(try await session.declare(Topology(queues: [.quorum("q")])).isEmpty)
        try await rig.state(of: "q", "consuming again", after: moment) { $0.isConsuming }
        try await self.publish(2, to: "q", in: session)
        try await self.publish(1, to: "other", in: session)
        try await rig.deliveries(6)
        #expect(await rig.run { $0.client.connects } == 1)
        #expect(await rig.run { $0.consumers["q"]!.staleSettlements } == 1)
        try await rig.close()
        await session.close()
    }

    @Test(arguments: [false, true])
    func `Closing right behind a burst of acks loses none of them`(pauses: Bool) async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        for _ in 0..<3 {
            try await self.publish(3000, to: "q", in: session)
            let rig = try Rig(settings)
            await rig.run { $0.consume("q", prefetch: 3000) }
            let deliveries = try await rig.deliveries(3000)
            #expect(deliveries.allSatisfy { !$0.redelivered })
            if pauses {
                await rig.run { $0.consumers["q"]!.pause() }
                try await rig.state(of: "q", "paused") { $0 == .paused }
            }
            // Out of order, so that each ack is a frame of its own.
            for part in stride(from: 2999, through: 0, by: -100) {
                await rig.run { bench in
                    for index in (part - 99)...part { bench.consumers["q"]!.ack(deliveries[index].id) }
                }
            }
            try await rig.close()
            try await session.expect("q", messages: 0)
        }
        await session.close()
    }

    @Test func `A cancelled consumer leaves its open deliveries to others, and the client lives on`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        try await self.publish(10, to: "q", in: session)
        let rig = try Rig(settings)
        await rig.run { $0.consume("q", prefetch: 10) }
        let deliveries = try await rig.deliveries(10)
        await rig.run { bench in
            for delivery in deliveries[..<4] { bench.consumers["q"]!.ack(delivery.id) }
            bench.consumers["q"]!.cancel()
        }
        try await rig.state(of: "q", "stopped") { $0 == .stopped }
        try await session.expect("q", messages: 6, consumers: 0)
        #expect(await rig.run { $0.client.state } == .connected)
        try await rig.close()
        await session.close()
    }

    @Test func `A consumer waits for a queue that does not exist yet`() async throws {
        let (settings, session) = try await self.broker.prepare()
        let rig = try Rig(settings)
        await rig.run { $0.consume("late", prefetch: 10) }
        try await rig.state(of: "late", "missing") { $0.waitingFor?.isNotFound == true }
        #expect(try await session.declare(Topology(queues: [.quorum("late")])).isEmpty)
        try await rig.state(of: "late", "consuming") { $0.isConsuming }
        try await rig.close()
        await session.close()
    }

    @Test func `A channel closed by the broker is made anew, alone, and no ack of its life goes out`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"), .quorum("other"))
        try await self.publish(20, to: "q", in: session)
        try await self.publish(5, to: "other", in: session)
        let rig = try Rig(settings)
        await rig.run { bench in
            bench.consume("q", prefetch: 100)
            bench.consume("other", prefetch: 100)
        }
        let deliveries = try await rig.deliveries(25).filter { $0.routingKey == "q" }
        let moment = rig.moment
        // What a second ack of the same delivery would do: RabbitMQ closes the channel with 406.
        await rig.run { bench in
            bench.consumers["q"]!.channel!.settle(.ack(4711, multiple: false))
        }
        try await rig.wait("channel lost") {
            if case .lost("q", 20, .channelClosed(code: 406, _)) = $0 { true } else { false }
        }
        let accepted = await rig.run { bench in
            deliveries.count { bench.consumers["q"]!.ack($0.id) }
        }
        #expect(accepted == 0)
        try await rig.wait("all again", count: 20, after: moment) { $0.delivery != nil }
        let again = rig.recorder.events[moment...].compactMap(\.delivery)
        #expect(again.allSatisfy { $0.redelivered && $0.routingKey == "q" })
        // Acks on the new channel count, the stale ones did not reach it.
        await rig.run { bench in for delivery in again[..<15] { bench.consumers["q"]!.ack(delivery.id) } }
        #expect(await rig.run { $0.consumers["q"]!.staleSettlements } == 20)
        #expect(await rig.run { $0.consumers["other"]!.openCount } == 5)
        #expect(await rig.run { $0.client.connects } == 1)
        try await rig.close()
        try await session.expect("q", messages: 5)
        try await session.expect("other", messages: 5)
        await session.close()
    }

    @Test func `A rejected message comes again, or goes where the queue sends its dead`() async throws {
        let deadLetters = Header("x-dead-letter-exchange", .string(""))
        let (settings, session) = try await self.broker.prepare(
            .quorum("q", deadLetters, Header("x-dead-letter-routing-key", .string("dead"))),
            .quorum("dead")
        )
        try await self.publish(1, to: "q", in: session)
        let rig = try Rig(settings)
        await rig.run { $0.consume("q", prefetch: 10) }
        let first = try await rig.deliveries(1)[0]
        await rig.run { _ = $0.consumers["q"]!.reject(first.id, requeue: true) }
        let second = try await rig.deliveries(2)[1]
        #expect(second.redelivered)
        #expect(second.headers.deliveryCount == 1)
        await rig.run { bench in
            bench.consume("dead", prefetch: 10)
            bench.consumers["q"]!.reject(second.id, requeue: false)
        }
        let third = try await rig.deliveries(3)[2]
        #expect(third.headers.firstDeathReason == .rejected)
        #expect(third.messageID == first.messageID)
        try await rig.close()
        await session.close()
    }

    @Test(arguments: [RawPublisher.Kind.table, .array])
    func `Headers nested as deep as a frame allows are survived`(kind: RawPublisher.Kind) async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        let (table, depth) = RawPublisher.nested(kind)
        #expect(depth > 18_000)
        let vhost = settings.address.virtualHost
        try RawPublisher.publish(to: "q", vhost: vhost, port: self.broker.port, table: table)
        try await self.publish(1, to: "q", in: session)
        let rig = try Rig(settings, acksAtOnce: true)
        await rig.run { $0.consume("q", prefetch: 10) }
        let deliveries = try await rig.deliveries(2)
        #expect(deliveries.map(\.body) == [Array("body".utf8), Array("0".utf8)])
        try await rig.close()
        await session.close()
    }

    @Test func `Headers of any kind are read and carried`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        let headers = [
            Header("text", .string("ü")), Header("number", .integer(-7)), Header("yes", .bool(true)),
            Header("time", .timestamp(UnixTime(seconds: 1_767_225_600))), Header("none", .none),
            Header("table", .table([Header("a", .array([.integer(1), .string("b")]))])), Header("pi", .double(3.25)),
        ]
        #expect(try await session.publish(Message(to: "q", "x", headers: headers)) == .confirmed)
        let delivery = try #require(try await session.get(queue: "q"))
        // The broker sorts them and adds its own.
        let own = Header("x-delivery-count", .integer(0))
        #expect(delivery.headers.all.filter { $0 != own } == headers.sorted { $0.name < $1.name })
        #expect(delivery.headers.foreign.map(\.name) == ["none", "number", "pi", "text", "time", "yes"])
        try await session.ack(delivery.id)
        #expect(try await session.get(queue: "q") == nil)
        _ = settings
        await session.close()
    }
}

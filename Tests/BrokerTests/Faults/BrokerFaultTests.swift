import Push
import TestServers
import Testing

@testable import Broker

/// Faults of the broker as a whole, on one that no other test uses; one test after the other.
@Suite(.serialized) struct BrokerFaultTests {
    private static let broker = Result { try PrivateRabbitMQ(vhosts: 10) }

    private func prepare(_ queues: Topology.Queue..., heartbeat: Int = 10) async throws -> (
        PrivateRabbitMQ, BrokerSettings
    ) {
        let broker = try Self.broker.get()
        let settings = try broker.settings(vhost: try broker.makeVhost(), heartbeat: heartbeat)
        let session = try await BrokerSession.connect(settings)
        #expect(try await session.declare(Topology(queues: queues)).isEmpty)
        await session.close()
        return (broker, settings)
    }

    @Test func `A restarted broker gives everything back, whether it was stopped or killed`() async throws {
        let (broker, settings) = try await self.prepare(.quorum("q"))
        let consumer = try Rig(settings)
        let producer = try Rig(settings)
        await consumer.run { $0.consume("q", prefetch: 10) }
        await producer.run { $0.makePublisher() }
        // Stopped first: RabbitMQ 3.10 writes the names of new quorum queues to disk late, and one that is declared
        // shortly before a kill comes back empty and without a leader.
        for (round, kills) in [false, true].enumerated() {
            let before = round * 101
            let begin = consumer.moment
            if round > 0 {
                await consumer.run { bench in bench.consumers["q"]!.setPrefetch(10) }
                try await consumer.state(of: "q", "consuming 10", after: begin) { $0 == .consuming(prefetch: 10) }
            }
            let moment = consumer.moment
            await producer.run { bench in
                for number in 0..<100 as Range<UInt64> {
                    #expect(bench.publisher.publish(Message(to: "q", "\(number)"), token: number))
                }
            }
            #expect(try await producer.results(before + 100).allSatisfy { $0.outcome == .confirmed })
            try await consumer.wait("10 deliveries", count: 10, after: moment) { $0.delivery != nil }
            let held = consumer.recorder.events[moment...].compactMap(\.delivery)
            let breakdown = consumer.moment
            let producers = producer.moment
            if kills { try broker.kill() } else { try broker.rabbitmqctl("stop_app") }
            // What is published while it is gone waits and arrives.
            try await producer.wait("gone", after: producers) {
                if case .client(.waiting) = $0 { true } else { false }
            }
            await producer.run { bench in
                #expect(bench.publisher.publish(Message(to: "q", "100"), token: 100))
            }
            try await consumer.wait("deliveries lost", after: breakdown) {
                if case .lost("q", 10, _) = $0 { true } else { false }
            }
            #expect(await consumer.run { $0.consumers["q"]!.ack(held[0].id) } == false)
            if kills { try broker.start() } else { try broker.rabbitmqctl("start_app") }
            #expect(try await producer.results(before + 101).last?.outcome == .confirmed)
            await consumer.run { bench in bench.consumers["q"]!.setPrefetch(200) }
            try await consumer.wait("all", count: 101, after: breakdown) { $0.delivery != nil }
            let again = consumer.recorder.events[breakdown...].compactMap(\.delivery)
            #expect(Set(again.map(\.body)) == Set((0...100).map { Array("\($0)".utf8) }))
            await consumer.run { bench in for delivery in again { bench.consumers["q"]!.ack(delivery.id) } }
        }
        try await consumer.close()
        try await producer.close()
        let session = try await BrokerSession.connect(settings)
        try await session.expect("q", messages: 0)
        await session.close()
    }

    @Test func `A frozen broker is noticed within two heartbeats and publishes are unknown`() async throws {
        let (broker, settings) = try await self.prepare(.quorum("q"), heartbeat: 2)
        let rig = try Rig(settings)
        await rig.run { bench in
            bench.makePublisher()
            bench.consume("q", prefetch: 10)
        }
        try await rig.state(of: "q", "consuming") { $0.isConsuming }
        broker.pause()
        let start = ContinuousClock.now
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "1"), token: 1)) }
        try await rig.wait("silence") { if case .client(.waiting(.silent)) = $0 { true } else { false } }
        let noticed = ContinuousClock.now - start
        broker.resume()
        // Two heartbeats after its last word, which came before the pause; one more for a busy machine.
        #expect(noticed < .seconds(6))
        #expect(try await rig.results(1)[0].outcome == .unknown(.lost(.silent)))
        try await rig.connected(times: 2)
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "2"), token: 2)) }
        #expect(try await rig.results(2)[1].outcome == .confirmed)
        try await rig.close()
    }

    @Test func `During a disk alarm acks go on, publishes wait, and both end well`() async throws {
        let (broker, settings) = try await self.prepare(.quorum("q"), .quorum("copies"))
        let consumer = try Rig(settings)
        let producer = try Rig(settings)
        await producer.run { bench in
            var bounds = Publisher.Settings()
            bounds.confirmTimeout = .milliseconds(500)
            bounds.messageLimit = 50
            bench.makePublisher(bounds)
            for number in 0..<20 as Range<UInt64> {
                #expect(bench.publisher.publish(Message(to: "q", "\(number)"), token: number))
            }
        }
        _ = try await producer.results(20)
        await consumer.run { $0.consume("q", prefetch: 100) }
        let deliveries = try await consumer.deliveries(20)
        try broker.rabbitmqctl("set_disk_free_limit", "100000GB")
        // RabbitMQ says so when the connection next publishes.
        await producer.run { bench in
            #expect(bench.publisher.publish(Message(to: "copies", "first"), token: 100))
        }
        try await producer.wait("blocked") { if case .blocked(.some) = $0 { true } else { false } }
        #expect(await producer.run { $0.client.blockedReason } == "low on disk")
        let taken = await producer.run { bench in
            (101..<200 as Range<UInt64>).count { bench.publisher.publish(Message(to: "copies", "\($0)"), token: $0) }
        }
        #expect(taken == 49)
        await consumer.run { bench in for delivery in deliveries { bench.consumers["q"]!.ack(delivery.id) } }
        // The acks count although the alarm is on.
        let unacked = { try broker.rabbitmqctl("list_queues", "-p", settings.address.virtualHost, "name", "messages") }
        while try !unacked().contains("q\t0") {}
        #expect(await producer.run { $0.publisher.queuedCount } == 49)
        // Longer than the limit for confirms: that clock stands still.
        try await Task.sleep(for: .milliseconds(700))
        #expect(producer.recorder.events.count { $0.result != nil } == 20)

        try broker.rabbitmqctl("set_disk_free_limit", "50MB")
        let results = try await producer.results(70)
        #expect(results[20...].allSatisfy { $0.outcome == .confirmed })
        #expect(await producer.run { $0.client.blockedReason } == nil)
        #expect(await producer.run { $0.client.connects } == 1)
        try await consumer.close()
        try await producer.close()
    }

    @Test func `A connection closed by an operator is reported with its text and made again`() async throws {
        let (broker, settings) = try await self.prepare(.quorum("q"))
        let rig = try Rig(settings)
        await rig.run { $0.consume("q", prefetch: 10) }
        try await rig.state(of: "q", "consuming") { $0.isConsuming }
        try broker.rabbitmqctl(
            "close_all_connections",
            "--vhost",
            settings.address.virtualHost,
            "maintenance tonight"
        )
        try await rig.wait("closed") {
            if case .client(.waiting(.connectionClosed(code: 320, let text))) = $0 {
                text.contains("maintenance tonight")
            } else {
                false
            }
        }
        let moment = rig.moment
        try await rig.state(of: "q", "consuming again", after: moment) { $0.isConsuming }
        #expect(await rig.run { $0.client.connects } == 2)
        try await rig.close()
    }
}

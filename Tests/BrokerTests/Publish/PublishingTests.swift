import Push
import TestServers
import Testing

@testable import Broker

@Suite struct PublishingTests {
    let broker = PrivateRabbitMQ.shared

    @Test func `Every publish is answered for with its own outcome`() async throws {
        let full = Header("x-overflow", .string("reject-publish"))
        let (settings, session) = try await self.broker.prepare(
            .quorum("q"),
            .quorum("full", Header("x-max-length", .integer(1)), full)
        )
        let fill = try await session.publish((0..<10).map { Message(to: "full", "\($0)") })
        #expect(fill[0] == .confirmed)
        let rig = try Rig(settings)
        await rig.run { bench in
            bench.makePublisher()
            for number in 0..<300 as Range<UInt64> {
                var message = Message(to: ["q", "full", "nowhere"][Int(number % 3)], "\(number)")
                message.isMandatory = number != 5
                #expect(bench.publisher.publish(message, token: 1000 + number))
            }
        }
        let results = try await rig.results(300)
        #expect(Set(results.map(\.token)) == Set(1000..<1300))
        for result in results {
            switch result.token {
            // Not mandatory: the broker drops it and says so to nobody.
            case 1005: #expect(result.outcome == .confirmed)
            case let token where (token - 1000) % 3 == 0: #expect(result.outcome == .confirmed)
            case let token where (token - 1000) % 3 == 1: #expect(result.outcome == .nacked)
            default: #expect(result.outcome == .returned(code: 312, text: "NO_ROUTE"))
            }
        }
        try await session.expect("q", messages: 100)
        #expect(await rig.run { $0.publisher.unconfirmedCount + $0.publisher.queuedCount } == 0)
        try await rig.close()
        await session.close()
    }

    @Test func `Properties arrive as they were given, and the expiration counts`() async throws {
        let (_, session) = try await self.broker.prepare(
            .quorum(
                "q",
                Header("x-dead-letter-exchange", .string("")),
                Header("x-dead-letter-routing-key", .string("dead"))
            ),
            .quorum("dead")
        )
        let properties = MessageProperties(
            messageID: Array("the-id".utf8),
            timestamp: UnixTime(milliseconds: 1_767_225_600_999),
            expiration: .milliseconds(1),
            appID: "test",
            headers: [Header("x-pushfleet-first-seen", .integer(1_767_225_600_123))]
        )
        #expect(
            try await session.publish(Message(exchange: "", routingKey: "q", properties: properties, body: [1, 2, 3]))
                == .confirmed
        )
        var found: Delivery?
        while found == nil { found = try await session.get(queue: "dead") }
        let delivery = try #require(found)
        #expect(delivery.messageID == properties.messageID)
        #expect(delivery.timestamp == UnixTime(seconds: 1_767_225_600))
        #expect(delivery.headers.firstSeen == UnixTime(milliseconds: 1_767_225_600_123))
        #expect(delivery.headers.firstDeathReason == .expired)
        #expect(delivery.body == [1, 2, 3])
        await session.close()
    }

    @Test func `Beyond its bound the publisher says no, and says when there is room again`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        let rig = try Rig(settings)
        let taken = await rig.run { bench in
            var bounds = Publisher.Settings()
            bounds.messageLimit = 100
            bounds.unconfirmedLimit = 10
            bench.makePublisher(bounds)
            return (0..<150 as Range<UInt64>).count { bench.publisher.publish(Message(to: "q", "\($0)"), token: $0) }
        }
        #expect(taken == 100)
        try await rig.wait("room again") { if case .canAccept = $0 { true } else { false } }
        #expect(try await rig.results(100).allSatisfy { $0.outcome == .confirmed })
        #expect(await rig.run { $0.publisher.publish(Message(to: "q", "more"), token: 200) })
        _ = try await rig.results(101)
        try await session.expect("q", messages: 101)
        try await rig.close()
        await session.close()
    }

    @Test func `What is published before there is a connection waits for it`() async throws {
        let (_, session) = try await self.broker.prepare(.quorum("q"))
        let vhost = try self.broker.makeVhost()
        let proxy = try FaultProxy(to: self.broker.port)
        defer { proxy.stop() }
        proxy.refuse()
        let rig = try Rig(try self.broker.settings(vhost: vhost, port: proxy.port))
        await rig.run { bench in
            bench.makePublisher()
            var message = Message(to: "q", "early")
            message.isMandatory = false
            #expect(bench.publisher.publish(message, token: 7))
        }
        try await rig.wait("no connection") { if case .client(.waiting(.transport)) = $0 { true } else { false } }
        #expect(await rig.run { $0.publisher.queuedCount } == 1)
        proxy.pass()
        #expect(try await rig.results(1) == [PublishResult(token: 7, outcome: .confirmed)])
        try await rig.close()
        await session.close()
    }

    @Test func `Without a confirm in time, and when the connection is cut, the outcome is unknown`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        let proxy = try FaultProxy(to: self.broker.port)
        defer { proxy.stop() }
        let rig = try Rig(try self.broker.settings(vhost: settings.address.virtualHost, port: proxy.port))
        await rig.run { bench in
            var bounds = Publisher.Settings()
            bounds.confirmTimeout = .milliseconds(300)
            bench.makePublisher(bounds)
            #expect(bench.publisher.publish(Message(to: "q", "1"), token: 1))
        }
        #expect(try await rig.results(1)[0].outcome == .confirmed)
        proxy.blackHole(.toClient)
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "2"), token: 2)) }
        #expect(try await rig.results(2)[1] == PublishResult(token: 2, outcome: .unknown(.timeout)))
        #expect(proxy.counters.swallowed[.toClient]! > 0)
        // The broker has it all the same: unknown is not "no".
        try await session.expect("q", messages: 2)
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "3"), token: 3)) }
        // Reset, as its stream has a hole.
        proxy.pass()
        let third = try await rig.results(3)[2]
        #expect(third.token == 3)
        guard case .unknown = third.outcome else {
            Issue.record("\(third)")
            return
        }
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "4"), token: 4)) }
        #expect(try await rig.results(4)[3] == PublishResult(token: 4, outcome: .confirmed))
        try await rig.close()
        await session.close()
    }

    @Test func `An exchange that is not there costs the channel, not the publisher`() async throws {
        let (settings, session) = try await self.broker.prepare(.quorum("q"))
        let rig = try Rig(settings)
        await rig.run { bench in
            bench.makePublisher()
            let lost = Message(exchange: "nowhere", routingKey: "", body: [])
            #expect(bench.publisher.publish(lost, token: 1))
        }
        let first = try await rig.results(1)[0].outcome
        guard case .unknown(.lost(.channelClosed(code: 404, _))) = first else {
            Issue.record("\(first)")
            return
        }
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "1"), token: 2)) }
        #expect(try await rig.results(2)[1].outcome == .confirmed)
        #expect(await rig.run { $0.client.connects } == 1)
        try await rig.close()
        await session.close()
    }

    @Test func `Closing sends what was published in the same turn`() async throws {
        // A classic queue: to a quorum queue RabbitMQ may lose what it has not confirmed when the channel ends.
        let classic = Topology.Queue("q", arguments: [Header("x-queue-type", .string("classic"))])
        let (settings, session) = try await self.broker.prepare(classic)
        let rig = try Rig(settings)
        await rig.run { $0.makePublisher() }
        await rig.run { bench in #expect(bench.publisher.publish(Message(to: "q", "0"), token: 0)) }
        _ = try await rig.results(1)
        await rig.run { bench in
            for number in 1...50 as ClosedRange<UInt64> {
                #expect(bench.publisher.publish(Message(to: "q", "\(number)"), token: number))
            }
            bench.client.close()
        }
        let results = try await rig.results(51)
        #expect(results.allSatisfy { $0.outcome != .notSent })
        try await rig.wait("closed") { if case .client(.closed) = $0 { true } else { false } }
        try await session.expect("q", messages: 51)
        await rig.run { bench in #expect(!bench.publisher.canAccept) }
        await session.close()
    }
}

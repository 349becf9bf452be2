import Push
import TestServers
import Testing

@testable import Broker

@Suite struct ConsumingTests {
    let broker = PrivateRabbitMQ.shared

    @Test func `Ten thousand messages are consumed and acknowledged, and none is left`() async throws {
        let settings = try self.broker.settings(vhost: try self.broker.makeVhost())
        let session = try await BrokerSession.connect(settings)
        #expect(try await session.declare(Topology(queues: [.quorum("q")])).isEmpty)
        let outcomes = try await session.publish((0..<10_000).map { Message(to: "q", "\($0)") })
        #expect(outcomes.allSatisfy { $0 == .confirmed })

        let rig = try Rig(settings, acksAtOnce: true)
        await rig.run { $0.consume("q", prefetch: 500) }
        let deliveries = try await rig.deliveries(10_000)
        #expect(deliveries.map(\.body) == (0..<10_000).map { Array("\($0)".utf8) })
        #expect(deliveries[17].messageID == Array("id-17".utf8))
        #expect(deliveries[17].routingKey == "q")
        try await rig.close()
        #expect(try await session.queueDepths(["q"])["q"] == .init(messages: 0, consumers: 0))
        await session.close()
    }
}

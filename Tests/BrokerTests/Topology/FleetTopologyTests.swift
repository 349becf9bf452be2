import Push
import Testing

@testable import Broker

@Suite struct FleetTopologyTests {
    @Test func `Every queue can be reached, and at-least-once comes with what it needs`() throws {
        let apps = try ["shop", "com.example.news"].map { try #require(AppID($0)) }
        let topology = FleetTopology.make(apps: apps, delays: [DelayLevel(milliseconds: 10_000)])
        let names = topology.queues.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(
            Set(names) == [
                "pushfleet.unrouted", "pushfleet.dead", "pushfleet.feedback", "pushfleet.suspect",
                "pushfleet.receipts", "pushfleet.shop.now",
                "pushfleet.shop.bulk",
                "pushfleet.com.example.news.now", "pushfleet.com.example.news.bulk", "pushfleet.delay.10s",
            ]
        )
        #expect(Set(topology.bindings.map(\.queue)) == Set(names))
        let exchanges = Set(topology.exchanges.map(\.name))
        #expect(topology.bindings.allSatisfy { exchanges.contains($0.exchange) })
        for queue in topology.queues {
            let arguments = Dictionary(uniqueKeysWithValues: queue.arguments.map { ($0.name, $0.value) })
            #expect(arguments["x-queue-type"] == .string("quorum"))
            guard case .string(let target)? = arguments["x-dead-letter-exchange"] else { continue }
            #expect(exchanges.contains(target))
            #expect(arguments["x-dead-letter-strategy"] == .string("at-least-once"))
            #expect(arguments["x-overflow"] == .string("reject-publish"))
        }
    }
}

internal import Broker
internal import Push
internal import TestServers
internal import Testing
internal import Wire

@testable import Desk

@Suite struct BrokerCheckupTests {
    @Test("a real broker passes once everything is declared, and says what is missing or different before")
    func real() async throws {
        let rabbitmq = try PrivateRabbitMQ(vhosts: 1)
        defer { rabbitmq.stop() }
        let address = try AMQPAddress(parsing: rabbitmq.url(vhost: "vhost-0"))
        let settings = BrokerSettings(address: address, connectionName: "test")
        let topology = FleetTopology.make(
            apps: [AppID("shop")!],
            delays: DelayLadder(schedules: [.standard]).levels
        )
        let before = await BrokerCheckup.findings(settings, topology: topology, timeout: .seconds(10))
        #expect(before.map(\.state) == [.ok, .fail])
        #expect(before.last?.fix == "run pushfleet topology declare")

        let session = try await BrokerSession.connect(settings)
        let wrong = Topology(queues: [.init("pushfleet.dead", arguments: [Header("x-queue-type", .string("classic"))])])
        #expect(try await session.declare(wrong) == [])
        #expect(try await session.declare(topology).count == 1)
        let different = await BrokerCheckup.findings(settings, topology: topology, timeout: .seconds(10))
        #expect(different.map(\.state) == [.ok, .fail])
        #expect(different.last?.text.contains("queue pushfleet.dead differs") == true)
        try await session.delete(queue: "pushfleet.dead")
        #expect(try await session.declare(topology) == [])
        await session.close()
        let after = await BrokerCheckup.findings(settings, topology: topology, timeout: .seconds(10))
        #expect(after.map(\.state) == [.ok, .ok], "\(after)")

        var stranger = settings
        stranger.address.password = "wr0ng"
        let refused = await BrokerCheckup.findings(stranger, topology: topology, timeout: .seconds(10))
        #expect(refused.map(\.state) == [.fail])
        #expect(refused.first?.fix?.contains("user, password") == true)
        #expect(!refused.description.contains("wr0ng"))
    }

    @Test("a dead port is told with what to check")
    func dead() async {
        let address = AMQPAddress(endpoint: Endpoint(host: "127.0.0.1", port: 1))
        let findings = await BrokerCheckup.findings(
            BrokerSettings(address: address, connectionName: "test"),
            topology: Topology(),
            timeout: .seconds(10)
        )
        #expect(findings.map(\.state) == [.fail])
        #expect(findings.first?.fix?.contains("amqp.url") == true)
    }
}

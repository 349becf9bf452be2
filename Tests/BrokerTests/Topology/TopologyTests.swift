import Push
import TestServers
import Testing

@testable import Broker

@Suite struct TopologyTests {
    let broker = PrivateRabbitMQ.shared
    let shop = AppID("com.example.shop")!

    private func session() async throws -> BrokerSession {
        try await BrokerSession.connect(try self.broker.settings(vhost: try self.broker.makeVhost()))
    }

    /// Takes one message from a queue, when it comes.
    private func take(_ queue: String, _ session: BrokerSession) async throws -> Delivery {
        while true {
            if let delivery = try await session.get(queue: queue) { return delivery }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `What is missing or differs is named, and declaring mends what can be mended`() async throws {
        let session = try await self.session()
        let topology = FleetTopology.make(apps: [self.shop], delays: [DelayLevel(milliseconds: 1000)])
        #expect(try await session.product.hasPrefix("RabbitMQ "))
        let before = try await session.verify(topology, comparingArguments: true)
        #expect(before.count == topology.exchanges.count + topology.queues.count)
        #expect(before.allSatisfy { $0.problem == .missing })
        #expect("\(before[0])" == "exchange pushfleet is missing")

        #expect(try await session.declare(topology).isEmpty)
        #expect(try await session.declare(topology).isEmpty)
        #expect(try await session.verify(topology, comparingArguments: true).isEmpty)

        var other = topology
        other.queues[0].arguments[1] = Header("x-delivery-limit", .integer(7))
        other.exchanges[2].kind = .topic
        let differences = try await session.verify(other, comparingArguments: true)
        #expect(differences.map(\.item) == [.exchange("pushfleet.dead"), .queue("pushfleet.unrouted")])
        guard case .differs(let text)? = differences.last?.problem else {
            Issue.record("\(differences)")
            return
        }
        #expect(text.contains("x-delivery-limit"))
        #expect(try await session.verify(other, comparingArguments: false).isEmpty)
        #expect(try await session.declare(other).count == 2)
        await session.close()
    }

    @Test func `A worker's account may look but not declare`() async throws {
        let vhost = try self.broker.makeVhost()
        let admin = try await BrokerSession.connect(try self.broker.settings(vhost: vhost))
        let topology = FleetTopology.make(apps: [self.shop], delays: [])
        #expect(try await admin.declare(topology).isEmpty)
        try self.broker.rabbitmqctl("add_user", "looker", "secret")
        try self.broker.rabbitmqctl("set_permissions", "-p", vhost, "looker", "^$", "^$", "^$")
        var settings = try self.broker.settings(vhost: vhost)
        settings.address.user = "looker"
        settings.address.password = "secret"
        let session = try await BrokerSession.connect(settings)
        #expect(try await session.verify(topology, comparingArguments: false).isEmpty)
        let refused = try await session.declare(Topology(queues: [.quorum("new")]))
        guard case .notPermitted? = refused.first?.problem else {
            Issue.record("\(refused)")
            return
        }
        await session.close()
        await admin.close()
    }

    @Test func `A delayed message comes back to its own queue with its key, headers and body`() async throws {
        let session = try await self.session()
        let level = DelayLevel(milliseconds: 600)
        let topology = FleetTopology.make(apps: [self.shop, AppID("other")!], delays: [level])
        #expect(try await session.declare(topology).isEmpty)
        var message = Message(
            exchange: FleetTopology.delayExchange(level),
            routingKey: FleetTopology.routingKey(app: self.shop, lane: .bulk),
            properties: MessageProperties(
                messageID: Array("id".utf8),
                timestamp: UnixTime(seconds: 1_767_225_600),
                headers: [Header("x-pushfleet-attempt", .integer(2)), Header("traceparent", .string("00-1"))]
            ),
            body: Array("{}".utf8)
        )
        let start = ContinuousClock.now
        // The level's TTL, and a shorter expiration of the message's own.
        #expect(try await session.publish(message) == .confirmed)
        message.properties.expiration = .milliseconds(500)
        message.properties.messageID = Array("sooner".utf8)
        #expect(try await session.publish(message) == .confirmed)
        let queue = FleetTopology.workQueue(app: self.shop, lane: .bulk)
        let back = [try await self.take(queue, session), try await self.take(queue, session)]
        #expect(ContinuousClock.now - start >= .milliseconds(500))
        #expect(Set(back.map(\.messageID)) == [Array("id".utf8), Array("sooner".utf8)])
        for delivery in back {
            #expect(delivery.routingKey == "com.example.shop.bulk")
            #expect(delivery.exchange == "pushfleet")
            #expect(delivery.headers.attempt == 2)
            #expect(delivery.headers.foreign == [Header("traceparent", .string("00-1"))])
            #expect(delivery.headers.firstDeathReason == .expired)
            #expect(delivery.timestamp == UnixTime(seconds: 1_767_225_600))
            #expect(delivery.body == Array("{}".utf8))
            try await session.ack(delivery.id)
        }
        try await session.expect("pushfleet.delay.600ms", messages: 0)
        await session.close()
    }

    @Test func `A message handed out too often lands among the dead with the broker's reason`() async throws {
        let session = try await self.session()
        let topology = FleetTopology.make(apps: [self.shop], delays: [], deliveryLimit: 2)
        #expect(try await session.declare(topology).isEmpty)
        let key = FleetTopology.routingKey(app: self.shop, lane: .now)
        let message = Message(exchange: FleetTopology.exchange, routingKey: key, body: Array("poison".utf8))
        #expect(try await session.publish(message) == .confirmed)
        let queue = FleetTopology.workQueue(app: self.shop, lane: .now)
        for count in 0...2 {
            let delivery = try await self.take(queue, session)
            #expect(delivery.headers.deliveryCount == count)
            try await session.reject(delivery.id, requeue: true)
        }
        let dead = try await self.take(FleetTopology.dead, session)
        #expect(dead.headers.firstDeathReason == .deliveryLimit)
        #expect(dead.routingKey == key)
        #expect(dead.body == Array("poison".utf8))
        #expect(dead.headers.all.contains { $0.name == "x-first-death-queue" && $0.value == .string(queue) })
        await session.close()
    }

    @Test func `What no queue takes is kept as unrouted, and feedback of any kind arrives`() async throws {
        let session = try await self.session()
        // As a former version has left it: suspect tokens would come out among those that are gone.
        var former = Topology(exchanges: [.init(FleetTopology.feedback, .topic)])
        former.queues = FleetTopology.make(apps: [], delays: []).queues.filter { $0.name == FleetTopology.feedback }
        former.bindings = [.init(queue: FleetTopology.feedback, exchange: FleetTopology.feedback, routingKey: "#")]
        #expect(try await session.declare(former).isEmpty)
        #expect(try await session.declare(FleetTopology.make(apps: [self.shop], delays: [])).isEmpty)
        let lost = Message(exchange: FleetTopology.exchange, routingKey: "com.example.shop.slow", body: [1])
        #expect(try await session.publish(lost) == .confirmed)
        #expect(try await self.take(FleetTopology.unrouted, session).routingKey == "com.example.shop.slow")
        let feedback = Message(exchange: FleetTopology.feedback, routingKey: "com.example.shop.gone", body: [2])
        #expect(try await session.publish(feedback) == .confirmed)
        #expect(try await self.take(FleetTopology.feedback, session).body == [2])
        let suspect = Message(exchange: FleetTopology.feedback, routingKey: "com.example.shop.suspect", body: [4])
        #expect(try await session.publish(suspect) == .confirmed)
        #expect(try await self.take(FleetTopology.suspect, session).body == [4])
        try await session.expect(FleetTopology.feedback, messages: 0)
        let receipt = Message(exchange: FleetTopology.receipts, routingKey: "com.example.shop.delivered", body: [5])
        #expect(try await session.publish(receipt) == .confirmed)
        #expect(try await self.take(FleetTopology.receipts, session).body == [5])
        let dead = Message(exchange: FleetTopology.dead, routingKey: "any.key", body: [3])
        #expect(try await session.publish(dead) == .confirmed)
        #expect(try await self.take(FleetTopology.dead, session).routingKey == "any.key")
        await session.close()
    }
}

import Broker
import Push
import TestServers
import Testing

@testable import Desk

@Suite struct DeadLetterLookTests {
    @Test func `Letters that are looked at thirty times stay, with their ids`() async throws {
        let queue = try await DeadQueue()
        try await queue.publish((0..<1500).map { DeadQueue.letter($0) })
        var first: [DeadLetterID] = []
        for round in 0..<30 {
            let look = try await queue.desk.look()
            #expect(look.ready == 1500 && look.seen == 1500, "round \(round)")
            if round == 0 { first = look.letters.map(\.id) }
            #expect(look.letters.map(\.id) == first)
        }
        #expect(Set(first).count == 1500)
        try await eventually("they are given back") { try await queue.depth() == 1500 }
        let left = try await queue.drain(FleetTopology.dead).map { String(decoding: $0.messageID, as: UTF8.self) }
        #expect(left.count == 1500 && Set(left) == Set((0..<1500).map { "order-\($0)" }))
        await queue.session.close()
    }

    /// RabbitMQ 4 has a limit of 20 where none is declared, and no queue takes what is beyond it.
    @Test func `A queue with a limit loses what is looked at more often, so the fleet declares one out of reach`()
        async throws
    {
        let queue = try await DeadQueue()
        try await queue.session.delete(queue: FleetTopology.dead)
        let limited = [Header("x-queue-type", .string("quorum")), Header("x-delivery-limit", .integer(3))]
        let topology = Topology(
            queues: [.init(FleetTopology.dead, arguments: limited)],
            bindings: [.init(queue: FleetTopology.dead, exchange: FleetTopology.dead)]
        )
        #expect(try await queue.session.declare(topology) == [])
        try await queue.publish([DeadQueue.letter(1)])
        for _ in 0..<4 { _ = try await queue.desk.look() }
        try await eventually("it is gone") { try await queue.desk.look().ready == 0 }

        let fleet = FleetTopology.make(apps: [], delays: [])
        let dead = try #require(fleet.queues.first { $0.name == FleetTopology.dead })
        #expect(dead.arguments.contains(Header("x-delivery-limit", .integer(2_000_000_000))))
        await queue.session.close()
    }

    @Test func `A letter is read with all that its worker wrote`() async throws {
        let queue = try await DeadQueue()
        try await queue.publish([DeadQueue.letter(7, more: [Header("x-pushfleet-field", .string("topic"))])])
        let summary = try #require(try await queue.desk.look().letters.first)
        #expect(summary.body.isEmpty && summary.bodyBytes > 100)
        let letter = try #require(try await queue.desk.letter(summary.id))
        #expect(letter.id == summary.id)
        #expect(String(decoding: letter.body, as: UTF8.self) == DeadQueue.body(7))
        #expect(letter.app == DeadQueue.app && letter.lane == .now && letter.tokens == 1)
        #expect(letter.reason == "apns_rejected" && letter.apnsReason == "BadTopic" && letter.field == "topic")
        #expect(letter.detail == "Because." && letter.attempts == 3 && letter.copies == 4)
        #expect(letter.diedAt == UnixTime(milliseconds: 1_790_000_000_007))
        #expect(letter.foreign == [Header("traceparent", .string("00-7"))])
        #expect(!letter.isUnfinished)
        let stranger = try #require(DeadLetterID("00112233445566778899aabb"))
        #expect(try await queue.desk.letter(stranger) == nil)
        await queue.session.close()
    }

    @Test func `What RabbitMQ itself gave up has its reason and time`() async throws {
        let queue = try await DeadQueue()
        let work = FleetTopology.workQueue(app: try #require(AppID(DeadQueue.app)), lane: .bulk)
        var message = DeadQueue.letter(1, lane: "bulk")
        message.exchange = FleetTopology.exchange
        message.properties.headers = [Header("x-pushfleet-copy", .integer(2))]
        try await queue.publish([message])
        let delivery = try #require(try await queue.session.get(queue: work))
        try await queue.session.reject(delivery.id, requeue: false)
        let letter = try await eventually("it is dead") { try await queue.desk.look().letters.first }
        #expect(letter.reason == "rejected" && letter.isUnfinished && letter.copies == 2)
        #expect(letter.diedAt != nil && letter.app == DeadQueue.app && letter.lane == .bulk)
        await queue.session.close()
    }

    @Test func `Without a queue, and without RabbitMQ, it says what to do`() async throws {
        let queue = try await DeadQueue()
        try await queue.session.delete(queue: FleetTopology.dead)
        await #expect(throws: DeadLetterFailure.noQueue) { _ = try await queue.desk.look() }
        var settings = queue.settings
        settings.address.password = "wrong"
        let stranger = DeadLetterDesk(settings)
        do {
            _ = try await stranger.look()
            Issue.record("a stranger was let in")
        } catch {
            guard case .unreachable = error else {
                Issue.record("\(error)")
                return
            }
        }
        await queue.session.close()
    }

    @Test func `A queue that somebody else holds is told apart from one that is empty`() async throws {
        let queue = try await DeadQueue()
        try await queue.publish((0..<3).map { DeadQueue.letter($0) })
        let held = try #require(try await queue.session.get(queue: FleetTopology.dead))
        let look = try await queue.desk.look()
        #expect(look.letters.count == 2)
        try await queue.session.reject(held.id, requeue: true)
        try await eventually("all are back") { try await queue.desk.look().letters.count == 3 }
        await queue.session.close()
    }
}

import Broker
import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("RabbitMQ")
    struct BrokerFaults {
        private static let lost = "RabbitMQ connection lost"

        @Test("F18: RabbitMQ stops and starts under load")
        func restarted() async throws {
            try await Fleet.run(latency: .seconds(8)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(4000)
                try await fleet.waitForInFlight(700)
                // Slow enough that the first are still unanswered when RabbitMQ has been told.
                try Fleet.rabbit.rabbitmqctl("stop_app")
                try await worker.logs(Self.lost)
                try await fleet.simulator.setLatency(.milliseconds(200))
                try Fleet.rabbit.rabbitmqctl("start_app")
                try await fleet.reconnect()
                let verdict = try await fleet.finish()
                verdict.show("F18 RabbitMQ restart", "\(worker.voidDeliveries) deliveries void")
                verdict.expectNothingLost(duplicates: worker.voidDeliveries)
                #expect(worker.voidDeliveries > 0)
                #expect(worker.end == .exit(0))
            }
        }

        @Test("F19: RabbitMQ is killed under load and comes back with its data")
        func killed() async throws {
            try await Fleet.run(latency: .seconds(1)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(6000)
                try await fleet.waitForInFlight(700)
                try Fleet.rabbit.kill()
                try await worker.logs(Self.lost)
                try Fleet.rabbit.start()
                try await fleet.reconnect()
                let verdict = try await fleet.finish()
                verdict.show("F19 RabbitMQ kill -9", "\(worker.voidDeliveries) deliveries void")
                // Acknowledgements that were on their way when it died are lost with it, for all that the worker held.
                verdict.expectNothingLost(duplicates: Fleet.mostHeld)
                #expect(worker.voidDeliveries > 0)
                #expect(worker.end == .exit(0))
            }
        }

        @Test("F20: a frozen RabbitMQ is noticed by its silence, and used again when it wakes")
        func frozen() async throws {
            try await Fleet.run(latency: .seconds(1)) { fleet in
                let worker = try fleet.startWorker()
                try await eventually("two connections with the configured heartbeat") {
                    let list = try Fleet.rabbit.rabbitmqctl("list_connections", "--no-table-headers", "timeout")
                    return list.split(separator: "\n").filter { $0 == "5" }.count == 2
                }
                try await fleet.publish(6000)
                try await fleet.waitForInFlight(700)
                Fleet.rabbit.pause()
                defer { Fleet.rabbit.resume() }
                let noticed = try await worker.logs("silent for two heartbeats", count: 2)
                Fleet.rabbit.resume()
                try await fleet.reconnect()
                let verdict = try await fleet.finish()
                verdict.show(
                    "F20 RabbitMQ frozen",
                    "noticed after \(noticed.seconds) with a heartbeat of 5 s, \(worker.voidDeliveries) deliveries void"
                )
                // Acknowledgements that it had not read when it froze went with their connection.
                verdict.expectNothingLost(duplicates: Fleet.mostHeld)
                #expect(worker.end == .exit(0))
            }
        }

        @Test("F21: during a disk alarm acknowledgements go on and copies wait; then everything settles")
        func alarm() async throws {
            try await Fleet.run(latency: .milliseconds(200)) { fleet in
                try await fleet.simulator.addRule(.refusal(503, "ServiceUnavailable", every: 3, limit: 300))
                try await fleet.simulator.addRule(.refusal(413, "PayloadTooLarge", every: 5, limit: 100))
                try await fleet.publish(2000)
                try Fleet.rabbit.rabbitmqctl("set_disk_free_limit", "100000GB")
                defer { _ = try? Fleet.rabbit.rabbitmqctl("set_disk_free_limit", "50MB") }
                let worker = try fleet.startWorker()
                try await fleet.waitForAccepted(1600)
                try await worker.logs("RabbitMQ blocks publishing")
                try await eventually("all but those with a copy are acknowledged") { try fleet.unacknowledged() == 400 }
                #expect(try await fleet.dead() == 0)
                #expect(try await fleet.waiting() == 0)
                try Fleet.rabbit.rabbitmqctl("set_disk_free_limit", "50MB")
                try await worker.logs("RabbitMQ takes messages again")
                let verdict = try await fleet.finish()
                verdict.show("F21 disk alarm", "400 copies waited while 1600 were acknowledged")
                verdict.expectNothingLost()
                #expect(verdict.deadLettered == 100)
            }
        }

        @Test("F22: a queue deleted under its consumer is consumed again when it is back")
        func queueDeleted() async throws {
            try await Fleet.run(latency: .seconds(2)) { fleet in
                let worker = try fleet.startWorker()
                try await worker.isReady()
                try await fleet.publish(700)
                try await fleet.waitForInFlight(300)
                try await eventually("the worker has them all") { try await fleet.ready() == 0 }
                let inFlight = try await fleet.inFlight()
                try await fleet.session.delete(queue: Fleet.queue)
                try await worker.logs("Cannot consume")
                try await fleet.declare()
                try await fleet.publish(1000)
                let verdict = try await fleet.finish()
                verdict.show("F22 queue deleted", "\(inFlight) in flight, consumer cancelled by the broker")
                verdict.expectNothingLost()
                #expect(inFlight > 0)
                #expect(worker.lines("RabbitMQ connection lost").isEmpty)
            }
        }
    }
}

extension Fleet {
    /// Messages of the work queue that the worker holds, by RabbitMQ.
    func unacknowledged() throws -> Int {
        let lines = try Self.rabbit.rabbitmqctl("list_queues", "--no-table-headers", "name", "messages_unacknowledged")
        let line = lines.split(separator: "\n").first { $0.hasPrefix("\(Self.queue)\t") }
        return line.flatMap { $0.split(separator: "\t").last }.flatMap { Int($0) } ?? -1
    }
}

extension FaultRule {
    fileprivate static func refusal(_ status: Int, _ reason: String, every: Int, limit: Int) -> FaultRule {
        var match = Match()
        match.every = every
        match.limit = limit
        return FaultRule(id: reason, match: match, action: .answer(status: status, reason: reason, body: nil))
    }
}

import Broker
import Push
import Simulator
import Store
import TestServers
import Testing

extension EndToEnd {
    /// Messages that are published more than once on purpose, and such as are taken back before their time.
    @Suite struct Once {
        private static func once(_ mark: String) -> Header { Header(DeliveryHeaders.onceName, .string(mark)) }

        private static func counted(_ field: CounterField, _ fleet: Fleet) throws -> Int {
            Int(try fleet.redis.cli("HGET", "pf:{counters}:of:now:\(Fleet.app)", field.rawValue)) ?? 0
        }

        @Test func `Of a message that is published again under another mark one is sent`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let tokens = [Draft.token(1), Draft.token(2)]
                for mark in ["a", "b", "c"] {
                    try await fleet.publish(Draft(tokens[0]), messageID: "one", headers: [Self.once(mark)])
                    try await fleet.publish(Draft(tokens: tokens), messageID: "two", headers: [Self.once(mark)])
                }
                try await eventually("the others are done with") { try Self.counted(.alreadyDone, fleet) == 6 }
                try await eventually("both are sent") { try await fleet.pushes(of: Fleet.app) == 3 }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A message that waits is claimed when it is due, and sent once`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let draft = Draft(Draft.token(3)).with(#""not_before":\#(UnixTime.now.seconds + 3)"#)
                for mark in ["a", "b"] {
                    try await fleet.publish(draft, messageID: "later", headers: [Self.once(mark)])
                }
                try await eventually("both wait") { try Self.counted(.held, fleet) >= 2 }
                #expect(try fleet.redis.cli("EXISTS", "pf:first:{later}") == "0")
                try await eventually("one is done with") { try Self.counted(.alreadyDone, fleet) == 1 }
                try await eventually("the other is sent") { try await fleet.pushes(of: Fleet.app) == 1 }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `What is cancelled before its time is never sent, what is not is`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let redis = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(fleet.redis.port)))
                defer { redis.close() }
                let due = #""not_before":\#(UnixTime.now.seconds + 3)"#
                for (number, name) in ["stays", "goes"].enumerated() {
                    _ = try await redis.run(ScheduledPush.plan(name, dueIn: .seconds(3)))
                    for part in 0..<2 {
                        let schedule = Header(DeliveryHeaders.scheduleName, .string(name))
                        let draft = Draft(Draft.token(number * 10 + part)).with(due)
                        try await fleet.publish(draft, messageID: "\(name).\(part)", headers: [schedule])
                    }
                }
                let answer = try await redis.run(ScheduledPush.cancel("goes"))
                try #require(ScheduledPush.cancelling(answer) == .cancelled)
                try await eventually("two are dropped") { try Self.counted(.cancelled, fleet) == 2 }
                try await eventually("two are sent") { try await fleet.pushes(of: Fleet.app) == 2 }
                let late = try await redis.run(ScheduledPush.cancel("stays"))
                #expect(ScheduledPush.cancelling(late) == .begun)
                try await fleet.expectNothingLeft()
                #expect(try await fleet.pushes(of: Fleet.app) == 2)
            }
        }
    }
}

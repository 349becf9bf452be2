import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    /// Dead letters on their way back, by `pushfleet dead` as operators type it.
    @Suite struct Replays {
        /// Letters as a worker writes them, of messages with a token each, or two letters for one message.
        private static func bury(_ numbers: Range<Int>, _ fleet: Fleet, perMessage: Int = 1) async throws {
            let now = UnixTime.now.milliseconds
            let messages = numbers.map { number in
                Message(
                    exchange: FleetTopology.dead,
                    routingKey: "\(Fleet.app).now",
                    properties: MessageProperties(
                        messageID: Array("dead-\(number / perMessage)".utf8),
                        timestamp: UnixTime(seconds: 1_700_000_000),
                        headers: [
                            Header("x-pushfleet-attempt", .integer(7)), Header("x-pushfleet-copy", .integer(8)),
                            Header("x-pushfleet-first-seen", .integer(1_700_000_000_000)),
                            Header("x-pushfleet-reason", .string("retry_limit")),
                            Header("x-pushfleet-died-at", .integer(now)),
                        ]
                    ),
                    body: Draft(Draft.token(number)).body
                )
            }
            let outcomes = try await fleet.session.publish(messages)
            try #require(outcomes.allSatisfy { $0 == .confirmed })
        }

        private static func timesSent(_ fleet: Fleet) async throws -> [String: Int] {
            let pushes = try await fleet.simulator.requests(LedgerFilter(accepted: true, answered: true, limit: 200_000))
            return pushes.reduce(into: [:]) { $0[$1.token, default: 0] += 1 }
        }

        /// How many; `PUSHFLEET_TEST_REPLAYS` for more.
        private static let count = ProcessInfo.processInfo.environment["PUSHFLEET_TEST_REPLAYS"].flatMap { Int($0) } ?? 5000

        @Test func `A replay that is killed twice and run again sends every letter once`() async throws {
            let count = Self.count
            var options = Fleet.Options()
            options.keptBodies = 0
            try await Fleet.run(options) { fleet in
                try await Self.bury(0..<count, fleet, perMessage: 2)
                let folder = try Repository.makeTemporaryDirectory("replays")
                defer { try? FileManager.default.removeItem(atPath: folder) }
                let path = try fleet.writeConfiguration(in: folder)
                try await fleet.startWorker()
                let replay = ["dead", "replay", "--yes", "--rate", "100000", "--config", path]
                for part in [count / 5, count / 2] {
                    let victim = try WorkerBinary(replay, in: folder)
                    try await eventually("it is under way", within: .seconds(300)) {
                        try await fleet.simulator.summary().accepted >= part
                    }
                    victim.signal(SIGKILL)
                    #expect(try await victim.end().status == -SIGKILL)
                }
                let heir = try WorkerBinary(replay, in: folder)
                let end = try await heir.end(within: .seconds(600))
                #expect(end.status == 0, "\(end.output)")
                try await eventually("all are sent", within: .seconds(300)) {
                    try await fleet.simulator.summary().accepted >= count
                }
                try await fleet.expectNothingLeft(afterRounds: 3)
                let times = try await Self.timesSent(fleet)
                #expect(times.count == count)
                #expect(times.values.allSatisfy { $0 == 1 }, "\(times.values.count { $0 != 1 }) not once")
            }
        }
    }
}

import Foundation
import Push
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// Leases of 20 s and heartbeats of 3 s, as they are by default.
    @Suite("Redis is gone for a minute and comes back empty")
    struct RedisOutage {
        private static let outage = Duration.seconds(60)

        @Test("Sending goes on until the leases end, waits, and has the whole budget one lease and heartbeat after")
        func minute() async throws {
            let worker = ["streams_per_connection: 10", "prefetch_per_connection: 30"]
            let redis = try PrivateRedis(volatile: true)
            try await Fleet.run(redis: redis, latency: .milliseconds(200), streams: 10, worker: worker) { fleet in
                fleet.maxConnections = 8
                fleet.times = .standard
                try fleet.writeConfiguration()
                let workers = try (0..<3).map { _ in try fleet.startWorker() }
                try await fleet.loadUntil("the whole budget is in use") { try await fleet.connections() == 8 }
                try await fleet.loadUntil("shares are even") { try fleet.shares().least >= 2 }

                let gone = (Fleet.now, ContinuousClock.now)
                try fleet.redis.shutDown()
                try await fleet.loadUntil("it is away for a minute", within: .seconds(120)) {
                    ContinuousClock.now - gone.1 > Self.outage
                }
                let silent = try await fleet.connections() == 0
                let back = Fleet.now
                try fleet.redis.start()
                #expect(try fleet.shares().held == 0, "it has forgotten everything, and nobody claims anything")
                try await fleet.loadUntil("Redis knows that it may have lost leases") { try fleet.isQuarantined() }
                let full = try await fleet.loadUntil("the whole budget is in use again") {
                    try await fleet.connections() == 8
                }
                let recovery = Duration.milliseconds(Fleet.now - back)
                let accepted = try await fleet.simulator.summary().accepted
                try await fleet.loadUntil("pushes flow") {
                    try await fleet.simulator.summary().accepted >= accepted + 1200
                }

                let inFlight = try await fleet.cutOff()
                let verdict = try await fleet.finish()
                let arrivals = try await fleet.arrivals()
                let last = Duration.milliseconds((arrivals.last { $0 < back } ?? 0) - gone.0)
                let first = Duration.milliseconds((arrivals.first { $0 >= back } ?? 0) - back)
                let fast = try #require(Self.beginning(of: 360, in: arrivals.filter { $0 >= back })) - back
                let fullSpeed = Duration.milliseconds(fast)
                verdict.show(
                    "Redis away for 60 s, then empty",
                    "sending went on for \(last.seconds), began again \(first.seconds) after the return, at full "
                        + "speed after \(fullSpeed.seconds), all 8 connections seen after \(recovery.seconds), \(inFlight) in flight when the leases ended"
                )
                // An answer may be on its way when the worker closes: all that the connections carry may come twice.
                #expect(inFlight > 0)
                verdict.expectNothingLost(duplicates: 8 * 10)
                #expect(verdict.deadLettered == 0)
                #expect(silent && full > .zero)
                // A worker takes its lease for ended 17/6 heartbeats before Redis does, and renewed it 1.1 heartbeats
                // before Redis went at the earliest.
                let (lease, heartbeat) = (fleet.times.lease, fleet.times.heartbeat)
                let deadline = lease - heartbeat * 17 / 6
                #expect(last >= deadline - heartbeat * 11 / 10 - .seconds(1))
                #expect(last <= deadline + .seconds(1))
                // The rest is for coming back to Redis, which takes a second at most, and for a busy machine.
                #expect(recovery <= lease + heartbeat + .seconds(3))
                #expect(fullSpeed <= lease + heartbeat + .seconds(3))
                for worker in workers {
                    #expect(worker.lines("Lease ended without a renewal").count == 1)
                    #expect(worker.end == .exit(0))
                }
            }
        }

        /// When the first second began in which so many pushes came; 8 connections of 10 streams at 200 ms carry 400.
        private static func beginning(of count: Int, in arrivals: [Int64]) -> Int64? {
            arrivals.indices.dropLast(count - 1).first { arrivals[$0 + count - 1] - arrivals[$0] <= 1000 }
                .map { arrivals[$0] }
        }
    }
}

extension Fleet {
    /// Milliseconds since 1970, as the ledger counts.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Keeps up the load until something is so.
    @discardableResult
    func loadUntil(
        _ what: String,
        within limit: Duration = .seconds(60),
        _ isTrue: () async throws -> Bool
    ) async throws -> Duration {
        try await eventually(what, within: limit) {
            try await self.topUp()
            return try await isTrue()
        }
    }
}

import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("Many workers that start at once")
    struct ConnectPace {
        private static let rate = 5
        private static let loops = 30
        /// How many milliseconds later than its dial the simulator may see a connection on a busy machine.
        private static let late = 1_500

        @Test("30 workers in 5 processes open their connections at the fleet's pace, and all are open in the end")
        func pace() async throws {
            try await Fleet.run(latency: .milliseconds(10)) { fleet in
                fleet.maxConnections = Self.loops
                fleet.budgetSettings = ["connect_rate: \(Self.rate)"]
                try fleet.writeConfiguration()
                for _ in 0..<5 { _ = try fleet.startWorker(["--loops", "6"]) }
                try await eventually("all connections are open") {
                    try await fleet.connections() == Self.loops
                }
                // What opened, also if it is closed again since.
                let opened = try await fleet.simulator.connections(limit: 10_000).map(\.openedAt).sorted()
                #expect(opened.count >= Self.loops)
                var most = 0
                for first in opened.indices {
                    for last in first..<opened.endIndex {
                        let window = Int(opened[last] - opened[first])
                        let allowed = Self.rate * (1_000 + window + Self.late)
                        #expect((last - first + 1) * 1_000 <= allowed, "\(last - first + 1) within \(window) ms")
                        if window < 1_000 { most = max(most, last - first + 1) }
                    }
                }
                let key = "pf:pace:{production.TEAM123456.KEY1234567}"
                let took = (opened.last ?? 0) - (opened.first ?? 0)
                let counts = try fleet.redis.cli("HGET", fleet.poolKey, "counts")
                print(
                    "PACE \(opened.count) connections in \(took) ms, at most \(most) in one second; "
                        + "granted, waited, wait_time, reclaimed, overage: \(counts)"
                )
                // The slots were taken in Redis: when nobody dials any more, the key is gone.
                try await eventually("the line is empty") { try fleet.redis.cli("EXISTS", key).hasPrefix("0") }
                #expect(try fleet.grants().filter { $0 > 0 } == Array(repeating: 1, count: Self.loops))
                try await fleet.publish(500)
                let verdict = try await fleet.finish()
                #expect(verdict.lost == 0 && verdict.duplicates == 0 && verdict.stillQueued == 0)
                #expect(verdict.delivered == 500 && verdict.peak <= Self.loops)
            }
        }
    }
}

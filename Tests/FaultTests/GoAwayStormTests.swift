import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("GOAWAY storm")
    struct GoAwayStorm {
        /// How many messages; PUSHFLEET_STORM may say another number.
        private static let count = ProcessInfo.processInfo.environment["PUSHFLEET_STORM"].flatMap { Int($0) } ?? 100_000

        @Test("A GOAWAY every second and 2 % of all streams reset: nothing lost, and no more doubled than was reported")
        func storm() async throws {
            try await Fleet.run(latency: .milliseconds(20)) { fleet in
                let workers = [try fleet.startWorker(), try fleet.startWorker()]
                try await fleet.warmUp()
                // Beside the GOAWAY that tells the truth about all that has arrived, some that name an earlier stream.
                var match = FaultRule.Match()
                match.every = 3000
                let goAway = FaultRule.Action.goAway(
                    code: 0,
                    debugData: #"{"reason":"Shutdown"}"#,
                    lastStream: .current
                )
                try await fleet.simulator.addRule(.init(id: "goaway", match: match, action: goAway))
                // Half of the resets come before the push is processed, half after.
                try await fleet.simulator.addRule(.reset(2, probability: 0.01, processes: true))
                try await fleet.simulator.addRule(.reset(2, probability: 0.01, processes: false))
                let start = ContinuousClock.now
                let simulator = fleet.simulator
                let goAways = Task {
                    var told = 0
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .seconds(1))
                        told += (try? await simulator.goAwayAll()) ?? 0
                    }
                    return told
                }
                for _ in 0..<(Self.count / 1000) {
                    try await fleet.publish(1000)
                    try await eventually("little waits", within: .seconds(300)) { try await fleet.ready() < 8000 }
                }
                try await fleet.settled(within: .seconds(600))
                let time = ContinuousClock.now - start
                goAways.cancel()
                let told = await goAways.value
                let verdict = try await fleet.finish()
                let summary = try await fleet.simulator.summary()
                let resets = try await fleet.simulator.rules().filter { $0.rule.id != "goaway" }.reduce(0) {
                    $0 + $1.hits
                }
                let counters = try fleet.counters()
                let possible = counters["possible_duplicates"] ?? 0
                verdict.show(
                    "GOAWAY every second, 2 % resets",
                    "\(told) GOAWAYs, \(summary.withdrawn) requests above them, \(resets) resets, "
                        + "\(counters["resent"] ?? 0) resent, \(possible) possible duplicates reported, "
                        + "\(summary.connectionsOpened) connections, \(time.seconds)"
                )
                verdict.expectNothingLost(duplicates: possible)
                #expect(verdict.published >= Self.count)
                #expect(told > 0 && summary.withdrawn > 0)
                #expect(resets * 100 >= Self.count)
                #expect(verdict.duplicates > 0, "half of the resets came after the push was processed")
                #expect(verdict.deadLettered == 0)
                for worker in workers { #expect(worker.end == .exit(0)) }
            }
        }
    }
}

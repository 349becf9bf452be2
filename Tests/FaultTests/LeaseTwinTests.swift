import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("A worker that was cloned")
    struct LeaseTwin {
        /// What a clone that is ahead leaves in Redis: the same id with a higher number.
        private static let renewAsTwin = """
            local flat = redis.call('HGETALL', KEYS[1])
            for i = 1, #flat, 2 do
                local before, seq, after = string.match(flat[i + 1], '^(%d+ %d+ %d+) (%d+) (%d+ %d+ %d+ %d+ %d+)$')
                if seq then redis.call('HSET', KEYS[1], flat[i], before .. ' ' .. seq + 1000 .. ' ' .. after) end
            end
            """

        @Test(
            "It closes everything, says so, and goes on under another id when the twin's lease allows; nothing is lost"
        )
        func twin() async throws {
            try await Fleet.run(latency: .seconds(1)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(4000)
                try await eventually("the whole budget is in use") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget
                }
                try await fleet.waitForInFlight(500)
                try fleet.redis.cli("EVAL", Self.renewAsTwin, "1", fleet.poolKey)
                let noticed = try await worker.logs("Another worker uses the id")
                // The twin's lease still counts, so nothing is opened in its place.
                let inFlight = try await fleet.cutOff(connections: 0)
                #expect(inFlight > 0)
                let before = try await fleet.simulator.summary().requests
                let resumed = try await eventually("sending goes on") {
                    try await fleet.topUp()
                    return try await fleet.simulator.summary().requests > before
                }
                try await eventually("the whole budget is in use again") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget
                }
                let counts = try fleet.redis.cli("HGET", fleet.poolKey, "counts").split(whereSeparator: \.isWhitespace)
                // Granted twice, waited once, and what the twin was said to hold came back when its lease had ended.
                #expect(counts.compactMap { Int($0) }[0] >= 2 * Fleet.budget)
                #expect(counts[1] == "1" && counts[3...] == ["4", "0"])
                #expect(worker.lines("Another worker uses the id").count == 1)
                #expect(worker.lines("Lease ended without a renewal").isEmpty)
                let verdict = try await fleet.finish()
                verdict.show(
                    "Cloned worker",
                    "noticed after \(noticed.seconds) with \(inFlight) in flight, sending \(resumed.seconds) later"
                )
                // One may leave between the looks at what is in flight; the worker counts it.
                let possible = try fleet.counters()["possible_duplicates"] ?? 0
                verdict.expectNothingLost(duplicates: max(inFlight, possible))
            }
        }
    }
}

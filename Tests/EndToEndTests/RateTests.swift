import Foundation
import Push
import Simulator
import TestServers
import Testing
import Worker

extension EndToEnd {
    @Suite struct Rates {
        private static let slow = "com.example.slow"

        @Test func `An app that waits for its rate holds up no other, and its retries keep the rate as well`()
            async throws
        {
            var options = Fleet.Options()
            options.apps.append(Self.slow)
            options.connections = 1
            try await Fleet.run(options) { fleet in
                let (rate, bucket) = (100, 20)
                let limit = try RateLimit(rate: rate, bucketSize: bucket)
                try await fleet.startWorker { settings in
                    for index in settings.apps.indices where settings.apps[index].id == Self.slow {
                        settings.apps[index].rate = limit
                    }
                }
                let busy = (0..<20).map { Draft.token($0, prefix: "503a") }
                try await fleet.answer(503, "ServiceUnavailable", to: "503a", limit: busy.count)
                var draft = Draft(tokens: (busy + (0..<380).map { Draft.token($0, prefix: "2000") }).shuffled())
                draft.app = Self.slow
                try await fleet.publish(draft, messageID: "slow")
                try await eventually("the slow app sends") { try await fleet.arrivals(to: Self.slow).count > 0 }
                // Of the same credential and behind it in the same connection, and less urgent.
                var other = Draft(tokens: (0..<500).map { Draft.token($0, prefix: "f") })
                other.lane = "bulk"
                try await fleet.publish(other, messageID: "fast")
                try await eventually("all of the other app is sent") {
                    try await fleet.arrivals(to: Fleet.app).count == 500
                }
                #expect(try await fleet.arrivals(to: Self.slow).count < 400, "the slow app was done before")
                try await fleet.accepted(900)

                let arrivals = try await fleet.arrivals(to: Self.slow)
                #expect(arrivals.count == 420)
                var (left, last) = (Double(bucket), arrivals.first ?? 0)
                for time in arrivals {
                    left = min(Double(bucket), left + Double(Int(time - last) * rate) / 1000) - 1
                    // The ledger's times are whole milliseconds.
                    #expect(left >= -Double(rate) / 1000)
                    last = time
                }
                try await fleet.expectNothingLeft()
            }
        }
    }
}

extension Fleet {
    /// When requests for an app came, in order, in milliseconds.
    fileprivate func arrivals(to app: String) async throws -> [Int64] {
        try await self.simulator.requests(LedgerFilter(topic: app, limit: 10_000)).map(\.arrival).sorted()
    }
}

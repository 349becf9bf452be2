import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// The law: in any time t Apple sees no more than `rate · t + bucket_size` requests, first attempts and all others.
    @Suite("Rate")
    struct RateTests {
        private static let rate = 200
        private static let bucket = 50

        private static func limit(_ fleet: Fleet, connections: Int) throws {
            fleet.appSettings = ["rate: \(Self.rate)", "bucket_size: \(Self.bucket)"]
            fleet.maxConnections = connections
            try fleet.writeConfiguration()
        }

        @Test("Eight workers use at least 97 % of a rate, and never exceed it")
        func eight() async throws {
            try await Fleet.run(latency: .milliseconds(100)) { fleet in
                try Self.limit(fleet, connections: 8)
                try await fleet.simulator.addRule(.reset(7, probability: 0.03))
                try await fleet.publish(3000)
                var workers: [WorkerProcess] = []
                for _ in 0..<8 { workers.append(try fleet.startWorker()) }
                let verdict = try await fleet.finish()
                let usage = RateUsage(try await fleet.arrivals(), rate: Self.rate, bucket: Self.bucket)
                let counters = try fleet.counters()
                let scripts = try fleet.scriptCalls()
                verdict.show(
                    "rate of 8 workers",
                    "\(usage), \(counters["resent"] ?? 0) resent, \(counters["rate_limited"] ?? 0) waits for the rate, "
                        + "\(scripts) scripts run in Redis"
                )
                verdict.expectNothingLost()
                #expect(usage.least >= -usage.blur, "\(usage)")
                #expect(usage.percent >= 97, "\(usage)")
                #expect((counters["resent"] ?? 0) > 0 && (counters["rate_limited"] ?? 0) > 2000)
                #expect(counters["given_back"] ?? 0 == 0)
                #expect(verdict.deadLettered == 0)
                for worker in workers { #expect(worker.end == .exit(0)) }
            }
        }

        @Test("A rate holds when Redis is flushed, and one worker is killed and another one stopped")
        func flushed() async throws {
            try await Fleet.run(latency: .milliseconds(100)) { fleet in
                try Self.limit(fleet, connections: Fleet.budget)
                let workers = [try fleet.startWorker(), try fleet.startWorker(), try fleet.startWorker()]
                try await fleet.publish(1500)
                try await fleet.waitForAccepted(400)
                try fleet.redis.cli("FLUSHALL")
                try await fleet.waitForAccepted(800)
                workers[0].signal(SIGKILL)
                try await workers[0].waitForEnd()
                workers[1].signal(SIGTERM)
                #expect(try await workers[1].waitForEnd().end == .exit(0))
                let verdict = try await fleet.finish()
                let inFlight = try await fleet.cutOff()
                let usage = RateUsage(try await fleet.arrivals(), rate: Self.rate, bucket: Self.bucket)
                verdict.show("rate, FLUSHALL, kill -9, SIGTERM", "\(usage), longest silence \(usage.longestSilence) ms")
                verdict.expectNothingLost(duplicates: inFlight)
                #expect(usage.least >= -usage.blur, "\(usage)")
                #expect(
                    try fleet.counters()["given_back"] ?? 0 > 0,
                    "what waits for the rate is left to others at the end"
                )
                #expect(usage.longestSilence >= 1000, "a bucket that nobody knows gives nothing for a while")
            }
        }
    }
}

/// What a ledger says of a rate.
struct RateUsage: CustomStringConvertible {
    /// Requests from the first to the last, and the time between, in milliseconds.
    let count: Int
    let time: Int64
    /// Of these, how many came before the last second's worth of them, when not all workers have something to send any
    /// more, and how long that took.
    private let busyCount: Int
    private let busyTime: Int64
    /// What was least left of a bucket that is exactly the law.
    let least: Double
    let longestSilence: Int64
    private let rate: Int

    /// - Parameter arrivals: in order, in milliseconds.
    init(_ arrivals: [Int64], rate: Int, bucket: Int) {
        var (left, least, last, silence) = (Double(bucket), Double(bucket), arrivals.first ?? 0, Int64(0))
        for time in arrivals {
            left = min(Double(bucket), left + Double(time - last) * Double(rate) / 1000) - 1
            least = min(least, left)
            silence = max(silence, time - last)
            last = time
        }
        self.count = arrivals.count
        self.time = last - (arrivals.first ?? 0)
        let busy = arrivals.dropLast(rate)
        self.busyCount = busy.count
        self.busyTime = (busy.last ?? 0) - (busy.first ?? 0)
        self.least = least
        self.longestSilence = silence
        self.rate = rate
    }

    /// What the ledger's whole milliseconds may hide, in tokens.
    var blur: Double { Double(self.rate) / 1000 }

    /// How much of the rate was used while there was enough to send.
    var percent: Double {
        self.busyTime > 0 ? Double(self.busyCount) * 100_000 / Double(self.busyTime) / Double(self.rate) : 0
    }

    var description: String {
        "\(self.count) requests in \(self.time) ms, \(Double(Int(self.percent * 10)) / 10) % of the rate, "
            + "least left of the bucket \(Int(self.least))"
    }
}

extension Fleet {
    /// When requests came to Apple, in order.
    func arrivals() async throws -> [Int64] {
        try await self.simulator.requests(LedgerFilter(limit: 1_000_000)).map(\.arrival).sorted()
    }

    fileprivate func scriptCalls() throws -> Int {
        let text = try self.redis.cli("INFO", "commandstats")
        guard let calls = text.firstRange(of: "cmdstat_evalsha:calls=") else { return 0 }
        return Int(text[calls.upperBound...].prefix { $0.isNumber }) ?? 0
    }
}

import Foundation
import Push
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// More workers than connections: they take turns.
    @Suite("Fifty workers on a budget of ten")
    struct CrowdedBudget {
        private static let workers = 50
        private static let loops = 5
        private static let budget = 10

        private static func run(_ times: Fleet.Times, _ test: (Fleet) async throws -> Void) async throws {
            let worker = ["streams_per_connection: 10", "prefetch_per_connection: 30"]
            try await Fleet.run(latency: .milliseconds(200), streams: 10, worker: worker) { fleet in
                fleet.maxConnections = Self.budget
                fleet.times = times
                try fleet.writeConfiguration()
                for _ in 0..<Self.workers / Self.loops { _ = try fleet.startWorker(["--loops", "\(Self.loops)"]) }
                try await eventually("all workers are there") { try fleet.shares().all.count == Self.workers }
                try await test(fleet)
            }
        }

        @Test("Every worker gets a turn within the bound, nobody goes beyond the budget, and all backlogs drain")
        func turns() async throws {
            let times = Fleet.Times(lease: .seconds(6), heartbeat: .seconds(1), quantum: .seconds(2))
            try await Self.run(times) { fleet in
                var turns = Turns()
                try await fleet.publish(2000)
                let time = try await eventually("every worker had a turn, twice", within: .seconds(120)) {
                    try await fleet.topUp()
                    turns.saw(try fleet.shares())
                    return turns.counts.count == Self.workers && turns.counts.values.allSatisfy { $0 >= 2 }
                }
                let backlog = try await fleet.ready()
                let verdict = try await fleet.finish()
                let opened = try await fleet.simulator.summary().connectionsOpened
                let rounds = (Self.workers + Self.budget - 1) / Self.budget
                let limit = times.lease * 2 + (times.quantum + times.heartbeat * 4) * rounds
                verdict.show(
                    "50 workers, 10 connections",
                    "each had 2 turns within \(time.seconds), longest wait \(turns.longest.seconds) of \(limit.seconds), "
                        + "\(opened) connections opened in turn"
                )
                verdict.expectNothingLost()
                #expect(turns.longest <= limit)
                #expect(turns.longest > .zero && turns.most <= Self.budget)
                #expect(backlog > 0, "there was work for everyone all the time")
                #expect(opened >= Self.workers)
            }
        }

        @Test("An idle worker with default heartbeats costs Redis fewer than five commands per second")
        func idle() async throws {
            try await Self.run(.standard) { fleet in
                try await eventually("every worker tells the desk of itself") {
                    try fleet.redis.cli("KEYS", "pf:{workers}:of:*").split(separator: "\n").count == Self.workers
                }
                let monitor = try Monitor(fleet.redis.port, "\(fleet.directory)/monitor")
                let (before, start) = (try fleet.commandCalls(), ContinuousClock.now)
                try await Task.sleep(for: .seconds(20))
                let (after, time) = (try fleet.commandCalls(), ContinuousClock.now - start)
                let (clients, inner) = monitor.stop()
                let calls = after.merging(before, uniquingKeysWith: -).filter { $0.value > 0 }
                let seconds = Double(time.milliseconds) / 1000
                let rate = { (count: Int) in Double(count * 100 / Self.workers) / 100 / seconds }
                let all = rate(calls.values.reduce(0, +))
                print(
                    "FAULT idle workers: 50 workers, Redis ran \(rounded(all)) commands per second and worker, of these "
                        + "\(rounded(rate(clients))) sent by workers and \(rounded(rate(inner))) by scripts: "
                        + calls.sorted { $0.value > $1.value }.map { "\($0.key) \(rounded(rate($0.value)))" }
                        .joined(separator: ", ")
                )
                #expect(clients > 0 && all > 0)
                #expect(all < 5)
            }
        }
    }
}

private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

/// Who held a connection when.
private struct Turns {
    private var holders: Set<String> = []
    /// How often a worker was granted its first connection.
    private(set) var counts: [String: Int] = [:]
    /// How long a worker waited for one at most.
    private(set) var longest: Duration = .zero
    /// The most connections that were granted at once.
    private(set) var most = 0

    mutating func saw(_ shares: Shares) {
        let now = Set(shares.all.filter { $0.grant > 0 }.map(\.id))
        for id in now.subtracting(self.holders) { self.counts[id, default: 0] += 1 }
        self.holders = now
        self.most = max(self.most, shares.held)
        for share in shares.all where share.hungry > 0 {
            self.longest = max(self.longest, .milliseconds(shares.time - share.hungry))
        }
    }
}

/// Reads along what a Redis is asked, and tells what clients send from what scripts run.
private final class Monitor {
    private let process: ChildProcess
    private let output: String

    init(_ port: Int, _ output: String) throws {
        self.output = output
        self.process = try ChildProcess(["redis-cli", "-p", "\(port)", "MONITOR"], output: .file(output))
    }

    func stop() -> (clients: Int, inner: Int) {
        self.process.signal(SIGTERM)
        self.process.wait()
        let lines = ((try? String(contentsOfFile: self.output, encoding: .utf8)) ?? "").split(separator: "\n")
        let inner = lines.count { $0.contains(" lua] ") }
        return (lines.count { $0.contains("] \"") } - inner, inner)
    }
}

extension Fleet {
    /// How often Redis has run each command, those of scripts included.
    fileprivate func commandCalls() throws -> [String: Int] {
        let text = try self.redis.cli("INFO", "commandstats")
        return text.split(whereSeparator: \.isNewline).reduce(into: [:]) { calls, line in
            guard let name = line.firstMatch(of: /cmdstat_([^:]+):calls=(\d+)/), let count = Int(name.2) else { return }
            calls[String(name.1)] = count
        }
    }
}

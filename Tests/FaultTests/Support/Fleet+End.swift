import Broker
import Foundation
import Push
import Simulator
import TestServers
import Worker

/// The end of a test: everything is settled, and counted.
extension Fleet {
    /// Waits until everything that was published is settled.
    func settled(within limit: Duration = .seconds(90)) async throws {
        try await eventually("everything is settled", within: limit) {
            guard try await self.waiting() == 0 else { return false }
            // Between two queues a message is in none: only its answer tells that it is done.
            let answered = try await self.accepted(answered: true).keys
            let done = self.answeredBefore.union(answered).count + (try await self.dead())
            return done >= self.published.count
        }
    }

    /// Waits until everything is settled, ends the workers that still run, and counts.
    func finish() async throws -> Verdict {
        try await self.settled()
        for worker in self.workers where worker.end == nil { worker.signal(SIGTERM) }
        for worker in self.workers { try await worker.waitForEnd() }
        let verdict = try await self.count()
        if verdict.lost > 0 || verdict.stillQueued > 0 { await self.explain() }
        return verdict
    }

    /// - Parameter elsewhere: what another Apple has accepted.
    func count(deliveredElsewhere elsewhere: Set<Int> = []) async throws -> Verdict {
        var accepted = try await self.accepted()
        for token in elsewhere { accepted[token, default: 0] += 1 }
        for (token, count) in self.acceptedBefore { accepted[token, default: 0] += count }
        let dead = try await self.numbers(in: FleetTopology.dead)
        var queued: Set<Int> = []
        for queue in self.topology.queues.map(\.name) where !Self.ends.contains(queue) {
            queued.formUnion(try await self.numbers(in: queue))
        }
        var verdict = Verdict()
        verdict.budget = self.maxConnections
        verdict.published = self.published.count
        verdict.delivered = accepted.count
        verdict.duplicates = accepted.values.reduce(0) { $0 + $1 - 1 }
        verdict.deadLettered = dead.count
        verdict.lost = self.published.count { accepted[$0] == nil && !dead.contains($0) && !queued.contains($0) }
        verdict.stillQueued = queued.count
        verdict.peak = max(self.peakBefore, try await self.simulator.summary().connectionsPeak)
        return verdict
    }

    /// How often each token was accepted.
    func accepted(answered: Bool? = nil) async throws -> [Int: Int] {
        let filter = LedgerFilter(accepted: true, answered: answered, limit: 1_000_000)
        let records = try await self.simulator.requests(filter)
        return Dictionary(records.compactMap { Int($0.token).map { ($0, 1) } }, uniquingKeysWith: +)
    }

    /// Takes everything out of a queue.
    private func numbers(in queue: String) async throws -> Set<Int> {
        var numbers: Set<Int> = []
        while let delivery = try await self.session.get(queue: queue) {
            let id = String(decoding: delivery.messageID, as: UTF8.self)
            if let number = Int(id.dropFirst("fault-".count)) { numbers.insert(number) }
            try await self.session.ack(delivery.id)
        }
        return numbers
    }
}

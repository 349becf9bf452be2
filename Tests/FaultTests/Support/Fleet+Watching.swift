import Broker
import Push
import Simulator
import Store
import TestServers
import Worker

/// What the simulator, the queues and Redis say.
extension Fleet {
    /// Messages in the work queue that no worker holds.
    func ready() async throws -> Int {
        try await self.session.queueDepths([Self.queue])[Self.queue]?.messages ?? 0
    }

    /// Queues where nothing is still to be done.
    static let ends = [
        FleetTopology.dead, FleetTopology.feedback, FleetTopology.suspect, FleetTopology.receipts,
    ]

    /// Messages in all queues where something is still to be done.
    func waiting() async throws -> Int {
        let names = Self.topology.queues.map(\.name).filter { !Self.ends.contains($0) }
        return try await self.session.queueDepths(names).values.reduce(0) { $0 + $1.messages }
    }

    func dead() async throws -> Int {
        try await self.session.queueDepths([FleetTopology.dead])[FleetTopology.dead]?.messages ?? 0
    }

    /// Requests without an answer.
    func inFlight() async throws -> Int {
        let summary = try await self.simulator.summary()
        return summary.requests - summary.answered
    }

    func connections() async throws -> Int { try await self.simulator.summary().connectionsOpen }

    /// Requests on connections that are closed, which therefore never got an answer: what may be sent once more.
    /// - Parameter connections: how many stay open; waits until the others are closed.
    func cutOff(connections: Int? = nil) async throws -> Int {
        if let connections {
            try await eventually("connections are closed") { try await self.connections() <= connections }
        }
        let closed = try await self.simulator.connections(limit: 10_000).filter { $0.closedAt != nil }.map(\.number)
        var count = 0
        for connection in closed {
            let filter = LedgerFilter(connection: connection, accepted: true, answered: false, limit: 1_000_000)
            count += try await self.simulator.requests(filter).count
        }
        return count
    }

    func waitForInFlight(_ count: Int) async throws {
        do {
            try await eventually("\(count) requests in flight") { try await self.inFlight() >= count }
        } catch {
            let summary = try await self.simulator.summary()
            let logs = self.workers.map { $0.log.suffix(3000) }.joined(separator: "\n")
            throw NeverHappened(
                description: "\(error); \(summary.requests) requests, \(summary.answered) answered, "
                    + "\(summary.connectionsOpen) connections, verdicts \(summary.verdicts)\n\(logs)"
            )
        }
    }

    func waitForAccepted(_ count: Int) async throws {
        try await eventually("\(count) pushes accepted") { try await self.simulator.summary().accepted >= count }
    }

    /// Connections that Redis counts, by worker.
    /// - Parameter poolKey: of which budget; nil for that of the first key.
    func grants(of poolKey: String? = nil) throws -> [Int] {
        let fields = try self.redis.cli("HGETALL", poolKey ?? self.poolKey).split(separator: "\n")
        return stride(from: 0, to: fields.count - 1, by: 2).compactMap { index in
            ["meta", "counts"].contains(fields[index])
                ? nil : fields[index + 1].split(separator: " ").first.flatMap { Int($0) }
        }
    }

    /// What the workers have counted for the one lane that there is, by field.
    func counters() throws -> [String: Int] {
        let text = try self.redis.cli("HGETALL", Keys.counters(app: Self.app.name, lane: Lane.now.rawValue))
        let fields = text.split(separator: "\n").map(String.init)
        return stride(from: 0, to: fields.count - 1, by: 2).reduce(into: [:]) { $0[fields[$1]] = Int(fields[$1 + 1]) }
    }

    /// Whether Redis lets no grant grow because it may have lost some.
    func isQuarantined() throws -> Bool {
        let meta = try self.redis.cli("HGET", self.poolKey, "meta").split(separator: " ")
        guard meta.count == 3, let now = Int(meta[1]), let end = Int(meta[2]) else { return false }
        return end > now
    }
}

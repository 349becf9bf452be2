package import Broker
package import Push

/// What waits in one of the fleet's queues.
package struct QueueStatus: Equatable, Sendable {
    /// What a queue is for.
    package enum Role: Equatable, Sendable {
        case work(app: AppID, lane: Lane)
        case delay(DelayLevel)
        case dead
        case feedback
        case suspect
        case receipts
        case unrouted
    }

    package let name: String
    package let role: Role
    /// Messages that nobody holds, and consumers; nil if the queue does not exist.
    package let depth: BrokerSession.QueueDepth?

    package init(name: String, role: Role, depth: BrokerSession.QueueDepth?) {
        self.name = name
        self.role = role
        self.depth = depth
    }

    /// Asks RabbitMQ for every queue that there shall be.
    package static func read(
        apps: [AppID],
        delays: [DelayLevel],
        from broker: BrokerSession
    ) async throws(BrokerError) -> [QueueStatus] {
        let roles = Self.roles(apps: apps, delays: delays)
        let depths = try await broker.queueDepths(roles.map(\.name))
        return roles.map { QueueStatus(name: $0.name, role: $0.role, depth: depths[$0.name]) }
    }

    static func roles(apps: [AppID], delays: [DelayLevel]) -> [(name: String, role: Role)] {
        apps.flatMap { app in
            Lane.allCases.map { (FleetTopology.workQueue(app: app, lane: $0), .work(app: app, lane: $0)) }
        }
            + delays.map { ($0.queueName, .delay($0)) }
            + [
                (FleetTopology.dead, .dead), (FleetTopology.feedback, .feedback),
                (FleetTopology.suspect, .suspect), (FleetTopology.receipts, .receipts),
                (FleetTopology.unrouted, .unrouted),
            ]
    }
}

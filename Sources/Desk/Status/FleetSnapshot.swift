package import Store

/// Everything about a fleet that RabbitMQ and Redis know, as far as they answered.
package struct FleetSnapshot: Sendable {
    /// What waits; nil if RabbitMQ did not answer.
    package let queues: [QueueStatus]?
    /// What was done and by whom; nil if Redis did not answer.
    package let fleet: FleetStatus?

    /// What the fleet counted in the last whole minute; nil if Redis did not say.
    package let minute: FleetStatus.Lane?

    package init(queues: [QueueStatus]?, fleet: FleetStatus?, minute: FleetStatus.Lane? = nil) {
        self.queues = queues
        self.fleet = fleet
        self.minute = minute
    }

    /// How long the oldest message of each queue has waited at most, as one look can tell; milliseconds by the queue's
    /// name. After a rest it is as long as the rest: who looks all the time knows more, see ``QueueAge``.
    package var ages: [String: Int64] {
        guard let queues = self.queues, let fleet = self.fleet else { return [:] }
        return QueueAge.all(queues, fleet: fleet, emptyAt: [:], now: fleet.time)
    }

    /// Notifications at Apple, of one app and lane, by the last word of each worker.
    package func inFlight(app: String, lane: String) -> Int {
        self.fleet?.workers.reduce(0) { $0 + ($1.inFlight["\(app).\(lane)"] ?? 0) } ?? 0
    }
}

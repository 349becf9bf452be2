package import Store

/// Everything about a fleet that RabbitMQ and Redis know, as far as they answered.
package struct FleetSnapshot: Sendable {
    /// What waits; nil if RabbitMQ did not answer.
    package let queues: [QueueStatus]?
    /// What was done and by whom; nil if Redis did not answer.
    package let fleet: FleetStatus?

    package init(queues: [QueueStatus]?, fleet: FleetStatus?) {
        self.queues = queues
        self.fleet = fleet
    }

    /// Notifications at Apple, of one app and lane, by the last word of each worker.
    package func inFlight(app: String, lane: String) -> Int {
        self.fleet?.workers.reduce(0) { $0 + ($1.inFlight["\(app).\(lane)"] ?? 0) } ?? 0
    }
}

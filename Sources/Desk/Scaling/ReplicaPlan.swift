internal import Broker
internal import Push
package import Store

/// What the scaling signal says of a fleet: processes, each of which may run several workers (`--loops`).
package struct ReplicaPlan: Hashable, Sendable {
    package let desired: Int
    /// How many the budgets have connections for.
    package let useful: Int

    /// Nil while RabbitMQ or Redis does not answer: whoever scales keeps what there is.
    /// - Parameters:
    ///   - minute: what the fleet counted in the last whole minute.
    ///   - ages: how long the oldest message of each queue has waited, milliseconds by the queue's name.
    ///   - budgets: connections by pool, as configured.
    package init?(
        _ snapshot: FleetSnapshot,
        minute: FleetStatus.Lane?,
        ages: [String: Int64],
        budgets: [String: Int],
        rule: ReplicaRule = ReplicaRule()
    ) {
        guard let queues = snapshot.queues, let fleet = snapshot.fleet else { return nil }
        let paused = Self.paused(fleet)
        var (backlog, waiting, oldest) = (0, 0, Int64(0))
        for queue in queues {
            guard case .work(let app, _) = queue.role, let messages = queue.depth?.messages else { continue }
            waiting += messages
            guard !paused.contains(app.name) else { continue }
            backlog += messages
            oldest = max(oldest, ages[queue.name] ?? 0)
        }
        // The budget in force may be smaller than the configured one, as long as one worker carries that.
        var connections = budgets
        for pool in fleet.pools { connections[pool.name] = pool.budget ?? connections[pool.name] }
        let workers = fleet.workers.filter { !$0.isDraining }
        let hasLease = workers.isEmpty || fleet.pools.contains { $0.held > 0 }
        let load = ReplicaRule.Load(
            workers: workers.count,
            backlog: backlog,
            oldestAge: Double(oldest) / 1000,
            rate: Double(minute.map { $0[CounterField.received] } ?? 0) / 60,
            connections: connections.values.reduce(0, +),
            canSend: hasLease && (waiting == 0 || backlog > 0)
        )
        let processes = Set(workers.map { "\($0.host):\($0.pid)" }).count
        let loops = processes == 0 ? 1 : max(1, (workers.count + processes - 1) / processes)
        let useful = max(1, rule.useful(load) / loops)
        self.useful = useful
        self.desired = min(useful, (rule.desired(load) + loops - 1) / loops)
    }

    /// Apps that nobody sends for: paused for the fleet, or by each worker for itself.
    private static func paused(_ fleet: FleetStatus) -> Set<String> {
        var apps = Set(fleet.pauses.map(\.app))
        guard let first = fleet.workers.first else { return apps }
        for app in first.paused.keys where fleet.workers.allSatisfy({ $0.paused[app] != nil }) { apps.insert(app) }
        return apps
    }
}

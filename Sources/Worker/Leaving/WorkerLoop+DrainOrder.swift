internal import Loop
internal import Push
internal import Store

/// How somebody who cannot send it a signal has a worker leave.
extension WorkerLoop {
    /// Asked at every heartbeat. An answer that does not come is asked for again at the next.
    func askForDrainOrder() {
        guard !self.isDrainOrdered, self.shutdown.phase == .running else { return }
        self.redis.send(DrainOrder.question(for: self.id.description)) { [unowned self] result in
            guard !self.isDrainOrdered, self.shutdown.phase == .running else { return }
            guard case .success(let reply) = result, let order = DrainOrder(reply) else { return }
            self.isDrainOrdered = true
            self.tell.drainOrdered(by: order.by)
            self.onDrainOrder(order)
        }
    }
}

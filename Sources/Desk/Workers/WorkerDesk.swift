internal import Loop
internal import Push
package import Store

/// What operators do about workers.
package struct WorkerDesk: Sendable {
    private let session: RedisSession
    private let name: String

    /// - Parameter name: the operator, as workers log it.
    package init(_ session: RedisSession, as name: String) {
        self.session = session
        self.name = name
    }

    /// Orders workers to drain and to leave, as SIGTERM does; they take it at their next heartbeat (2 s). A process
    /// with several loops leaves whole when one of them has the order.
    package func drain(_ workers: [WorkerBeat]) async throws(RedisFailure) {
        let order = DrainOrder(by: self.name, time: WallClock.now())
        for worker in workers { _ = try await self.session.send(order.command(for: worker.id)) }
    }
}

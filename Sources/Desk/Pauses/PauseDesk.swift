internal import Push
package import Store

/// What operators do about an app's pauses.
package struct PauseDesk: Sendable {
    private let session: RedisSession
    private let name: String

    /// - Parameter name: the operator, as others read it.
    package init(_ session: RedisSession, as name: String) {
        self.session = session
        self.name = name
    }

    /// Stops an app on all workers; one that is stopped by hand already gets the new time and reason.
    /// - Parameter time: after which it ends by itself; nil for never.
    package func pause(_ app: String, for time: Duration?, reason: String) async throws(RedisFailure) -> AppPause? {
        try await self.carryOut(.hold(for: time, reason: reason, since: nil), app)
    }

    /// Ends an app's pause by hand; of any other pause the next probe goes at once.
    /// - Returns: the pauses that there were.
    package func resume(_ app: String) async throws(RedisFailure) -> [AppPause] {
        let reply = try await self.session.run(PausedApps.read)
        let pauses = (PausedApps.answer(reply) ?? []).filter { $0.app == app && $0.isStanding }
        for pause in pauses {
            switch pause.kind {
            case .hand: _ = try await self.carryOut(.release, app)
            case .fault: _ = try await self.carryOut(.due(since: pause.since), app)
            }
        }
        return pauses
    }

    private func carryOut(_ order: PausedApps.Order, _ app: String) async throws(RedisFailure) -> AppPause? {
        let call = PausedApps.call(order, app: app, by: "desk", name: self.name)
        return PausedApps.answer(try await self.session.run(call))?.first
    }
}

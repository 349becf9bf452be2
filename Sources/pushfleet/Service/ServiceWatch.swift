internal import Loop
internal import Push
internal import Synchronization

/// Tells systemd of a service as long as it runs; without systemd it does nothing.
final class ServiceWatch: Sendable {
    private let notice: ServiceNotice?
    private let isStopping = Atomic(false)

    init(_ notice: ServiceNotice? = ServiceNotice()) {
        self.notice = notice
    }

    /// Runs `body`, and beside it tells how the service is.
    /// - Parameter health: asked again and again; while it does not return, systemd hears nothing.
    func run<Answer>(
        health: @escaping @Sendable () async -> ServiceHealth,
        _ body: () async throws -> Answer
    ) async rethrows -> Answer {
        let telling = Task { await self.tell(health) }
        defer { telling.cancel() }
        return try await body()
    }

    /// From here on the service takes leave.
    func stops() {
        self.isStopping.store(true, ordering: .relaxed)
        self.notice?.send(["STOPPING=1"])
    }

    private func tell(_ health: @Sendable () async -> ServiceHealth) async {
        guard let notice = self.notice else { return }
        var pulse = ServicePulse(watchdog: notice.watchdog)
        // Often enough for "ready" to be prompt, and for any watchdog that is worth the name.
        let interval = min(.milliseconds(500), (notice.watchdog ?? .seconds(3)) / 6)
        var last = ServiceHealth(isReady: false)
        while !Task.isCancelled {
            // What stops may have nothing left that could answer; how long it may take, systemd knows itself.
            let isStopping = self.isStopping.load(ordering: .relaxed)
            if isStopping { last.status = "stopping" } else { last = await health() }
            notice.send(pulse.beat(last, isStopping: isStopping, at: MonotonicClock.now()))
            try? await Task.sleep(for: interval)
        }
    }
}

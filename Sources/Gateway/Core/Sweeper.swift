internal import Loop
internal import Push
internal import Registry
internal import Store

/// Frees, step by step, what deleted applications and topics occupied, and ends subscriptions whose endpoint is gone.
/// Every gateway does it; a step that another has done finds nothing.
final class Sweeper {
    private unowned let core: GatewayLoop

    /// How long subscriptions stay listed after their endpoint: Amazon keeps them for good.
    private static let age = Duration.seconds(24 * 3600)

    init(core: GatewayLoop) {
        self.core = core
    }

    func start() {
        // Gateways that start together do not sweep together.
        self.after(.milliseconds(Int64.random(in: 5000...60_000)))
    }

    private func after(_ delay: Duration) {
        self.core.loop.after(delay) { [weak self] in self?.step() }
    }

    private func step() {
        guard self.core.redis.server != nil else { return self.after(.seconds(10)) }
        self.core.registry.sweep(olderThan: Self.age) { [weak self] result in
            guard let self else { return }
            guard case .success(let swept) = result else { return self.after(.seconds(60)) }
            self.core.metrics.add(.swept, swept.count)
            // Others want Redis too.
            self.after(swept.hasMore ? .milliseconds(50) : .seconds(60))
        }
    }
}

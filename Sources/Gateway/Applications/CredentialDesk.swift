internal import Loop
internal import Push
internal import Registry
internal import Store

/// Disables applications whose credentials Apple refuses, as Amazon does. Every gateway looks at the fleet's pauses as
/// often as workers do, whether anybody publishes or not; nearly always there are none.
final class CredentialDesk {
    private unowned let core: GatewayLoop

    private static let interval = Duration.seconds(2)

    init(core: GatewayLoop) {
        self.core = core
    }

    func start() {
        self.core.loop.after(Self.interval) { [weak self] in
            self?.look()
            self?.start()
        }
    }

    private func look() {
        guard self.core.redis.server != nil else { return }
        self.core.redis.run(PausedApps.read) { [weak self] result in
            guard let self, case .success(let reply) = result else { return }
            for pause in PausedApps.answer(reply) ?? [] where CredentialRefusal.concerns(pause) { self.judge(pause) }
        }
    }

    private func judge(_ pause: AppPause) {
        self.core.applications.name(ofApp: pause.app) { [weak self] result in
            guard let self, case .success(let name?) = result else { return }
            self.core.registry.application(name) { [weak self] result in
                guard let self, case .success(let application?) = result,
                    CredentialRefusal.disables(pause, application, at: self.core.loop.wallTime)
                else { return }
                self.disable(name)
            }
        }
    }

    private func disable(_ name: ApplicationName) {
        self.core.registry.setApplication(name, attributes: ["Enabled": "false"]) { [weak self] result in
            guard let self, case .success(.changed) = result else { return }
            self.core.metrics.add(.applicationsDisabled)
            self.core.applications.forget(name)
        }
    }

    /// An application is enabled again: the next push shows whether Apple takes its credentials now.
    func retry(app: String) {
        let call = PausedApps.call(.due(since: nil), app: app, by: "gateway", name: "gateway")
        self.core.redis.run(call) { _ in }
    }
}

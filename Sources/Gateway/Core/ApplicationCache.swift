internal import Loop
internal import Push
internal import Registry
internal import Store

/// Platform applications as they were a moment ago: for what may be late by that moment, such as who hears of events.
final class ApplicationCache {
    private unowned let core: GatewayLoop
    private var known: [ApplicationName: (application: PlatformApplication?, time: MonotonicTime)] = [:]
    private var names: [String: ApplicationName] = [:]

    private static let life = Duration.seconds(2)
    private static let limit = 10_000

    init(core: GatewayLoop) {
        self.core = core
    }

    /// Called at once for what is known, else later.
    func application(
        _ name: ApplicationName,
        _ completion: @escaping (Result<PlatformApplication?, RedisFailure>) -> Void
    ) {
        if let known = self.known[name], self.core.loop.now - known.time < Self.life {
            return completion(.success(known.application))
        }
        self.core.registry.application(name) { [weak self] result in
            guard let self else { return }
            if case .success(let application) = result { self.remember(name, application) }
            completion(result)
        }
    }

    func forget(_ name: ApplicationName) {
        self.known[name] = nil
    }

    private func remember(_ name: ApplicationName, _ application: PlatformApplication?) {
        if self.known.count >= Self.limit { self.known.removeAll() }
        self.known[name] = (application, self.core.loop.now)
        if let app = application?.fleetApp { self.names[app] = name }
    }

    /// The application that an app of the fleet sends for; nil if there is none.
    func name(ofApp app: String, _ completion: @escaping (Result<ApplicationName?, RedisFailure>) -> Void) {
        if let name = self.names[app] { return completion(.success(name)) }
        self.search(app, after: nil, completion)
    }

    private func search(
        _ app: String,
        after: ApplicationName?,
        _ completion: @escaping (Result<ApplicationName?, RedisFailure>) -> Void
    ) {
        self.core.registry.applications(after: after, limit: 100) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let page):
                for application in page.items { self.remember(application.name, application) }
                if let name = self.names[app] { return completion(.success(name)) }
                guard let next = page.next else { return completion(.success(nil)) }
                self.search(app, after: next, completion)
            }
        }
    }
}

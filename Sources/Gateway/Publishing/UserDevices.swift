internal import Push
internal import Registry
internal import Store

/// Finds the devices of a user: all endpoints with the same user data, of all applications, that are enabled.
final class UserDevices {
    private let core: GatewayLoop
    private var devices: [FanOutChunk.Device] = []

    /// More devices than any user has; user data that all endpoints share name no user.
    private static let limit = 1000

    init(core: GatewayLoop) {
        self.core = core
    }

    func find(_ user: String, _ completion: @escaping (Result<[FanOutChunk.Device], RedisFailure>) -> Void) {
        self.read(user, after: nil, completion)
    }

    private func read(
        _ user: String,
        after: [UInt8]?,
        _ completion: @escaping (Result<[FanOutChunk.Device], RedisFailure>) -> Void
    ) {
        self.core.registry.endpoints(withUserData: user, after: after, limit: 100) { result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let page):
                self.add(page.items[...]) { failure in
                    if let failure { return completion(.failure(failure)) }
                    guard let next = page.next, self.devices.count < Self.limit else {
                        return completion(.success(Array(self.devices.prefix(Self.limit))))
                    }
                    self.read(user, after: next, completion)
                }
            }
        }
    }

    private func add(_ endpoints: ArraySlice<PlatformEndpoint>, _ done: @escaping (RedisFailure?) -> Void) {
        guard let endpoint = endpoints.first else { return done(nil) }
        self.core.applications.application(endpoint.name.application) { result in
            switch result {
            case .failure(let failure): return done(failure)
            case .success(let application):
                let token = endpoint.token.text
                let isFit = endpoint.isEnabled && Contract.tokenDigits.contains(token.utf8.count)
                if let application, application.isEnabled, let app = application.fleetApp, isFit {
                    self.devices.append(
                        FanOutChunk.Device(
                            application: application.name,
                            app: app,
                            token: token,
                            mayRepeat: false,
                            isLogged: ReceiptDesk.isLogged(application)
                        )
                    )
                }
                self.add(endpoints.dropFirst(), done)
            }
        }
    }
}

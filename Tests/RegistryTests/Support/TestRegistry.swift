import Loop
import Synchronization
import TestServers
import Wire

@testable import Registry
@testable import Store

/// A registry on a loop thread of its own, asked from tests.
final class TestRegistry: Sendable {
    private final class Made: Sendable {
        let registry = Mutex<LoopBound<Registry>?>(nil)
        let client = Mutex<LoopBound<RedisClient>?>(nil)
    }

    private let thread: LoopThread
    private let registry: LoopBound<Registry>
    private let client: LoopBound<RedisClient>

    convenience init(_ redis: PrivateRedis, cascades: Bool = false) async throws {
        try await self.init(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)), cascades: cascades)
    }

    init(_ address: RedisAddress, cascades: Bool = false) async throws {
        let made = Made()
        let (states, continuation) = AsyncStream.makeStream(of: Bool.self)
        self.thread = try LoopThread.start(name: "test-registry") { loop in
            var settings = RedisClient.Settings()
            settings.commandTimeout = .seconds(60)
            let client = RedisClient(address: address, tls: nil, settings: settings, on: loop)
            client.observe { _ in continuation.yield(client.server != nil) }
            var own = Registry.Settings()
            own.cascades = cascades
            made.client.withLock { $0 = LoopBound(client, to: loop) }
            made.registry.withLock { $0 = LoopBound(Registry(client, settings: own), to: loop) }
            client.start()
        }
        self.registry = made.registry.withLock { $0! }
        self.client = made.client.withLock { $0! }
        for await isReady in states where isReady { break }
    }

    deinit {
        let client = self.client
        self.thread.remote.post {
            client.value.stop()
            client.value.loop.stop()
        }
        self.thread.join()
    }

    /// Runs one operation on the loop and waits for its outcome.
    func ask<Outcome: Sendable>(
        _ body: @escaping @Sendable (Registry, @escaping Registry.Completion<Outcome>) -> Void
    ) async throws -> Outcome {
        let registry = self.registry
        let result: Result<Outcome, RedisFailure> = await withCheckedContinuation { continuation in
            self.thread.remote.post { body(registry.value) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    // MARK: What most tests need

    func create(_ new: NewEndpoint) async throws -> EndpointCreation {
        try await self.ask { $0.createEndpoint(new, $1) }
    }

    func get(_ id: ResourceID, of application: ApplicationName) async throws -> PlatformEndpoint? {
        try await self.ask { $0.endpoint(EndpointName(application: application, id: id), $1) }
    }

    func set(_ id: ResourceID, of application: ApplicationName, _ change: EndpointChange) async throws -> Change {
        try await self.ask { $0.setEndpoint(EndpointName(application: application, id: id), change, $1) }
    }

    func delete(_ id: ResourceID, of application: ApplicationName) async throws -> Removal {
        try await self.ask { $0.deleteEndpoint(EndpointName(application: application, id: id), $1) }
    }

    func make(_ application: ApplicationName) async throws {
        _ = try await self.ask { $0.createApplication(application, attributes: [:], fleet: nil, $1) }
    }

    /// Makes an endpoint that is sure to be new.
    func added(_ token: String, to application: ApplicationName, userData: String? = nil) async throws -> ResourceID {
        let new = NewEndpoint(application, token: EndpointToken(token), userData: userData)
        guard case .created(let id) = try await self.create(new) else {
            throw NeverHappened(description: "\(token) is not new")
        }
        return id
    }

    /// Sweeps until nothing is left to do.
    @discardableResult
    func sweep(limit: Int = 1000) async throws -> Int {
        var count = 0
        while true {
            let swept = try await self.ask { $0.sweep(olderThan: .zero, limit: limit, $1) }
            count += swept.count
            if !swept.hasMore { return count }
        }
    }
}

extension ApplicationName {
    static let shop = ApplicationName(platform: "APNS", name: "com.example.shop")
    static let other = ApplicationName(platform: "APNS_SANDBOX", name: "com.example.other")
}

/// A Redis of one's own and a registry in it.
func withRegistry(
    cascades: Bool = false,
    _ body: (PrivateRedis, TestRegistry) async throws -> Void
) async throws {
    let redis = try PrivateRedis(volatile: true)
    defer { redis.stop() }
    try await body(redis, try await TestRegistry(redis, cascades: cascades))
}

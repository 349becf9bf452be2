import Loop
import Push
import Synchronization
import TestServers
import Wire

@testable import Store

/// A client on a loop thread of its own, whose states can be waited for.
final class TestClient: Sendable {
    let client: LoopBound<RedisClient>
    let thread: LoopThread
    private let changes: AsyncStream<Void>

    init(
        _ address: RedisAddress,
        trusting authorities: String? = nil,
        timeout: Duration = .seconds(2)
    ) throws {
        let made = Made()
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        self.changes = changes
        self.thread = try LoopThread.start(name: "test-redis") { loop in
            var settings = RedisClient.Settings()
            settings.commandTimeout = timeout
            settings.transport.connectTimeout = timeout
            let tls = address.usesTLS ? try! TLSContext.client(trusting: authorities) : nil
            let client = RedisClient(address: address, tls: tls, settings: settings, on: loop)
            client.observe { state in
                made.states.withLock { $0.append(state) }
                continuation.yield()
            }
            made.client.withLock { $0 = LoopBound(client, to: loop) }
        }
        self.client = made.client.withLock { $0! }
        self.made = made
        let client = self.client
        self.thread.remote.post { client.value.start() }
    }

    private let made: Made

    private final class Made: Sendable {
        let client = Mutex<LoopBound<RedisClient>?>(nil)
        let states = Mutex<[RedisClient.State]>([])
    }

    deinit {
        let client = self.client
        self.thread.remote.post {
            client.value.stop()
            client.value.loop.stop()
        }
        self.thread.join()
    }

    var seen: [RedisClient.State] { self.made.states.withLock { $0 } }

    /// Waits for a state from number `start` on that is like this.
    @discardableResult
    func wait(from start: Int = 0, for isIt: (RedisClient.State) -> Bool) async -> RedisClient.State {
        if let state = self.seen.dropFirst(start).first(where: isIt) { return state }
        for await _ in self.changes {
            if let state = self.seen.dropFirst(start).first(where: isIt) { return state }
        }
        return .stopped
    }

    @discardableResult
    func waitUntilReady(from start: Int = 0) async -> RedisServer? {
        let state = await self.wait(from: start) { state in
            guard case .ready = state else { return false }
            return true
        }
        guard case .ready(let server) = state else { return nil }
        return server
    }

    func send(_ command: RedisCommand) async -> Result<RedisReply, RedisFailure> {
        await self.with { client, completion in client.send(command, completion) }
    }

    func run(_ call: ScriptCall) async -> Result<RedisReply, RedisFailure> {
        await self.with { client, completion in client.run(call, completion) }
    }

    /// Runs `body` on the loop; it must call the completion once.
    func with<Value: Sendable>(
        _ body: @escaping @Sendable (RedisClient, @escaping (Value) -> Void) -> Void
    ) async -> Value {
        let client = self.client
        return await withCheckedContinuation { continuation in
            self.thread.remote.post { body(client.value) { continuation.resume(returning: $0) } }
        }
    }
}

extension RedisAddress {
    init(_ redis: PrivateRedis) {
        self.init(host: "127.0.0.1", port: UInt16(redis.port))
        self.password = redis.password
    }
}

extension Result where Success == RedisReply, Failure == RedisFailure {
    var refusal: RedisError? {
        guard case .failure(.refused(let error)) = self else { return nil }
        return error
    }
}

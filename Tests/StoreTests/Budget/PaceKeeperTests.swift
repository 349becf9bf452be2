import Loop
import Push
import TestServers
import Testing

@testable import Store

/// The pace on a real loop and a real Redis.
@Suite struct PaceKeeperTests {
    /// A worker that would dial.
    private final class Worker: Sendable {
        let client: TestClient
        private let keeper: LoopBound<PaceKeeper>
        private let changes: AsyncStream<Void>

        init(_ redis: PrivateRedis, rate: Int) async throws {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            self.changes = changes
            self.client = try TestClient(RedisAddress(redis), timeout: .milliseconds(300))
            self.keeper = await self.client.with { client, completion in
                let keeper = PaceKeeper(
                    Budget(pool: "pool", connections: 1),
                    pace: ConnectPace(rate: rate),
                    client: client,
                    on: client.loop
                ) {
                    continuation.yield()
                }
                completion(LoopBound(keeper, to: client.loop))
            }
            await self.client.waitUntilReady()
        }

        func mayDial() async -> Bool {
            let keeper = self.keeper
            return await self.client.with { _, completion in completion(keeper.value.mayDial()) }
        }

        func waitForChange() async {
            for await _ in self.changes { return }
        }

        /// How long it takes until it may dial, asking only when it is told to.
        func timeToDial() async -> Duration {
            let clock = ContinuousClock()
            return await clock.measure { while await !self.mayDial() { await self.waitForChange() } }
        }
    }

    private static func calls(_ redis: PrivateRedis) throws -> Int {
        let stats = try redis.cli("info", "commandstats").split(whereSeparator: \.isNewline)
        let counts = stats.filter { $0.hasPrefix("cmdstat_evalsha:") }.compactMap { line in
            line.split(separator: ",")[0].split(separator: "=").last.flatMap { Int($0) }
        }
        return counts.reduce(0, +)
    }

    @Test func `A dial costs one trip to Redis, and beyond the burst it waits for its turn behind others`() async throws
    {
        let redis = try PrivateRedis()
        defer { redis.stop() }
        let (first, second) = try await (Worker(redis, rate: 2), Worker(redis, rate: 2))
        // The first call teaches Redis the script.
        _ = await first.timeToDial()
        try redis.cli("del", Keys.pace(pool: "pool"))
        let before = try Self.calls(redis)
        var waited = Duration.zero
        for _ in 0..<2 {
            waited += await first.timeToDial()
            waited += await second.timeToDial()
        }
        let trips = try Self.calls(redis) - before
        // A slot that a busy machine took up too late is asked for once more, or twice.
        #expect((4...12).contains(trips))
        #expect(waited >= .milliseconds(900), "two are a burst, two come half a second apart")
    }

    @Test func `Without an answer of Redis nobody waits for a slot`() async throws {
        let redis = try PrivateRedis()
        defer { redis.stop() }
        let worker = try await Worker(redis, rate: 1)
        _ = await worker.timeToDial()
        // Frozen: the answer does not come, and the request's failure is leave enough.
        redis.pause()
        #expect(await !worker.mayDial())
        await worker.waitForChange()
        #expect(await worker.mayDial())
        // Away: nobody is asked.
        for _ in 0..<3 { #expect(await worker.mayDial()) }
        redis.resume()
        // Nor is somebody who may not be asked waited for.
        let seen = worker.client.seen.count
        await worker.client.waitUntilReady(from: max(0, seen - 1))
        try redis.cli("del", Keys.pace(pool: "pool"))
        try redis.cli("hset", Keys.pace(pool: "pool"), "not", "a string")
        #expect(await !worker.mayDial())
        await worker.waitForChange()
        #expect(await worker.mayDial())
    }
}

import Loop
import Push
import Synchronization
import TestServers
import Testing

@testable import Store

/// The lease on a real loop, a real Redis and the real clock.
@Suite struct LeaseKeeperTests {
    /// A worker that opens whatever it may.
    private final class Worker: Sendable {
        /// Opens and closes on the loop.
        private final class Connections: LeaseKeeperDelegate {
            var keeper: LeaseKeeper?
            let report: @Sendable (Int) -> Void
            let want: Int

            init(want: Int, _ report: @escaping @Sendable (Int) -> Void) {
                self.want = want
                self.report = report
            }

            func leaseDidChange(_ keeper: LeaseKeeper) {
                var open = keeper.open - keeper.excess
                keeper.update(open: open, want: self.want)
                while keeper.mayOpen, keeper.open < self.want {
                    open += 1
                    keeper.update(open: open, want: self.want)
                }
                self.report(open)
            }

            func leaseDidEnd(_ keeper: LeaseKeeper) {
                #expect(!keeper.isValid && keeper.excess == keeper.open && !keeper.mayOpen)
                keeper.update(open: 0, want: self.want)
                self.report(0)
            }

            func leaseHasTwin(_ keeper: LeaseKeeper) {
                self.leaseDidEnd(keeper)
                self.report(Worker.sawTwin)
            }
        }

        let client: TestClient
        private let connections: LoopBound<Connections>
        private let counts: AsyncStream<Int>
        /// Is reported after all is closed.
        static let sawTwin = -1

        init(_ redis: PrivateRedis, budget: Budget, want: Int, id: InstanceID = InstanceID()) async throws {
            let (counts, continuation) = AsyncStream.makeStream(of: Int.self)
            self.counts = counts
            self.client = try TestClient(RedisAddress(redis), timeout: .milliseconds(500))
            self.connections = await self.client.with { client, completion in
                let connections = Connections(want: want) { continuation.yield($0) }
                let settings = try! LeaseSettings(
                    ttl: .milliseconds(1_800),
                    heartbeat: .milliseconds(300)
                )
                let keeper = LeaseKeeper(
                    budget: budget,
                    settings: settings,
                    id: id,
                    client: client,
                    on: client.loop,
                    delegate: connections
                )
                connections.keeper = keeper
                keeper.update(open: 0, want: want)
                keeper.start()
                completion(LoopBound(connections, to: client.loop))
            }
        }

        func waitUntilOpen(_ number: Int) async {
            for await count in self.counts where count == number { return }
        }

        /// Whether it noticed that somebody else has its id; else it goes on with so many open.
        func hasTwin(orOpens number: Int) async -> Bool {
            for await count in self.counts where count == number || count == Self.sawTwin {
                return count == Self.sawTwin
            }
            return false
        }

        var id: InstanceID {
            get async {
                let connections = self.connections
                return await self.client.with { _, completion in completion(connections.value.keeper!.id) }
            }
        }

        func release() async {
            let connections = self.connections
            let _: Bool = await self.client.with { _, completion in
                connections.value.keeper?.update(open: 0, want: 0)
                connections.value.keeper?.release { completion(true) }
            }
        }
    }

    private static func declare(_ budget: Budget, on redis: PrivateRedis) async throws {
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        _ = try await session.run(budget.initialize(on: try #require(await session.server())))
    }

    @Test func `Workers share, take over from one that leaves, and come back after Redis`() async throws {
        let redis = try PrivateRedis()
        defer { redis.stop() }
        let budget = Budget(pool: "pool", connections: 4)
        try await Self.declare(budget, on: redis)
        let first = try await Worker(redis, budget: budget, want: 4)
        await first.waitUntilOpen(4)
        let second = try await Worker(redis, budget: budget, want: 4)
        await second.waitUntilOpen(2)
        await first.waitUntilOpen(2)
        await second.release()
        await first.waitUntilOpen(4)
        // F42: frozen. The lease ends by the worker's own clock.
        redis.pause()
        await first.waitUntilOpen(0)
        redis.resume()
        await first.waitUntilOpen(4)
        // F39, F41: gone, and back as another process: first quarantine, then everything.
        try redis.kill()
        await first.waitUntilOpen(0)
        try redis.start()
        await first.waitUntilOpen(4)
        // F40, F43: it goes on from the claims of those who hold something.
        try redis.cli("flushall")
        try redis.cli("script", "flush")
        let third = try await Worker(redis, budget: budget, want: 4)
        await third.waitUntilOpen(2)
        await first.release()
        await third.waitUntilOpen(4)
        await third.release()
    }

    /// Started together nobody can say which of the two is first with a sequence number; later it is the second one that
    /// is behind, like a machine that goes on from an older snapshot.
    @Test(arguments: [false, true])
    func `Of two workers under one id one begins anew under another, and they share the budget`(isLater: Bool)
        async throws
    {
        let redis = try PrivateRedis()
        defer { redis.stop() }
        let budget = Budget(pool: "pool", connections: 4)
        try await Self.declare(budget, on: redis)
        let id = InstanceID()
        let first = try await Worker(redis, budget: budget, want: 4, id: id)
        if isLater { await first.waitUntilOpen(4) }
        let second = try await Worker(redis, budget: budget, want: 4, id: id)
        async let firstNoticed = first.hasTwin(orOpens: 2)
        async let secondNoticed = second.hasTwin(orOpens: 2)
        let noticed = await [firstNoticed, secondNoticed]
        #expect(noticed.count { $0 } == 1)
        for worker in [first, second] { await worker.waitUntilOpen(2) }
        let ids = await [first.id, second.id]
        #expect(ids.map { $0 == id } == noticed.map { !$0 }, "the other one keeps the id")
        let fields = try redis.cli("hgetall", Keys.budget(pool: "pool")).split(separator: "\n")
        for id in ids {
            let index = try #require(fields.firstIndex(of: Substring(id.description)))
            #expect(fields[index + 1].hasPrefix("2 "))
        }
        await first.release()
        await second.release()
    }
}

import Loop
import Push
import TestServers
import Testing

@testable import Store

@Suite struct CounterFlushTests {
    /// A flush on a client's loop.
    final class Flusher: Sendable {
        let client: TestClient
        let id: InstanceID
        private let flush: LoopBound<CounterFlush>

        init(_ redis: PrivateRedis, id: InstanceID = InstanceID(), timeout: Duration = .seconds(2)) async throws {
            self.id = id
            self.client = try TestClient(RedisAddress(redis), timeout: timeout)
            await self.client.waitUntilReady()
            self.flush = await self.client.with { client, completion in
                let flush = CounterFlush(id: id, client: client, on: client.loop)
                completion(LoopBound(flush, to: client.loop))
            }
        }

        func count(_ body: @escaping @Sendable (inout CounterBatch) -> Void) async {
            let flush = self.flush
            let _: Bool = await self.client.with { _, completion in
                body(&flush.value.batch)
                completion(true)
            }
        }

        /// Writes everything out; false when that failed.
        func write() async -> Bool {
            let flush = self.flush
            return await self.client.with { _, completion in flush.value.stop(completion) }
        }

        /// As write, at a minute of the test's choice.
        func cut(at minute: Int64) async {
            let flush = self.flush
            let _: Bool = await self.client.with { _, completion in
                flush.value.flush(at: minute)
                completion(true)
            }
        }

        func rename() async {
            let flush = self.flush
            let _: Bool = await self.client.with { _, completion in
                flush.value.rename()
                completion(true)
            }
        }

        func start() async {
            let flush = self.flush
            let _: Bool = await self.client.with { _, completion in
                flush.value.start()
                completion(true)
            }
        }
    }

    private static func status(_ redis: PrivateRedis, pools: [String] = []) async throws -> FleetStatus {
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        return try await CounterReader(session).read(pools: pools)
    }

    @Test func `Of two workers under one id, the one that takes another is counted again`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let first = try await Flusher(redis)
        let twin = try await Flusher(redis, id: first.id)
        for flusher in [first, twin] {
            await flusher.count { batch in
                let slot = batch.slot(app: "com.example.shop", lane: "now")
                batch.add(.received, at: slot)
            }
            #expect(await flusher.write())
        }
        #expect(try await Self.status(redis).lanes[0][.received] == 1, "the twin's first flush looks like one seen")
        await twin.rename()
        await twin.count { batch in
            let slot = batch.slot(app: "com.example.shop", lane: "now")
            batch.add(.received, at: slot)
        }
        #expect(await twin.write())
        #expect(try await Self.status(redis).lanes[0][.received] == 2)
    }

    @Test func `What workers count is what is read`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        for _ in 0..<2 {
            let flusher = try await Flusher(redis)
            await flusher.count { batch in
                let slot = batch.slot(app: "com.example:shop", lane: "bulk")
                batch.add(.received, 5, at: slot)
                batch.add(.deadLettered, batch.reason("PayloadTooLarge"), 2, at: slot)
                batch.observe(.milliseconds(42), .apnsLatency, at: slot)
                batch.observe(.seconds(4_000), .endToEnd, at: slot)
                batch.add(.delivered, at: batch.slot(app: "com.example:shop", lane: "now"))
            }
            #expect(await flusher.write())
            #expect(await flusher.write())
        }
        let status = try await Self.status(redis)
        #expect(status.lanes.map { "\($0.app) \($0.lane)" } == ["com.example:shop bulk", "com.example:shop now"])
        let bulk = try #require(status.lanes.first)
        #expect(bulk[.received] == 10 && bulk[CounterField.deadLettered] == 4 && bulk[.delivered] == 0)
        #expect(bulk[ReasonField.deadLettered] == ["PayloadTooLarge": 4])
        #expect(bulk[.apnsLatency].count == 2 && bulk[.apnsLatency].sum == 84)
        let median = try #require(bulk[.apnsLatency].percentile(0.5))
        #expect(median > 25 && median <= 50)
        #expect(bulk[.endToEnd].mean == 4_000_000)
        #expect(status.totals["delivered"] == 2)
        for key in try redis.cli("keys", "*").split(separator: "\n") {
            #expect(Int(try redis.cli("pttl", String(key))) ?? -1 > 0, "\(key) lives for ever")
        }
    }

    @Test func `More lanes than fit into one flush are all written`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let flusher = try await Flusher(redis)
        await flusher.count { batch in
            for number in 0..<200 { batch.add(.received, at: batch.slot(app: "app\(number)", lane: "now")) }
        }
        #expect(await flusher.write())
        let status = try await Self.status(redis)
        #expect(status.lanes.count == 200 && status.totals == ["received": 200])
    }

    @Test func `A flush whose answer was lost counts once`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let flusher = try await Flusher(redis, timeout: .milliseconds(300))
        redis.pause()
        await flusher.count { $0.add(.received, 7, at: $0.slot(app: "app", lane: "now")) }
        // It lies in the socket of the frozen server, which runs it when it wakes, after we have given up.
        #expect(await flusher.write() == false)
        await flusher.count { $0.add(.received, 1, at: $0.slot(app: "app", lane: "now")) }
        let seen = flusher.client.seen.count
        redis.resume()
        await flusher.client.waitUntilReady(from: seen)
        #expect(await flusher.write())
        #expect(try await Self.status(redis).totals == ["received": 8])
        #expect(try redis.cli("info", "commandstats").contains("cmdstat_hincrby:calls=6,"))
    }

    @Test func `While Redis is away counting goes on, and nothing is lost`() async throws {
        let redis = try PrivateRedis()
        defer { redis.stop() }
        let flusher = try await Flusher(redis)
        await flusher.start()
        await flusher.count { $0.add(.received, 1, at: $0.slot(app: "app", lane: "now")) }
        #expect(await flusher.write())
        let seen = flusher.client.seen.count
        try redis.shutDown()
        for _ in 0..<5 {
            await flusher.count { $0.add(.received, 1, at: $0.slot(app: "app", lane: "now")) }
            #expect(await flusher.write() == false)
        }
        try redis.start()
        await flusher.client.waitUntilReady(from: seen)
        #expect(await flusher.write())
        #expect(try await Self.status(redis).totals["received"] == 6)
    }

    @Test func `A key that someone else has filled does not hold up the others`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        try redis.cli("set", Keys.counters(app: "broken", lane: "now"), "text")
        let flusher = try await Flusher(redis)
        await flusher.count { batch in
            for app in ["broken", "whole"] { batch.add(.received, at: batch.slot(app: app, lane: "now")) }
        }
        #expect(await flusher.write())
        #expect(try redis.cli("hget", Keys.counters(app: "whole", lane: "now"), "received") == "1")
    }

    @Test func `Workers and their pools are seen, until they leave`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        let id = InstanceID()
        var beat = WorkerBeat(
            id: id,
            version: "1.2.3",
            host: "pod-1",
            pid: 42,
            startedAt: UnixTime(milliseconds: 1_700_000_000_123)
        )
        beat.connectionsHeld = ["production.T.K": 3, "old": 1]
        beat.inFlight = ["com.example.shop.now": 17]
        beat.prefetch = 400
        beat.paused = ["com.example.shop": "suspects"]
        beat.pausedSince = ["com.example.shop": UnixTime(milliseconds: 1_700_000_001_000)]
        beat.oldestInHand = ["com.example.shop.now": UnixTime(milliseconds: 1_700_000_000_900)]
        beat.loop = 3
        beat.isDraining = true
        _ = try await session.run(beat.call(after: nil))
        let first = beat
        beat.connectionsHeld["old"] = nil
        _ = try await session.run(beat.call(after: first))
        let second = beat
        beat.prefetch = 300
        _ = try await session.run(beat.call(after: second))
        let budget = Budget(pool: "production.T.K", connections: 4)
        let runID = try #require(await session.server())
        _ = try await session.run(budget.initialize(on: runID))
        let request = RenewRequest(seq: 1, open: 1, want: 3, claim: 0, proof: nil)
        _ = try await session.run(budget.renew(request, as: id, runID: runID.runID, settings: .standard))
        _ = try await session.run(
            Budget(pool: "idle", connections: 4).initialize(on: runID)
        )

        let status = try await CounterReader(session).read(pools: ["idle"])
        var read = try #require(status.workers.first)
        #expect(read.lastBeat.map { status.time - $0 < .seconds(60) } == true)
        read.lastBeat = nil
        #expect(status.workers.count == 1 && read == beat)
        #expect(status.pools.map(\.name) == ["idle", "production.T.K"])
        let pool = try #require(status.pools.last)
        #expect(pool.counts.granted == 2 && pool.counts.overage == 1 && pool.counts.waited == 0)
        #expect(pool.held == 3 && pool.wanted == 3 && pool.budget == 4 && pool.quarantine == .zero)
        #expect(pool.leases.first?.worker == id.description && pool.leases.first?.open == 1)

        #expect(try await session.run(WorkerBeat.goodbye(id)) == .integer(1))
        #expect(try await CounterReader(session).read().workers.isEmpty)
        for key in try redis.cli("keys", "*").split(separator: "\n") {
            #expect(Int(try redis.cli("pttl", String(key))) ?? -1 > 0, "\(key) lives for ever")
        }
    }
}

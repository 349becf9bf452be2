import Loop
import Push
import TestServers
import Testing

@testable import Store

/// Counters by minute, through a real Redis.
@Suite struct SeriesTests {
    private static func count(_ app: String, _ count: Int64, _ batch: inout CounterBatch) {
        let slot = batch.slot(app: app, lane: "now")
        batch.add(.delivered, count, at: slot)
        batch.observe(.milliseconds(40), .apnsLatency, at: slot)
    }

    @Test func `What was counted before the minute changed stays in its minute, Redis away or not`() async throws {
        let redis = try PrivateRedis()
        defer { redis.stop() }
        let flusher = try await CounterFlushTests.Flusher(redis)
        await flusher.cut(at: 1_000)
        await flusher.count { Self.count("shop", 1, &$0) }
        // The batch was filled before the minute changed.
        await flusher.cut(at: 1_001)
        await flusher.count { Self.count("shop", 20, &$0) }
        let seen = flusher.client.seen.count
        try redis.shutDown()
        await flusher.cut(at: 1_002)
        await flusher.count { Self.count("shop", 300, &$0) }
        await flusher.cut(at: 1_003)
        await flusher.count { Self.count("news", 4_000, &$0) }
        await flusher.cut(at: 1_004)
        try redis.start()
        await flusher.client.waitUntilReady(from: seen)
        #expect(await flusher.write())

        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        let reader = SeriesReader(session)
        let fleet = try await reader.fleet(from: 999, length: 6)
        #expect(fleet.values(.delivered) == [nil, 1, 20, 300, 4_000, nil])
        #expect(fleet.percentiles(0.5, of: .apnsLatency)[1].map { $0 > 25 && $0 <= 50 } == true)
        let shop = try await reader.app("shop", from: 1_000, length: 5)
        #expect(shop.values(.delivered) == [1, 20, 300, nil, nil])
        #expect(shop.total()[.apnsLatency].count == 0, "an app's minutes have no histograms")
        let status = try await CounterReader(session).read()
        #expect(status.totals["delivered"] == 4_321 && status.schema == FleetStatus.currentSchema)
        for key in try redis.cli("keys", "*:minute:*").split(separator: "\n") {
            let life = Int(try redis.cli("pttl", String(key))) ?? -1
            #expect(life > 0 && life <= 48 * 3_600_000, "\(key) lives for \(life) ms")
        }
    }

    @Test func `Reasons beyond the limit of a hash are counted as other, whoever writes them`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        for worker in 0..<3 {
            let flusher = try await CounterFlushTests.Flusher(redis)
            await flusher.cut(at: 5)
            await flusher.count { batch in
                let slot = batch.slot(app: "shop", lane: "now")
                for number in 0..<400 { batch.add(.answered, batch.reason("R\(worker)-\(number)"), at: slot) }
            }
            // The flush of the new minute takes what was counted in minute 5.
            await flusher.cut(at: 6)
            #expect(await flusher.write())
        }
        let total = try redis.cli("hlen", Keys.counters(app: "shop", lane: "now"))
        #expect(Int(total.trimmed) == CounterPart.totalLimit + 1)
        for key in [Keys.minute(5, "now:shop"), Keys.fleetMinute(5, lane: "now")] {
            #expect(Int(try redis.cli("hlen", key).trimmed) == CounterPart.minuteLimit + 1)
        }
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        let series = try await SeriesReader(session).fleet(from: 5, length: 1)
        let reasons = series.total()[ReasonField.answered]
        #expect(reasons.values.reduce(0, +) == 1_200 && reasons["other"] == Int64(1_200 - CounterPart.minuteLimit))
    }

    @Test func `The newest publishing time stays, whoever writes last, and is no counter`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        for time in [Int64(1_700_000_000_500), 1_700_000_000_900, 1_700_000_000_100] {
            let flusher = try await CounterFlushTests.Flusher(redis)
            await flusher.count { batch in
                let slot = batch.slot(app: "shop", lane: "now")
                batch.add(.received, at: slot)
                batch.received(publishedAt: UnixTime(milliseconds: time), at: slot)
            }
            #expect(await flusher.write())
        }
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        let status = try await CounterReader(session).read()
        #expect(status.lanes.first?.receivedUntil == UnixTime(milliseconds: 1_700_000_000_900))
        #expect(status.totals == ["received": 3])
    }
}

extension String {
    fileprivate var trimmed: String { String(self.prefix { !$0.isNewline }) }
}

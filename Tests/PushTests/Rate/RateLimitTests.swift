import Push
import TestRandom
import Testing

@Suite("Rate limit")
struct RateLimitTests {
    struct Row: Sendable {
        let rate: Int, size: Int?
        let bucket: Int, spread: Int, capacity: Int, batch: Int, usable: Int
    }

    /// Spread and capacity in milliseconds.
    @Test(
        "keeps back what may come late, and what it cannot keep back slows it down",
        arguments: [
            Row(rate: 200, size: 50, bucket: 50, spread: 122, capacity: 127, batch: 10, usable: 100),
            Row(rate: 200, size: nil, bucket: 200, spread: 497, capacity: 502, batch: 10, usable: 100),
            Row(rate: 1, size: nil, bucket: 5, spread: 1000, capacity: 4000, batch: 1, usable: 100),
            Row(rate: 1, size: 1, bucket: 1, spread: 50, capacity: 1050, batch: 1, usable: 95),
            Row(rate: 200, size: 11, bucket: 11, spread: 50, capacity: 5, batch: 1, usable: 100),
            Row(rate: 200, size: 1, bucket: 1, spread: 50, capacity: 55, batch: 1, usable: 9),
            Row(rate: 1_000_000, size: nil, bucket: 1_000_000, spread: 499, capacity: 500, batch: 50_000, usable: 100),
        ]
    )
    func derived(row: Row) throws {
        let limit = try RateLimit(rate: row.rate, bucketSize: row.size)
        #expect(limit.bucketSize == row.bucket)
        #expect(limit.spread.milliseconds == row.spread)
        #expect(limit.capacity.milliseconds == row.capacity)
        #expect(limit.batch == row.batch)
        #expect(limit.usablePercentage == row.usable)
        #expect(limit.life < limit.spread && limit.life > .zero)
    }

    @Test("refuses zero, negative and absurd numbers by name")
    func faults() {
        for number in [0, -1, .min, 1_000_001, .max] {
            let rate = #expect(throws: SettingFault.self) { try RateLimit(rate: number) }
            #expect(rate?.setting == "rate")
            let size = #expect(throws: SettingFault.self) { try RateLimit(rate: 1, bucketSize: number) }
            #expect(size?.setting == "bucket_size")
        }
    }

    @Test("says which bucket is large enough for the whole rate", arguments: [1, 7, 50, 200, 999, 30_000])
    func useful(rate: Int) throws {
        let size = try RateLimit(rate: rate, bucketSize: 1).leastUsefulBucket
        #expect(try RateLimit(rate: rate, bucketSize: size).usablePercentage == 100)
    }

    /// So many tokens, due as early as the bucket allows: the first one comes late, the last one at once.
    @Test("keeps the law for any numbers", arguments: 0..<200 as Range<UInt64>)
    func law(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func number() -> Int { Int.random(in: 1...(1 << Int.random(in: 0...19, using: &random)), using: &random) }
        let limit = try RateLimit(rate: number(), bucketSize: number())
        for tokens in [1, 2, 3, 10, 1000, 1_000_000] {
            let due = max(.zero, .nanoseconds(tokens * limit.interval) - limit.capacity)
            let seen = max(0, (due - limit.spread).nanoseconds)
            let allowed = Double(limit.rate) * Double(seen) / 1e9 + Double(limit.bucketSize)
            #expect(Double(tokens) <= allowed + Double(limit.rate) / 1e6 * 2 + 0.001, "\(limit), \(tokens)")
        }
    }
}

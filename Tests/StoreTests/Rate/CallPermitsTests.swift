import Push
import TestServers
import Testing

@testable import Store

@Suite struct CallPermitsTests {
    @Test func `A bucket gives what it holds, to whoever asks, and no more`() async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        defer { session.close() }
        let key = InstanceID().description
        // So slow that nothing comes back while this runs.
        let limit = try RateLimit(rate: 1, bucketSize: 500)
        var taken = 0
        for _ in 0..<10 { taken += try await Self.take(60, of: limit, key, session) }
        #expect((500...560).contains(taken))
        #expect(try await session.send(RedisCommand("PTTL", Keys.calls(key))).integer ?? 0 > 500_000)
        #expect(try await Self.take(5, of: limit, InstanceID().description, session) == 5)
    }

    @Test func `It fills at its rate, up to its size`() async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        defer { session.close() }
        let key = InstanceID().description
        let limit = try RateLimit(rate: 1_000_000, bucketSize: 10)
        for _ in 0..<20 {
            try await eventually("it is full again") { try await Self.take(100, of: limit, key, session) == 10 }
        }
    }

    private static func take(_ count: Int, of limit: RateLimit, _ key: String, _ session: RedisSession) async throws
        -> Int
    {
        let reply = try await session.run(CallPermits.take(count, of: limit, key: key))
        return Int(try #require(reply.integer))
    }
}

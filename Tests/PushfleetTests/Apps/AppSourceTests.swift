internal import Store
internal import TestServers
internal import Testing
internal import Worker

@testable import pushfleet

/// What a worker process hears from Redis about apps.
@Suite struct AppSourceTests {
    private static func source(_ redis: PrivateRedis, user: String = "") -> AppSource {
        let url = "redis://\(user)127.0.0.1:\(redis.port)"
        return AppSource(FleetSettings(amqp: ServerSettings(url: ""), redis: ServerSettings(url: url)))
    }

    /// Waits for the first news other than that Redis is away.
    private static func news(_ source: AppSource) async throws -> [AppSource.News] {
        try await eventually("Redis answers") {
            let news = await source.look()
            return news.isEmpty ? nil : news
        }
    }

    @Test("all apps are read once for each change; while Redis is away there is no news")
    func changes() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
        let source = Self.source(redis)
        #expect(await source.look() == [.apps(StoredApps())])
        #expect(await source.look() == [])
        let put = try #require(StoredApps.Outcome(try await session.run(StoredApps.put("a", "{}"))))
        let apps = StoredApps(version: put.version, values: ["a": "{}"])
        #expect(await source.look() == [.apps(apps)])
        // What changes nothing is no news, and costs one small question.
        _ = try await session.run(StoredApps.put("a", "{}"))
        #expect(await source.look() == [])
        session.close()
        try redis.shutDown()
        #expect(await source.look() == [])
        #expect(await Self.source(redis).look() == [], "nor if it was away from the beginning")
        try redis.start()
        try redis.cli("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
        let evicts = AppSource.News.evicts(RedisMemory(policy: "volatile-lru", limit: 0))
        #expect(try await Self.news(source) == [evicts, .apps(StoredApps())], "another process, and it is empty")
        #expect(await source.look() == [])
        await source.close()
    }

    @Test("a Redis that refuses to tell is told once, until it answers")
    func refused() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        try redis.cli("ACL", "SETUSER", "someone", "on", ">x", "~*", "+auth", "+client|setname", "+info")
        let source = Self.source(redis, user: "someone:x@")
        guard case .refused(let text)? = await source.look().first else {
            Issue.record("it told")
            return
        }
        #expect(text.hasPrefix("NOPERM"))
        #expect(await source.look() == [])
        try redis.cli("ACL", "SETUSER", "someone", "+get", "+hgetall")
        #expect(await source.look() == [.apps(StoredApps())])
        await source.close()
    }
}

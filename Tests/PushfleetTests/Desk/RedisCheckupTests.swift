internal import Push
internal import Store
internal import TestServers
internal import Testing

@testable import Desk

@Suite struct RedisCheckupTests {
    @Test(
        "versions before 6 are doubtful",
        arguments: [("5.0.14", Finding.State.warn), ("6.0.0", .ok), ("7.0.15", .ok), ("unknown", .ok)]
    )
    func version(version: String, state: Finding.State) {
        #expect(RedisCheckup.version(version, at: "redis://localhost").state == state)
    }

    @Test(
        "a policy that evicts fails once there is a limit",
        arguments: [
            ("maxmemory:0\r\nmaxmemory_policy:noeviction", .ok), ("maxmemory:1\r\nmaxmemory_policy:noeviction", .ok),
            ("maxmemory:0\r\nmaxmemory_policy:allkeys-lru", .warn),
            ("maxmemory:1\r\nmaxmemory_policy:allkeys-lru", .fail),
            ("maxmemory:9\r\nmaxmemory_policy:volatile-ttl\r\n", .fail), ("used_memory:1", .warn), ("", .warn),
        ] as [(String, Finding.State)]
    )
    func eviction(info: String, state: Finding.State) {
        let finding = RedisCheckup.eviction(.success(.string(Array("# Memory\r\n\(info)".utf8))))
        #expect(finding.state == state, "\(finding)")
    }

    @Test(
        "the skew counts from the nearer end of the round trip",
        arguments: [
            (1000, 0, .ok), (1006, 0, .warn), (995, 100_000, .ok), (990, 0, .warn), (1002, 500_000, .ok),
        ] as [(Int64, Int64, Finding.State)]
    )
    func skew(seconds: Int64, micros: Int64, state: Finding.State) {
        let reply = RedisReply.array([.integer(seconds), .integer(micros)])
        let finding = RedisCheckup.skew(
            .success(reply),
            before: UnixTime(seconds: 1000),
            after: UnixTime(milliseconds: 1_000_900)
        )
        #expect(finding.state == state, "\(finding)")
    }

    @Test("what is not answered is told with what to allow")
    func refused() {
        let error = RedisError(text: "NOPERM this user has no permissions to run the 'eval' command")
        #expect(RedisCheckup.scripts(.failure(.refused(error))).state == .fail)
        let time = UnixTime(seconds: 1)
        #expect(RedisCheckup.skew(.failure(.refused(error)), before: time, after: time).state == .warn)
    }

    @Test("a counter that cannot be counted up is named")
    func counters() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        for (app, value) in [("good", "7"), ("bad", "many")] {
            try redis.cli("zadd", Keys.allCounters, "1", "now:\(app)")
            try redis.cli("hset", Keys.counters(app: app, lane: "now"), "delivered", value)
        }
        try redis.cli("zadd", Keys.allCounters, "1", "now:text")
        try redis.cli("set", Keys.counters(app: "text", lane: "now"), "x")
        let findings = await RedisCheckup.findings(
            url: "redis://127.0.0.1:\(redis.port)",
            caFile: nil,
            timeout: .seconds(10)
        )
        let finding = try #require(findings.first { $0.subject == "redis counters" })
        #expect(finding.state == .warn)
        #expect(finding.text.contains("\(Keys.counters(app: "bad", lane: "now")) delivered"))
        #expect(finding.text.contains(Keys.counters(app: "text", lane: "now")))
        #expect(!finding.text.contains("good"))
    }

    @Test("a real server passes, a wrong password and a dead port do not")
    func real() async throws {
        let redis = try PrivateRedis(password: "pässword", volatile: true)
        defer { redis.stop() }
        let port = redis.port
        let good = await RedisCheckup.findings(
            url: "redis://:p%C3%A4ssword@127.0.0.1:\(port)",
            caFile: nil,
            timeout: .seconds(10)
        )
        #expect(good.map(\.state) == [.ok, .ok, .ok, .ok, .ok], "\(good)")
        let wrong = await RedisCheckup.findings(
            url: "redis://:wrong@127.0.0.1:\(port)",
            caFile: nil,
            timeout: .seconds(10)
        )
        #expect(wrong.map(\.state) == [.fail])
        #expect(wrong.first?.fix?.contains("password") == true)
        #expect(wrong.first?.text.contains("wrong@") == false)
        let dead = await RedisCheckup.findings(url: "redis://127.0.0.1:1", caFile: nil, timeout: .seconds(10))
        #expect(dead.map(\.state) == [.fail])
        let bad = await RedisCheckup.findings(url: "redis://localhost/x", caFile: nil, timeout: .seconds(10))
        #expect(bad.map(\.state) == [.fail])
    }
}

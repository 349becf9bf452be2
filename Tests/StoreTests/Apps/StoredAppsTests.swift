import Foundation
import TestServers
import Testing

@testable import Store

@Suite struct StoredAppsTests {
    private static func run(_ body: (PrivateRedis, RedisSession) async throws -> Void) async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        try await body(redis, session)
    }

    @Test func `Every change raises the version, and what changes nothing does not`() async throws {
        try await Self.run { redis, session in
            func act(_ call: ScriptCall) async throws -> StoredApps.Outcome {
                try #require(StoredApps.Outcome(try await session.run(call)))
            }
            #expect(try await StoredApps.read(from: session) == StoredApps())
            let first = try await act(StoredApps.put("a", "1"))
            #expect(first.before == nil)
            let same = try await act(StoredApps.put("a", "1"))
            #expect(same == StoredApps.Outcome(version: first.version, before: "1"))
            let changed = try await act(StoredApps.put("a", "2"))
            #expect(changed.version > first.version && changed.before == "1")
            let other = try await act(StoredApps.put("b", "3"))
            #expect(other.version > changed.version)
            let removed = try await act(StoredApps.remove("a"))
            #expect(removed.version > other.version && removed.before == "2")
            #expect(try await act(StoredApps.remove("a")) == .init(version: removed.version, before: nil))
            // One that Redis has lost ends too.
            let lost = try await act(StoredApps.remove("c"))
            #expect(lost.version > removed.version && lost.before == nil)
            let all = StoredApps(version: lost.version, values: ["b": "3"], removed: ["a", "c"])
            #expect(try await StoredApps.read(from: session) == all)
            let again = try await act(StoredApps.put("a", "4"))
            #expect(again.before == nil && again.version > lost.version)
            #expect(try await StoredApps.read(from: session).removed == ["c"])
            for key in [Keys.apps, Keys.appsVersion] { #expect(try redis.cli("TTL", key) == "-1") }
        }
    }

    @Test func `A sealed credential is read with the apps, and goes with its app`() async throws {
        try await Self.run { redis, session in
            for app in ["a", "b"] {
                try redis.cli("HSET", Keys.appCredentials, app, "sealed \(app)")
                _ = try await session.run(StoredApps.put(app, "{}"))
            }
            #expect(try await StoredApps.read(from: session).credentials == ["a": "sealed a", "b": "sealed b"])
            _ = try await session.run(StoredApps.remove("a"))
            #expect(try await StoredApps.read(from: session).credentials == ["b": "sealed b"])
            #expect(try redis.cli("TTL", Keys.appCredentials) == "-1")
        }
    }

    @Test func `A Redis that was flushed never has a version again that it had before`() async throws {
        try await Self.run { redis, session in
            var versions: Set<Int64> = []
            for round in 0..<5 {
                let outcome = StoredApps.Outcome(try await session.run(StoredApps.put("a", "\(round)")))
                #expect(versions.insert(try #require(outcome).version).inserted)
                // The version is the server's time, and that has to go on.
                let before = try redis.cli("TIME")
                try await eventually("a millisecond passes") { try redis.cli("TIME") > before }
                try redis.cli("FLUSHALL")
            }
        }
    }

    @Test func `What was removed is forgotten after 30 days, what is there never`() async throws {
        try await Self.run { _, session in
            func act(_ operation: String, _ app: String, day: Int64) async throws {
                let script = Script(AppsScript.source(now: "local now = \(1_700_000_000_000 + day * 86_400_000)"))
                var call = ScriptCall(script, keys: [Keys.apps, Keys.appsVersion])
                call.add(operation)
                call.add(app)
                call.add("value")
                _ = try await session.run(call)
            }
            try await act("put", "a", day: 0)
            try await act("remove", "b", day: 0)
            try await act("remove", "c", day: 1)
            try await act("put", "d", day: 30)
            #expect(try await StoredApps.read(from: session).removed == ["b", "c"])
            try await act("put", "e", day: 31)
            let apps = try await StoredApps.read(from: session)
            #expect(apps.removed == ["c"])
            #expect(Set(apps.values.keys) == ["a", "d", "e"])
            // A clock that goes back changes nothing of the order.
            try await act("put", "f", day: 2)
            let later = try await StoredApps.read(from: session).version
            #expect(try #require(later) > #require(apps.version))
        }
    }

    @Test(
        "The eviction policy is read from INFO memory",
        arguments: [
            ("maxmemory:0\r\nmaxmemory_policy:noeviction\r\n", "noeviction", 0, false),
            ("# Memory\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n", "allkeys-lru", 100, true),
            ("maxmemory_policy:volatile-ttl", "volatile-ttl", 0, true),
        ] as [(String, String, Int64, Bool)]
    )
    func memory(info: String, policy: String, limit: Int64, evicts: Bool) {
        let memory = RedisMemory(.string(Array(info.utf8)))
        #expect(memory == RedisMemory(policy: policy, limit: limit))
        #expect(memory?.evicts == evicts)
        #expect(RedisMemory(.string(Array("used_memory:1".utf8))) == nil)
    }
}

extension StoredApps.Outcome {
    fileprivate init(version: Int64, before: String?) {
        self.init(.array([.integer(version), .string(Array((before ?? "").utf8))]))!
    }
}

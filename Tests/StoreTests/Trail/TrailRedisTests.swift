import Push
import TestRandom
import TestServers
import Testing

@testable import Store

/// The trail with a real Redis: what is written is found, and it never takes more than it may.
@Suite struct TrailRedisTests {
    @Test func `What a worker wrote is found by message and by token, and it does not live for ever`() async throws {
        try await Self.with { redis, client, session in
            var settings = TrailSettings()
            settings.keep = .seconds(600)
            let tokens = [TrailRig.token(1), TrailRig.token(2, .deadLetter)]
            await Self.write(client, settings) { trail in
                _ = trail.name("line bulk:app")
                Self.append(TrailRig.message(), "both", tokens, to: trail)
                Self.append(TrailRig.message(TrailRig.time + .seconds(5)), "one", [tokens[0]], to: trail)
                for number in 0..<300 {
                    Self.append(TrailRig.message(), "x\(number)", [TrailRig.token(9 + number)], to: trail)
                }
            }
            let reader = TrailReader(session)
            let both = try await reader.find(.message(Array("both".utf8)))
            let story = try #require(both.stories.first)
            #expect(both.stories.count == 1 && story.app == "app" && story.lane == "bulk" && story.tokens.count == 2)
            #expect(story.deliveries.map(\.worker) == ["here:1"])
            #expect(try await reader.find(.message(Array("bot".utf8))).stories.isEmpty)
            let first = try await reader.find(.token(TrailRig.digits(1), limit: 10))
            #expect(first.stories.map { String(decoding: $0.id.text, as: UTF8.self) } == ["one", "both"])
            #expect(!first.hasMore && first.unreadable == 0)
            let newest = try await reader.find(.token(TrailRig.digits(1), limit: 1))
            #expect(newest.stories.count == 1 && newest.hasMore)
            #expect(try await reader.find(.token(TrailRig.digits(999), limit: 1)).stories.isEmpty)
            #expect(first.coverage.keep == .seconds(600) && first.coverage.bytes > 0 && first.coverage.since != nil)
            // The same through a client on a loop.
            let onLoop: TrailSearch.Findings? = await client.with { client, completion in
                client.find(.token(TrailRig.digits(1), limit: 10)) { completion(try? $0.get()) }
            }
            #expect(onLoop == first)
            for key in try redis.cli("keys", "pf:*").split(separator: "\n") {
                let life = try await session.send(RedisCommand("PTTL", String(key))).integer ?? -1
                #expect((500_000...700_000).contains(life), "\(key)")
            }
        }
    }

    @Test func `It takes no more memory than it may: what went well goes first, and both are told`() async throws {
        try await Self.with { redis, client, session in
            var settings = TrailSettings()
            settings.maxMemory = 2 * 1024 * 1024
            var failures = 0
            for round in 0..<60 {
                let some = failures
                await Self.write(client, settings) { trail in
                    for number in 0..<800 {
                        let id = "5b1f2c3d-0a4e-4f6b-8c9d-\(100_000_000_000 + round * 800 + number)"
                        Self.append(TrailRig.message(), id, [TrailRig.token(round * 800 + number)], to: trail)
                    }
                    for number in 0..<5 {
                        Self.append(
                            TrailRig.message(),
                            "bad-\(some + number)",
                            [TrailRig.token(number, .gone)],
                            to: trail
                        )
                    }
                }
                failures += 5
                let coverage = TrailCoverage(
                    try await session.send(RedisCommand("HGETALL", Keys.trailIndex)).pairs ?? [:]
                )
                #expect(coverage.bytes <= Int64(settings.maxMemory) + 65_536)
            }
            let reader = TrailReader(session)
            for number in 0..<failures {
                let found = try await reader.find(.message(Array("bad-\(number)".utf8)))
                #expect(found.stories.count == 1, "bad-\(number)")
            }
            let first = try await reader.find(.message(Array("5b1f2c3d-0a4e-4f6b-8c9d-100000000000".utf8)))
            #expect(first.stories.isEmpty && first.coverage.plainSince != nil && first.coverage.keptSince == nil)
            let last = try await reader.find(
                .message(Array("5b1f2c3d-0a4e-4f6b-8c9d-\(100_000_000_000 + 59 * 800)".utf8))
            )
            #expect(last.stories.count == 1)
            // Its own count of bytes is what Redis uses, within a quarter.
            let counted = Double(last.coverage.bytes)
            var used = 0.0
            for key in try redis.cli("keys", "pf:*").split(separator: "\n") {
                used += Double(try await session.send(RedisCommand("MEMORY", "USAGE", String(key))).integer ?? 0)
            }
            #expect(used < counted * 1.25, "\(used) of \(counted)")
        }
    }

    @Test func `A Redis that is away, refuses or loses everything holds nothing up, and what was lost is told`()
        async throws
    {
        try await Self.with { redis, client, session in
            let settings = TrailSettings()
            let trail = await Self.write(client, settings) { trail in
                _ = trail.name("line now:app")
                Self.append(TrailRig.message(), "first", [TrailRig.token(1)], to: trail)
            }
            try redis.cli("flushall")
            await Self.write(client, settings, on: trail) {
                Self.append(TrailRig.message(), "second", [TrailRig.token(1)], to: $0)
            }
            // That Redis knows no names is seen by its answer: the next flush brings them again.
            await Self.write(client, settings, on: trail) {
                Self.append(TrailRig.message(), "third", [TrailRig.token(1)], to: $0)
            }
            let reader = TrailReader(session)
            for name in ["second", "third"] {
                let story = try #require(try await reader.find(.message(Array(name.utf8))).stories.first)
                #expect(story.app == "app" && story.deliveries[0].worker == "here:1")
            }
            try redis.cli("del", Keys.trailIndex)
            try redis.cli("set", Keys.trailIndex, "no hash")
            await Self.write(client, settings, on: trail) {
                Self.append(TrailRig.message(), "refused", [TrailRig.token(1)], to: $0)
            }
            try redis.cli("del", Keys.trailIndex)
            await Self.write(client, settings, on: trail) {
                Self.append(TrailRig.message(), "fourth", [TrailRig.token(1)], to: $0)
            }
            let found = try await reader.find(.message(Array("fourth".utf8)))
            #expect(found.stories.count == 1 && found.coverage.lost == 1 && found.coverage.lostAt != nil)
            #expect(try await reader.find(.message(Array("refused".utf8))).stories.isEmpty)
        }
    }

    @Test func `What others wrote there is told as unreadable, and the rest is found`() async throws {
        try await Self.with { redis, client, session in
            await Self.write(client, TrailSettings()) {
                Self.append(TrailRig.message(), "m", [TrailRig.token(1)], to: $0)
            }
            let hash = Fingerprint.of(Array("m".utf8))
            let generation = try redis.cli("hget", Keys.trailIndex, "current")
            let plain = Keys.trail(generation, list: TrailFormat.name(TrailFormat.messages(hash, isPlain: true)))
            let kept = Keys.trail(generation, list: TrailFormat.name(TrailFormat.messages(hash, isPlain: false)))
            try redis.cli("rpush", plain, "nonsense", "")
            try redis.cli("set", kept, "no list")
            try redis.cli("hset", Keys.trailIndex, "12", "nonsense", "current", "x", "bytes", "y", "lost", "z")
            let found = try await TrailReader(session).find(.message(Array("m".utf8)))
            #expect(found.stories.count == 1 && found.unreadable > 0)
            await Self.write(client, TrailSettings()) {
                Self.append(TrailRig.message(), "n", [TrailRig.token(1)], to: $0)
            }
            #expect(try await TrailReader(session).find(.message(Array("n".utf8))).stories.count == 1)
        }
    }

    /// What the README says.
    @Test(arguments: [
        (messages: 50_000, tokens: 1, inOneFlush: 1000, bytes: 75.0), (20_000, 1, 20, 95), (1000, 100, 10, 35),
    ])
    func `A notification takes no more of Redis' memory than is told`(
        messages: Int,
        tokens: Int,
        inOneFlush: Int,
        bytes: Double
    ) async throws {
        try await Self.with { _, client, session in
            func used() async throws -> Double {
                let info = try await session.send(RedisCommand("INFO", "memory")).text ?? ""
                let line = info.split(separator: "\r\n").first { $0.hasPrefix("used_memory_dataset:") }
                return line.flatMap { Double($0.dropFirst("used_memory_dataset:".count)) } ?? 0
            }
            var trail: OnLoop?
            var before = 0.0
            for start in stride(from: 0, to: messages, by: inOneFlush) {
                if start == inOneFlush { before = try await used() }
                trail = await Self.write(client, TrailSettings(), on: trail) { trail in
                    for number in start..<start + inOneFlush {
                        let id = "5b1f2c3d-0a4e-4f6b-8c9d-\(100_000_000_000 + number)"
                        let all = (0..<tokens).map { place in
                            var token = TrailRig.token(0)
                            token.hash = Fingerprint.of(
                                [number, place].flatMap { withUnsafeBytes(of: $0) { Array($0) } }
                            )
                            return token
                        }
                        Self.append(TrailRig.message(TrailRig.time + .milliseconds(number)), id, all, to: trail)
                    }
                }
            }
            let each = (try await used() - before) / Double((messages - inOneFlush) * tokens)
            print("\(tokens) tokens, \(inOneFlush) messages a flush: \(each) bytes for each notification")
            #expect(each < bytes)
        }
    }

    @Test func `A trail of no memory writes nothing`() async throws {
        try await Self.with { redis, client, _ in
            var settings = TrailSettings()
            settings.maxMemory = 0
            await Self.write(client, settings) { Self.append(TrailRig.message(), "m", [TrailRig.token(1)], to: $0) }
            let keys = try redis.cli("keys", "pf:*")
            #expect(keys.isEmpty)
        }
    }

    // MARK: Setting up

    private static func with(
        _ body: (PrivateRedis, TestClient, RedisSession) async throws -> Void
    ) async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let client = try TestClient(RedisAddress(redis), timeout: .seconds(30))
        await client.waitUntilReady()
        let session = try await RedisSession.open(RedisAddress(redis))
        defer { session.close() }
        try await body(redis, client, session)
    }

    private struct OnLoop: @unchecked Sendable {
        let trail: TrailFlush
    }

    /// Lets a worker write, and waits until it has.
    @discardableResult
    private static func write(
        _ client: TestClient,
        _ settings: TrailSettings,
        on earlier: OnLoop? = nil,
        _ fill: @escaping @Sendable (TrailFlush) -> Void
    ) async -> OnLoop {
        await client.with { client, completion in
            let trail =
                earlier?.trail ?? TrailFlush(worker: "here:1", settings: settings, client: client, on: client.loop)
            fill(trail)
            trail.stop { completion(OnLoop(trail: trail)) }
        }
    }

    private static func append(_ message: MessageTrace, _ id: String, _ tokens: [TokenTrace], to trail: TrailFlush) {
        tokens.withUnsafeBufferPointer { trail.append(message, id: Array(id.utf8), tokens: $0, earlier: []) }
    }
}

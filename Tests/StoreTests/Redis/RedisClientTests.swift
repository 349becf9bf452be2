import Loop
import Push
import TestServers
import Testing
import Wire

@testable import Store

@Suite struct RedisClientTests {
    private static func get(_ key: String) -> RedisCommand { RedisCommand("GET", key) }

    // MARK: Ordinary days

    @Test func `Answers come in the order of the commands`() async throws {
        let client = try TestClient(RedisAddress(PrivateRedis.shared))
        await client.waitUntilReady()
        let key = "pf:test:\(InstanceID())"
        let replies: [Result<RedisReply, RedisFailure>] = await client.with { client, completion in
            var replies: [Result<RedisReply, RedisFailure>] = []
            for number in 0..<2_000 {
                var command = RedisCommand("INCRBY", key)
                command.add(number)
                client.send(command) { reply in
                    replies.append(reply)
                    if replies.count == 2_000 { completion(replies) }
                }
            }
        }
        let sums = (0..<2_000).map { number in
            Result<RedisReply, RedisFailure>.success(.integer(number * (number + 1) / 2))
        }
        #expect(replies == sums)
        _ = await client.send(RedisCommand("DEL", key))
    }

    @Test func `All commands of a turn leave in one write`() async throws {
        let fake = try FakeRedis { _ in nil }
        let client = try TestClient(RedisAddress(host: "127.0.0.1", port: UInt16(fake.port)))
        await client.waitUntilReady()
        let before = fake.reads
        let _: Bool = await client.with { client, completion in
            for number in 1...100 {
                client.send(RedisCommand("SET", "a", "b")) { _ in if number == 100 { completion(true) } }
            }
        }
        #expect(fake.reads - before == 1)
    }

    @Test func `Logging in goes step by step and tells the run id`() async throws {
        let fake = try FakeRedis { _ in nil }
        var address = RedisAddress(host: "127.0.0.1", port: UInt16(fake.port))
        address.user = "worker"
        address.password = "secret"
        address.database = 3
        let client = try TestClient(address)
        let server = await client.waitUntilReady()
        #expect(server?.runID == "fake" && server?.version == "7.0.15" && server?.uptime == .seconds(7))
        #expect(
            fake.commands == [
                ["AUTH", "worker", "secret"], ["SELECT", "3"], ["CLIENT", "SETNAME", "pushfleet"],
                ["INFO", "server"],
            ]
        )
        #expect(fake.reads == 4)
    }

    @Test func `A session sends, runs and closes`() async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        #expect(try await session.send(RedisCommand("PING")) == .string(Array("PONG".utf8)))
        await #expect(throws: RedisFailure.self) { try await session.send(RedisCommand("NONSENSE")) }
        session.close()
    }

    @Test func `A session to nowhere says why`() async throws {
        let free = try PrivateRedis()
        let address = RedisAddress(free)
        free.stop()
        let error = await #expect(throws: RedisSession.CannotOpen.self) { try await RedisSession.open(address) }
        #expect(error?.description.contains("Connection refused") == true)
    }

    // MARK: TLS

    @Test func `With TLS the server is verified by name and authority`() async throws {
        let port = try #require(PrivateRedis.shared.tlsPort)
        var address = RedisAddress(host: "localhost", port: UInt16(port))
        address.usesTLS = true
        let session = try await RedisSession.open(address, trusting: TestCertificates.shared.authority)
        #expect(try await session.send(RedisCommand("PING")) == .string(Array("PONG".utf8)))
        session.close()
        for (host, authority) in [
            ("localhost", TestCertificates.shared.unknownAuthority),
            ("127.0.0.2", TestCertificates.shared.authority),
        ] {
            address.endpoint.host = host
            let error = await #expect(throws: RedisSession.CannotOpen.self) {
                try await RedisSession.open(address, trusting: authority)
            }
            #expect(error?.reason.contains("certificate") == true || host == "127.0.0.2")
        }
    }

    @Test func `A reset connection under TLS ends neither process nor client`() async throws {
        let proxy = try FaultProxy(to: try #require(PrivateRedis.shared.tlsPort))
        defer { proxy.stop() }
        var address = RedisAddress(host: "localhost", port: UInt16(proxy.port))
        address.usesTLS = true
        let client = try TestClient(address, trusting: TestCertificates.shared.authority)
        for round in 0..<5 {
            await client.waitUntilReady(from: client.seen.count - (round == 0 ? client.seen.count : 1))
            let seen = client.seen.count
            async let replies: Bool = client.with { client, completion in
                for number in 0..<200 {
                    client.send(RedisCommand("SET", "pf:test:tls", String(repeating: "x", count: 50_000))) { _ in
                        if number == 199 { completion(true) }
                    }
                }
            }
            proxy.cut()
            _ = await replies
            await client.waitUntilReady(from: seen)
        }
        #expect(proxy.counters.broken >= 5)
    }

    // MARK: Bad days

    @Test func `Redis goes away and comes back`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let client = try TestClient(RedisAddress(redis))
        let first = await client.waitUntilReady()
        let seen = client.seen.count
        try redis.kill()
        await client.wait(from: seen) { if case .waiting = $0 { true } else { false } }
        let failure = await client.send(Self.get("a"))
        guard case .failure(.unavailable) = failure else {
            Issue.record("\(failure)")
            return
        }
        try redis.start()
        let second = await client.waitUntilReady(from: seen)
        #expect(first?.runID != second?.runID && second != nil)
        #expect(await client.send(Self.get("a")) == .success(.null))
    }

    @Test func `A frozen Redis fails commands at their deadline, as unknown, and later ones at once`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let client = try TestClient(RedisAddress(redis), timeout: .milliseconds(400))
        await client.waitUntilReady()
        redis.pause()
        let start = ContinuousClock.now
        async let first = client.send(RedisCommand("INCR", "n"))
        async let second = client.send(RedisCommand("INCR", "n"))
        for result in await [first, second] {
            guard case .failure(let failure) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(failure.mayHaveRun)
        }
        #expect(ContinuousClock.now - start >= .milliseconds(350))
        let failure = await client.send(Self.get("n"))
        guard case .failure(.unavailable) = failure else {
            Issue.record("\(failure)")
            return
        }
        let seen = client.seen.count
        redis.resume()
        await client.waitUntilReady(from: seen)
        // It did run: what failed may have happened.
        #expect(await client.send(Self.get("n")) == .success(.string(Array("2".utf8))))
    }

    @Test func `A script that the server has forgotten is sent again, unseen`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let client = try TestClient(RedisAddress(redis))
        await client.waitUntilReady()
        var call = ScriptCall(Script("return ARGV[1] + #KEYS"), keys: ["a", "b"])
        call.add(40)
        #expect(await client.run(call) == .success(.integer(42)))
        #expect(await client.run(call) == .success(.integer(42)))
        try redis.cli("script", "flush")
        #expect(await client.run(call) == .success(.integer(42)))
        let sources = try redis.cli("info", "commandstats").split(whereSeparator: \.isNewline)
        #expect(sources.contains { $0.hasPrefix("cmdstat_eval:calls=2,") })
        let broken = ScriptCall(Script("return redis.call('NONSENSE')"), keys: [])
        #expect(await client.run(broken).refusal != nil)
    }

    @Test func `A wrong password is reported, and nothing is sent without one`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        // `default` stays open: a careless client would go on as that user.
        try redis.cli("acl", "setuser", "worker", "on", ">right", "~*", "+@all")
        var address = RedisAddress(redis)
        address.user = "worker"
        address.password = "wrong"
        let client = try TestClient(address)
        let start = ContinuousClock.now
        var failures = 0
        while failures < 3 {
            let seen = client.seen.count
            let state = await client.wait(from: failures == 0 ? 0 : seen) { state in
                if case .authenticationFailed = state { true } else { false }
            }
            guard case .authenticationFailed(let reason) = state else {
                Issue.record("\(state)")
                return
            }
            #expect(reason.hasPrefix("WRONGPASS"))
            failures += 1
        }
        #expect(ContinuousClock.now - start >= .seconds(2))
        let failure = await client.send(RedisCommand("FLUSHALL"))
        guard case .failure(.unavailable(let reason)) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(!reason.contains("wrong ") && reason.contains("WRONGPASS"))
        let statistics = try redis.cli("info", "commandstats")
        #expect(!statistics.contains("cmdstat_client|setname"))
        #expect(!statistics.contains("cmdstat_flushall"))
        try redis.cli("acl", "setuser", "worker", "resetpass", ">wrong")
        await client.waitUntilReady()
    }

    @Test func `A server that wants a password which is not given is an authentication failure`() async throws {
        let redis = try PrivateRedis(password: "needed", volatile: true)
        defer { redis.stop() }
        var address = RedisAddress(redis)
        address.password = nil
        let error = await #expect(throws: RedisSession.CannotOpen.self) { try await RedisSession.open(address) }
        #expect(error?.authenticationFailed == true)
    }

    @Test func `Error replies are told apart`() async throws {
        let redis = try PrivateRedis(volatile: true)
        defer { redis.stop() }
        let client = try TestClient(RedisAddress(redis))
        await client.waitUntilReady()
        _ = await client.send(RedisCommand("SET", "text", "x"))
        let wrongType = await client.send(RedisCommand("HGETALL", "text"))
        #expect(wrongType.refusal?.kind == .wrongType)

        try redis.cli("acl", "setuser", "default", "-flushall", "-hset")
        let refused = await client.send(RedisCommand("FLUSHALL")).refusal
        #expect(refused?.kind == .noPermission && refused?.text.contains("flushall") == true)
        let inScript = ScriptCall(Script("return redis.call('HSET', KEYS[1], 'a', 'b')"), keys: ["hash"])
        #expect(await client.run(inScript).refusal?.kind == .noPermission)
        try redis.cli("acl", "setuser", "default", "+@all")

        try redis.cli("config", "set", "maxmemory", "1")
        #expect(await client.send(RedisCommand("SET", "a", "b")).refusal?.kind == .outOfMemory)
        #expect(await client.run(inScript).refusal?.kind == .outOfMemory)
        try redis.cli("config", "set", "maxmemory", "0")

        let seen = client.seen.count
        try redis.cli("replicaof", "127.0.0.1", "1")
        #expect(await client.send(RedisCommand("SET", "a", "b")).refusal?.kind == .readOnly)
        // A new connection: the name may lead to the new master.
        await client.waitUntilReady(from: seen)
        try redis.cli("replicaof", "no", "one")
    }

    @Test(arguments: [
        ("LOADING Redis is loading", RedisError.Kind.loading), ("BUSY Redis is busy", .busy),
        ("MISCONF cannot save", .notWritable), ("NOREPLICAS Not enough", .notWritable),
        ("MOVED 3999 127.0.0.1:6381", .moved), ("NOSCRIPT No matching", .noScript), ("ERR what", .other),
        ("NOAUTH Authentication required.", .notAuthenticated), ("", .other),
    ])
    func `An error's kind is its first word`(text: String, kind: RedisError.Kind) {
        #expect(RedisError(text: text).kind == kind)
    }

    @Test func `A server that is loading is asked again`() async throws {
        let isLoading = Counter()
        let fake = try FakeRedis { words in
            words == ["INFO", "server"] && isLoading.next() == 0 ? "-LOADING Redis is loading\r\n" : nil
        }
        let client = try TestClient(RedisAddress(host: "127.0.0.1", port: UInt16(fake.port)))
        let state = await client.wait { if case .waiting = $0 { true } else { false } }
        #expect(state == .waiting(reason: "LOADING Redis is loading"))
        await client.waitUntilReady()
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "$-7\r\n", "*2000000000\r\n", String(repeating: "*1\r\n", count: 9),
        "+OK\r\n+an answer nobody asked for\r\n",
    ])
    func `Nonsense ends the connection with a reason, and the next one works`(nonsense: String) async throws {
        let isNonsense = Counter()
        let fake = try FakeRedis { words in
            words.first == "GET" && isNonsense.next() == 0 ? nonsense : nil
        }
        let client = try TestClient(RedisAddress(host: "127.0.0.1", port: UInt16(fake.port)))
        await client.waitUntilReady()
        let seen = client.seen.count
        _ = await client.send(Self.get("a"))
        let state = await client.wait(from: seen) { if case .waiting = $0 { true } else { false } }
        guard case .waiting(let reason) = state else {
            Issue.record("\(state)")
            return
        }
        #expect(reason.hasPrefix("malformed reply: ") || reason == "an answer that nobody asked for")
        await client.waitUntilReady(from: seen)
        #expect(await client.send(Self.get("a")) == .success(.string(Array("OK".utf8))))
    }

    @Test func `Stopping fails what is outstanding, once`() async throws {
        let fake = try FakeRedis { $0.first == "GET" ? "" : nil }
        let client = try TestClient(RedisAddress(host: "127.0.0.1", port: UInt16(fake.port)))
        await client.waitUntilReady()
        let result: Result<RedisReply, RedisFailure> = await client.with { client, completion in
            client.send(Self.get("a"), completion)
            client.stop()
        }
        #expect(result == .failure(.unknown("stopped")))
        #expect(await client.send(Self.get("a")) == .failure(.unavailable("stopped")))
    }

    @Test func `Reconnecting waits longer each time, within its bounds`() {
        var backoff = ReconnectBackoff()
        let waits = (0..<8).map { _ in backoff.next(slowly: false, random: 1) }
        let expected: [Int64] = [100, 200, 400, 800, 1600, 3200, 5000, 5000]
        #expect(waits.map(\.milliseconds) == expected)
        backoff.succeeded()
        #expect(backoff.next(slowly: false, random: 0) == .milliseconds(50))
        #expect(backoff.next(slowly: true, random: 0) == .seconds(1))
    }
}

import Foundation
import Push
import TestServers
import Testing

@testable import Store

/// `deploy/redis/users.acl.example` is what operators copy: everything we do must work under it, and nothing more.
@Suite struct AccessListTests {
    private static func lines() throws -> [String] {
        let file = "\(Repository.root)/deploy/redis/users.acl.example"
        return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func words(_ user: String) throws -> [String] {
        let line = try #require(try self.lines().first { $0.hasPrefix("user \(user) ") })
        return line.split(separator: " ").map(String.init)
    }

    /// A Redis with the users of the file, except that `default` stays on for the test's own use.
    private static func redis() throws -> PrivateRedis {
        let redis = try PrivateRedis(volatile: true)
        let client = try BlockingRedis(port: redis.port)
        for user in ["worker", "desk", "dashboard"] {
            var command = RedisCommand("ACL", "SETUSER")
            for word in try self.words(user).dropFirst() { command.add(word) }
            #expect(try client.send(command) == .string(Array("OK".utf8)))
        }
        return redis
    }

    private static func address(_ user: String, _ redis: PrivateRedis) throws -> RedisAddress {
        var address = RedisAddress(redis)
        address.user = user
        address.password = try self.words(user).first { $0.hasPrefix(">") }.map { String($0.dropFirst()) }
        return address
    }

    @Test func `Nobody gets in without being named`() throws {
        #expect(try Self.words("default") == ["user", "default", "off"])
        #expect(try Self.lines().count == 5)
    }

    @Test func `A worker and the desk can do all they have to`() async throws {
        let redis = try Self.redis()
        defer { redis.stop() }
        var address = try Self.address("desk", redis)
        address.database = 0
        let desk = try await RedisSession.open(address)
        let worker = try await RedisSession.open(try Self.address("worker", redis))
        defer {
            desk.close()
            worker.close()
        }
        let id = InstanceID()
        let budget = Budget(pool: "pool", connections: 4)
        let server = try #require(await desk.server())
        _ = try await desk.run(budget.initialize(on: server))
        let request = RenewRequest(seq: 1, open: 0, want: 3, claim: 0, proof: nil)
        let renewed = try await worker.run(budget.renew(request, as: id, runID: server.runID, settings: .standard))
        #expect(LeaseAnswer(renewed)?.limit == 3)
        _ = try await worker.run(budget.release(seq: 2, as: id))

        let rate = Rate(app: "app", limit: try RateLimit(rate: 10))
        let taken = try await worker.run(rate.take(RateRequest(need: 1, want: 1), on: server))
        #expect(RateAnswer(taken) != nil)

        let token = SharedProviderToken(team: "T", key: "K", id: id)
        _ = try await worker.run(token.ask())
        #expect(token.stored(try await worker.run(token.store("jwt"))) != nil)
        _ = try await worker.run(DoneTokens.mark(message: "m", copy: "c", tokens: [1], life: .seconds(9)))
        let reply = try await worker.run(DoneTokens.take(message: "m", copy: "c", tokenCount: 2))
        #expect(DoneTokens.Memory(.success(reply), tokenCount: 2).done.tokens == [1])
        var beat = WorkerBeat(id: id, version: "1", host: "h", pid: 1, startedAt: UnixTime(milliseconds: 1))
        beat.connectionsHeld = ["pool": 1]
        _ = try await worker.run(beat.call(after: nil))

        let order = DrainOrder(by: "me there", time: UnixTime(milliseconds: 5))
        _ = try await desk.send(order.command(for: id.description))
        #expect(DrainOrder(try await worker.send(DrainOrder.question(for: id.description))) == order)
        #expect(DrainOrder(try await worker.send(DrainOrder.question(for: "another"))) == nil)
        let life = try #require(Int(try redis.cli("pttl", Keys.drainOrder(worker: id.description))))
        #expect(life > 0 && life <= 600_000)

        let hold = PausedApps.Order.hold(for: nil, reason: "", since: nil)
        _ = try await desk.run(PausedApps.call(hold, app: "app", by: "desk", name: "me"))
        let pause = PausedApps.Order.pause(cause: "suspects", wait: .seconds(15), pauses: 1, since: nil)
        _ = try await worker.run(PausedApps.call(pause, app: "app", by: "w", name: "h:1"))
        _ = try await worker.run(PausedApps.call(pause, app: "nonsense", by: "w", name: "h:1"))
        try redis.cli("hset", Keys.pausedApps, "fault:nonsense", "x")
        #expect(PausedApps.answer(try await desk.run(PausedApps.read))?.count == 2)
        #expect(try await CounterReader(desk).read().pauses.map(\.cause) == ["suspects", "hand"])
        _ = try await desk.run(PausedApps.call(.release, app: "app", by: "desk", name: "me"))

        for app in ["app", "gone"] { _ = try await desk.run(StoredApps.put(app, "{}")) }
        _ = try await desk.run(StoredApps.remove("gone"))
        for number in 1...4 { _ = try await desk.run(DashboardActions.add("\(number)", limit: 3)) }
        #expect(try await desk.send(DashboardActions.read(limit: 3)).elements?.compactMap(\.text) == ["4", "3", "2"])
        for session in [desk, worker] {
            let apps = try await StoredApps.read(from: session)
            #expect(apps.version != nil && apps.values == ["app": "{}"] && apps.removed == ["gone"])
            #expect(RedisMemory(try await session.send(RedisMemory.question))?.policy == "noeviction")
        }

        let client = try TestClient(try Self.address("worker", redis))
        await client.waitUntilReady()
        let isWritten: Bool = await client.with { client, completion in
            let flush = CounterFlush(id: id, client: client, on: client.loop)
            flush.batch.add(.received, at: flush.batch.slot(app: "app", lane: "now"))
            // The flush must outlive its answer.
            flush.stop { completion($0 && flush.lastFailure == nil) }
        }
        #expect(isWritten)
        await client.with { client, completion in
            let trail = TrailFlush(worker: "w", settings: TrailSettings(), client: client, on: client.loop)
            [TrailRig.token(1)].withUnsafeBufferPointer {
                trail.append(TrailRig.message(), id: [109], tokens: $0, earlier: [])
            }
            // The flush must outlive its answer.
            trail.stop { withExtendedLifetime(trail) { completion(()) } }
        }
        #expect(try await TrailReader(desk).find(.message([109])).stories.count == 1)
        let status = try await CounterReader(desk).read()
        #expect(status.totals == ["received": 1] && status.workers.count == 1 && status.pools.count == 1)
        let dashboard = try await RedisSession.open(try Self.address("dashboard", redis))
        defer { dashboard.close() }
        #expect(try await CounterReader(dashboard).read().totals == ["received": 1])
        #expect(try await StoredApps.read(from: dashboard, mayLackCredentials: true).values == ["app": "{}"])
        await #expect(throws: RedisFailure.self) { try await StoredApps.read(from: dashboard) }
        _ = try await worker.run(WorkerBeat.goodbye(id))
    }

    @Test func `They can do nothing else`() async throws {
        let redis = try Self.redis()
        defer { redis.stop() }
        try redis.cli("set", "other", "x")
        try redis.cli("hset", Keys.token(team: "T", key: "K"), "jwt", "secret")
        for user in ["worker", "desk", "dashboard"] {
            let session = try await RedisSession.open(try Self.address(user, redis))
            let forbidden: [RedisCommand] = [
                RedisCommand("FLUSHALL"), RedisCommand("CONFIG", "GET", "*"), RedisCommand("SCRIPT", "FLUSH"),
                RedisCommand("KEYS", "*"), RedisCommand("MONITOR"), RedisCommand("ACL", "LIST"),
                RedisCommand("CLIENT", "LIST"), RedisCommand("SHUTDOWN"), RedisCommand("SAVE"),
                RedisCommand("GET", "other"), RedisCommand("HGETALL", "other"),
            ]
            for command in forbidden {
                let failure = await #expect(throws: RedisFailure.self) { try await session.send(command) }
                guard case .refused(let error)? = failure else {
                    Issue.record("\(command) ran")
                    continue
                }
                #expect(error.kind == .noPermission)
            }
            if user != "worker" {
                await #expect(throws: RedisFailure.self, "\(user) read a provider token") {
                    try await session.send(RedisCommand("HGETALL", Keys.token(team: "T", key: "K")))
                }
            }
            session.close()
        }
    }
}

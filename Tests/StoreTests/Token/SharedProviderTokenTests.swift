import Push
import TestServers
import Testing

@testable import Store

@Suite struct SharedProviderTokenTests {
    private static let minute = 60_000

    /// Two workers, one key, and a clock of our own.
    private struct Fleet {
        let redis: BlockingRedis
        let first: SharedProviderToken
        let second: SharedProviderToken
        var now = 1_700_000_000_000
        private let key: String

        init() throws {
            self.redis = try BlockingRedis(port: PrivateRedis.shared.port)
            self.key = InstanceID().description
            self.first = SharedProviderToken(team: "TEAM", key: self.key, id: InstanceID())
            self.second = SharedProviderToken(team: "TEAM", key: self.key, id: InstanceID())
        }

        func ask(_ worker: SharedProviderToken, fresh: Bool = false, own: FleetToken? = nil) throws
            -> SharedProviderToken.Answer?
        {
            let script = Script(ProviderTokenScript.askSource(now: "local now = tonumber(ARGV[9])"))
            var call = worker.ask(fresh: fresh, own: own, script: script)
            call.add(self.now)
            return worker.answer(to: try self.redis.run(call))
        }

        func store(_ worker: SharedProviderToken, _ jwt: String) throws -> FleetToken? {
            var call = worker.store(
                jwt,
                script: Script(ProviderTokenScript.storeSource(now: "local now = tonumber(ARGV[5])"))
            )
            call.add(self.now)
            return worker.stored(try self.redis.run(call))
        }

        func forget() throws {
            _ = try self.redis.send(RedisCommand("DEL", Keys.token(team: "TEAM", key: self.key)))
        }
    }

    private func jwt(_ answer: SharedProviderToken.Answer?) -> String? {
        guard case .use(let token) = answer else { return nil }
        return token.jwt
    }

    @Test func `One worker makes the token, the others wait for it and use it`() throws {
        var fleet = try Fleet()
        #expect(try fleet.ask(fleet.first) == .make(until: .seconds(5), old: nil))
        fleet.now += 1_000
        #expect(try fleet.ask(fleet.second) == .wait(.seconds(4)))
        #expect(try fleet.store(fleet.second, "stolen") == nil)
        let stored = try #require(try fleet.store(fleet.first, "one"))
        #expect(stored == FleetToken(jwt: "one", issued: UnixTime(milliseconds: Int64(fleet.now)), age: .zero))
        fleet.now += 30 * Self.minute
        guard case .use(let token) = try fleet.ask(fleet.second) else {
            Issue.record("no token")
            return
        }
        #expect(token.jwt == "one" && token.age == .seconds(30 * 60))
        // A store whose answer was lost is repeated.
        #expect(try fleet.store(fleet.first, "one")?.jwt == "one")
    }

    @Test func `A lock that is not used ends`() throws {
        var fleet = try Fleet()
        #expect(try fleet.ask(fleet.first) == .make(until: .seconds(5), old: nil))
        fleet.now += 5_000
        #expect(try fleet.ask(fleet.second) == .make(until: .seconds(5), old: nil))
        #expect(try fleet.store(fleet.first, "late") == nil)
        #expect(try fleet.store(fleet.second, "two")?.jwt == "two")
    }

    @Test func `Within 20 minutes there is no other token, whoever asks`() throws {
        var fleet = try Fleet()
        _ = try fleet.ask(fleet.first)
        _ = try fleet.store(fleet.first, "one")
        fleet.now += 20 * Self.minute - 1
        #expect(self.jwt(try fleet.ask(fleet.second, fresh: true)) == "one")
        fleet.now += 1
        #expect(self.jwt(try fleet.ask(fleet.second)) == "one")
        guard case .make(_, let old?) = try fleet.ask(fleet.second, fresh: true) else {
            Issue.record("no other token after 20 minutes")
            return
        }
        #expect(old.jwt == "one" && old.age == .seconds(20 * 60))
        // While it is being made the old one is used.
        #expect(self.jwt(try fleet.ask(fleet.first, fresh: true)) == "one")
        #expect(try fleet.store(fleet.second, "two")?.jwt == "two")
        #expect(self.jwt(try fleet.ask(fleet.first, fresh: true)) == "two")
    }

    @Test func `After 50 minutes one worker makes the next, while the others go on`() throws {
        var fleet = try Fleet()
        _ = try fleet.ask(fleet.first)
        _ = try fleet.store(fleet.first, "one")
        fleet.now += 50 * Self.minute - 1
        #expect(self.jwt(try fleet.ask(fleet.second)) == "one")
        fleet.now += 1
        guard case .make(_, let old?) = try fleet.ask(fleet.second) else {
            Issue.record("no change")
            return
        }
        #expect(old.jwt == "one")
        #expect(self.jwt(try fleet.ask(fleet.first)) == "one")
        _ = try fleet.store(fleet.second, "two")
        #expect(self.jwt(try fleet.ask(fleet.first)) == "two")
    }

    @Test func `When Redis has lost the token the fleet goes on with a worker's own`() throws {
        var fleet = try Fleet()
        _ = try fleet.ask(fleet.first)
        let stored = try #require(try fleet.store(fleet.first, "one"))
        fleet.now += 10 * Self.minute
        try fleet.forget()
        let own = FleetToken(jwt: "one", issued: stored.issued, age: .seconds(600))
        #expect(self.jwt(try fleet.ask(fleet.first, own: own)) == "one")
        guard case .use(let token) = try fleet.ask(fleet.second, fresh: true) else {
            Issue.record("lost")
            return
        }
        #expect(token.jwt == "one" && token.age == .seconds(600) && token.issued == stored.issued)
        // One that is too old is no use.
        try fleet.forget()
        let old = FleetToken(jwt: "one", issued: stored.issued, age: .seconds(50 * 60))
        #expect(try fleet.ask(fleet.first, own: old) == .make(until: .seconds(5), old: nil))
    }

    @Test func `A token from the future, after a step back of the clock, is replaced`() throws {
        var fleet = try Fleet()
        _ = try fleet.ask(fleet.first)
        _ = try fleet.store(fleet.first, "one")
        fleet.now -= 60 * Self.minute
        #expect(try fleet.ask(fleet.second) == .make(until: .seconds(5), old: nil))
        #expect(try fleet.store(fleet.second, "two")?.jwt == "two")
    }

    @Test func `Redis forgets the token after an hour, and an unused lock after its time`() async throws {
        let session = try await RedisSession.open(RedisAddress(PrivateRedis.shared))
        defer { session.close() }
        // The lock lasts five seconds of real time; on a busy machine a try may be too slow, and says nothing then.
        for _ in 0..<20 {
            let key = InstanceID().description
            let token = SharedProviderToken(team: "TEAM", key: key, id: InstanceID())
            let name = Keys.token(team: "TEAM", key: key)
            #expect(token.answer(to: try await session.run(token.ask())) == .make(until: .seconds(5), old: nil))
            let lock = try #require(try await session.send(RedisCommand("PTTL", name)).integer)
            guard lock > 0, let stored = token.stored(try await session.run(token.store("one"))) else { continue }
            #expect(lock <= 5_000)
            #expect(stored.jwt == "one")
            let life = try #require(try await session.send(RedisCommand("PTTL", name)).integer)
            #expect(life > 3_500_000 && life <= 3_600_000)
            return
        }
        Issue.record("the lock never lasted long enough to store a token")
    }
}

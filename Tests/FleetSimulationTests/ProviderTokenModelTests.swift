import Push
import TestRandom
import TestServers
import Testing

@testable import Store

/// The scripts that run in Redis and their model are the same functions.
@Suite struct ProviderTokenModelTests {
    @Test(arguments: UInt64(0)..<60)
    func `The same history through scripts and model gives the same answers and the same token`(seed: UInt64)
        async throws
    {
        var random = SeededRandom(spreading: seed)
        let redis = PrivateRedis.shared
        let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
        defer { session.close() }
        let ask = Script(ProviderTokenScript.askSource(now: Self.clock(argument: 9)))
        let store = Script(ProviderTokenScript.storeSource(now: Self.clock(argument: 5)))
        let (team, signingKey) = ("TEAM", InstanceID().description)
        let key = Keys.token(team: team, key: signingKey)
        let workers = (0..<Int.random(in: 1...4, using: &random)).map { _ in InstanceID(using: &random) }
        var own: [FleetToken?] = workers.map { _ in nil }
        var mine: [String?] = workers.map { _ in nil }
        var model = ProviderTokenModel()
        var now = 1_700_000_000_000
        var (minted, kinds) = (0, Set<String>())
        for _ in 0..<120 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10: now += Int.random(in: 0...2_000, using: &random)
            case 10..<19: now += Int.random(in: 0...1_500_000, using: &random)
            default: now += [-4_000, -3_600_000, 86_400_000].randomElement(using: &random) ?? 0
            }
            if random.chance(0.03) {
                _ = try await session.send(RedisCommand("DEL", key))
                model = ProviderTokenModel()
            }
            if model.expires <= now { _ = try await session.send(RedisCommand("DEL", key)) }
            let left = model.expires > now ? model.expires - now : -2
            let worker = Int.random(in: workers.indices, using: &random)
            let id = workers[worker]
            let shared = SharedProviderToken(team: team, key: signingKey, id: id)
            let before = model.expires
            if let jwt = mine[worker], random.chance(0.7) {
                // Its answer may be lost, and it is stored again.
                if random.chance(0.7) { mine[worker] = nil }
                var call = shared.store(jwt, script: store)
                call.add(now)
                call.add(left)
                let expected = shared.stored(try await session.run(call))
                #expect(model.store(jwt, as: id.description, now: now) == expected)
                if expected != nil { own[worker] = expected }
                kinds.insert(expected == nil ? "refused" : expected?.jwt == jwt ? "stored" : "another's")
            } else {
                let token = random.chance(0.3) ? own[worker] : nil
                let age = Duration.milliseconds(Int.random(in: -1_000...3_700_000, using: &random))
                let claimed = token.map { FleetToken(jwt: $0.jwt, issued: $0.issued, age: age) }
                let fresh = random.chance(0.3)
                var call = shared.ask(fresh: fresh, own: claimed, script: ask)
                call.add(now)
                call.add(left)
                let expected = try #require(shared.answer(to: try await session.run(call)))
                #expect(model.ask(fresh: fresh, own: claimed, as: id.description, now: now) == expected)
                switch expected {
                case .use(let token):
                    own[worker] = token
                    kinds.insert("use")
                case .make(_, let old):
                    minted += 1
                    mine[worker] = "jwt\(minted)"
                    kinds.insert(old == nil ? "make" : "make another")
                case .wait: kinds.insert("wait")
                }
            }
            let stored = try await session.send(RedisCommand("HGETALL", key))
            #expect(Self.fields(stored) == Self.fields(model))
            let life = try await session.send(RedisCommand("GETDEL", key + ".life")).text.flatMap { Int($0) }
            if let life {
                #expect(model.expires == now + life)
            } else {
                #expect(model.expires == before || left < 0 && model.expires == 0)
            }
        }
        #expect(minted > 3 && kinds.isSuperset(of: ["use", "make", "stored"]), "\(kinds)")
    }

    /// Our own clock, also for how long the key lives: that is an argument, and what the script wants it to be is put
    /// aside.
    private static func clock(argument index: Int) -> String {
        """
        local now, left = tonumber(ARGV[\(index)]), tonumber(ARGV[\(index + 1)])
        local server = redis
        local redis = { call = function(name, ...)
            if name == 'PTTL' then return left end
            if name == 'PEXPIRE' then
                left = tonumber((select(2, ...)))
                return server.call('SET', KEYS[1] .. '.life', left, 'PX', 600000)
            end
            return server.call(name, ...)
        end }
        """
    }

    private static func fields(_ reply: RedisReply) -> [String: String] {
        let texts = (reply.elements ?? []).map { $0.text ?? "" }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: texts.count - 1, by: 2) { fields[texts[index]] = texts[index + 1] }
        return fields
    }

    private static func fields(_ model: ProviderTokenModel) -> [String: String] {
        var fields: [String: String] = [:]
        if let jwt = model.jwt { (fields["jwt"], fields["issued"]) = (jwt, "\(model.issued)") }
        if let owner = model.owner { (fields["owner"], fields["locked"]) = (owner, "\(model.locked)") }
        return fields
    }
}

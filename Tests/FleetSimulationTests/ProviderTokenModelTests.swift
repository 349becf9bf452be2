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
        let ask = Script(ProviderTokenScript.askSource(now: "local now = tonumber(ARGV[9])"))
        let store = Script(ProviderTokenScript.storeSource(now: "local now = tonumber(ARGV[5])"))
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
            let isThere = try await Self.age(key, as: model, now: now, on: session)
            // A lock without a token is forgotten after five seconds of real time, which a busy machine may take.
            if !isThere, model.expires - now <= 5_000 { model = ProviderTokenModel() }
            let worker = Int.random(in: workers.indices, using: &random)
            let id = workers[worker]
            let shared = SharedProviderToken(team: team, key: signingKey, id: id)
            let before = model.expires
            if let jwt = mine[worker], random.chance(0.7) {
                // Its answer may be lost, and it is stored again.
                if random.chance(0.7) { mine[worker] = nil }
                var call = shared.store(jwt, script: store)
                call.add(now)
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
            // The same once more.
            if stored.elements?.isEmpty != true { #expect(Self.fields(stored) == Self.fields(model)) }
            if model.expires != before, model.expires > 0 {
                let left = try #require(try await session.send(RedisCommand("PTTL", key)).integer)
                #expect(left <= model.expires - now && (left > 0 || model.expires - now <= 5_000))
            }
        }
        #expect(minted > 3 && kinds.isSuperset(of: ["use", "make", "stored"]), "\(kinds)")
    }

    /// Lets the key be as near to its end as in the model, where time is our own.
    /// - Returns: whether it is there.
    private static func age(_ key: String, as model: ProviderTokenModel, now: Int, on session: RedisSession)
        async throws -> Bool
    {
        let left = model.expires - now
        if left <= 0 {
            _ = try await session.send(RedisCommand("DEL", key))
        } else if left < 5_000 {
            _ = try await session.send(RedisCommand("PERSIST", key))
        } else {
            _ = try await session.send(RedisCommand("PEXPIRE", key, "\(left + 3_600_000)"))
        }
        return try await session.send(RedisCommand("EXISTS", key)).integer == 1
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

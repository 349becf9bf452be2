import Push
import TestRandom
import TestServers
import Testing

@testable import Store

/// The script that runs in Redis and its model are the same function.
@Suite struct BudgetModelTests {
    @Test(arguments: UInt64(0)..<40)
    func `The same history through script and model gives the same answers and the same leases`(seed: UInt64)
        async throws
    {
        var random = SeededRandom(spreading: seed)
        let redis = PrivateRedis.shared
        let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
        defer { session.close() }
        var ids = SystemRandomNumberGenerator()
        let pool = "compared.\(InstanceID(using: &ids))"
        let script = Script(BudgetScript.renewSource(now: "local now = tonumber(ARGV[15])"))
        let settings =
            random.chance(0.5) ? LeaseSettings.standard : try LeaseSettings(ttl: .seconds(6), heartbeat: .seconds(1))
        let workers = (0..<Int.random(in: 1...8, using: &random)).map { _ in InstanceID(using: &random) }
        var seqs = workers.map { _ in Int64(0) }
        var asked = workers.map { _ in 0 }
        var model = BudgetModel()
        var now = 1_700_000_000_000
        var process = 1
        var connections = Int.random(in: 1...9, using: &random)
        var answers = 0
        for _ in 0..<80 {
            now += Int.random(in: 0...3_000, using: &random)
            let worker = Int.random(in: workers.indices, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0: process += 1
            case 1: now += [-4_000, 30_000, -3_600_000, 86_400_000].randomElement(using: &random) ?? 0
            case 2:
                _ = try await session.send(RedisCommand("DEL", Keys.budget(pool: pool)))
                model = BudgetModel()
            case 3: connections = Int.random(in: 0...9, using: &random)
            case 4:
                seqs[worker] += 1
                let call = Budget(pool: pool, connections: connections).release(seq: seqs[worker], as: workers[worker])
                let released = try await session.run(call).integer == 1
                #expect(model.release(seq: seqs[worker], as: workers[worker].description) == released)
            case 5:
                var call = ScriptCall(
                    Script(BudgetScript.initializeSource(now: "local now = tonumber(ARGV[3])")),
                    keys: [Keys.budget(pool: pool)]
                )
                call.add("run\(process)")
                call.add(milliseconds: Keys.budgetLife)
                call.add(now)
                _ = try await session.run(call)
                model.initialize(runID: "run\(process)", now: now)
            default: break
            }
            // Now and then an old request comes again.
            let seq = random.chance(0.1) ? seqs[worker] : seqs[worker] + 1
            let base = random.chance(0.7) ? seqs[worker] : max(0, seqs[worker] - 1)
            let isProven = base > 0 && random.chance(0.7)
            let elapsed = Duration.milliseconds(
                max(0, now - asked[worker] + Int.random(in: -1_500...1_500, using: &random))
            )
            let request = RenewRequest(
                seq: seq,
                open: Int.random(in: 0...4, using: &random),
                want: Int.random(in: 0...6, using: &random),
                claim: Int.random(in: 0...4, using: &random),
                proof: isProven ? RenewRequest.Proof(base: base, elapsed: elapsed) : nil
            )
            seqs[worker] = seq
            asked[worker] = now
            var call = Budget(pool: pool, connections: connections).renew(
                request,
                as: workers[worker],
                runID: "run\(process)",
                settings: settings,
                script: script
            )
            call.add(now)
            let expected = LeaseAnswer(try await session.run(call))
            let answer = model.renew(
                request,
                as: workers[worker].description,
                runID: "run\(process)",
                budget: connections,
                settings: settings,
                now: now
            )
            #expect(answer == expected)
            if expected != nil { answers += 1 }
            let stored = try await session.send(RedisCommand("HGETALL", Keys.budget(pool: pool)))
            #expect(Self.fields(stored) == Self.fields(model))
            guard answer == expected else { return }
        }
        #expect(answers > 30)
    }

    private static func fields(_ reply: RedisReply) -> [String: String] {
        let texts = (reply.elements ?? []).map { element in
            if case .string(let bytes) = element { String(decoding: bytes, as: UTF8.self) } else { "" }
        }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: texts.count - 1, by: 2) { fields[texts[index]] = texts[index + 1] }
        return fields
    }

    private static func fields(_ model: BudgetModel) -> [String: String] {
        var fields: [String: String] = [:]
        if let meta = model.meta { fields["meta"] = "\(meta.run) \(meta.last) \(meta.quarantine)" }
        let counts = model.counts
        if counts != FleetStatus.Pool.Counts() {
            fields["counts"] =
                "\(counts.granted) \(counts.waited) \(counts.waitTime.milliseconds) \(counts.reclaimed) "
                + "\(counts.overage)"
        }
        for member in model.members {
            let times = "\(member.expires) \(member.ran) \(member.since) \(member.hungry)"
            fields[member.id] =
                "\(member.grant) \(member.open) \(member.want) \(member.seq) \(times) \(member.budget)"
        }
        return fields
    }
}

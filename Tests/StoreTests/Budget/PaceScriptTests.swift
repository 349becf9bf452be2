import Push
import TestModels
import TestRandom
import TestServers
import Testing

@testable import Store

/// The pace of connecting in Redis, with a clock of our own, and the model that must agree with it.
@Suite struct PaceScriptTests {
    private final class Line {
        private let redis: BlockingRedis
        private let budget = Budget(pool: "pace.\(InstanceID())", connections: 1)
        /// Redis would count the key's life by its own clock.
        private let script: Script = {
            let source = PaceScript.takeSource(now: "local now = tonumber(ARGV[4])")
            let parts = source.split(separator: ", 'PX', math.floor((next - now) / 1000) + 1")
            precondition(parts.count == 2, "the script no longer gives its key a life")
            return Script(parts.joined())
        }()
        private var model = PaceModel()
        var pace: ConnectPace
        var now = 1_700_000_000_000_000

        init(_ rate: Int) throws {
            self.pace = ConnectPace(rate: rate)
            self.redis = try BlockingRedis(port: PrivateRedis.shared.port)
        }

        var key: String { Keys.pace(pool: self.budget.pool) }

        /// What script and model say, which must be the same.
        func take() throws -> PaceAnswer {
            var call = self.budget.slot(at: self.pace, script: self.script)
            call.add(self.now)
            let answer = try #require(PaceAnswer(try self.redis.run(call)))
            let said = self.model.take(at: self.pace, now: self.now)
            #expect(answer == said, "\(self.pace) at \(self.now)")
            return answer
        }

        func send(_ command: RedisCommand) throws -> RedisReply { try self.redis.send(command) }

        func lose() throws {
            _ = try self.send(RedisCommand("DEL", self.key))
            self.model = PaceModel()
        }
    }

    /// Slots are due at `waits`, in milliseconds, when so many ask at once; then somebody is sent away.
    @Test(arguments: [
        (1, [0, 1_000, 2_000, 3_000]),
        (2, [0, 0, 500, 1_000, 1_500, 2_000, 2_500, 3_000]),
        (4, [0, 0, 0, 0] + (1...12).map { $0 * 250 }),
        (1000, [Int](repeating: 0, count: 1000) + Array(1...3000)),
    ])
    func `A second's worth goes at once, the rest stands in line for three seconds, further ones ask again`(
        rate: Int,
        waits: [Int]
    ) throws {
        let line = try Line(rate)
        for wait in waits { #expect(try line.take() == PaceAnswer(hasSlot: true, wait: .milliseconds(wait))) }
        let away = try line.take()
        #expect(!away.hasSlot && away.wait == line.pace.interval)
        #expect(try line.take() == away, "who is sent away takes no place")
        line.now += Int(away.wait.nanoseconds / 1000)
        #expect(try line.take() == PaceAnswer(hasSlot: true, wait: ConnectPace.horizon))
        line.now += 10_000_000
        #expect(try line.take().wait == .zero)
    }

    @Test
    func `A pool of which nothing is known has a slot at once, and its key lives only as long as it says something`()
        throws
    {
        let budget = Budget(pool: "life.\(InstanceID())", connections: 1)
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let call = budget.slot(at: ConnectPace(rate: 2))
        for junk in [nil, "nonsense", "-5", "1 2", ""] {
            if let junk { _ = try redis.send(RedisCommand("SET", Keys.pace(pool: budget.pool), junk)) }
            #expect(PaceAnswer(try redis.run(call)) == PaceAnswer(hasSlot: true, wait: .zero), "\(junk ?? "nothing")")
            let life = try #require(try redis.send(RedisCommand("PTTL", Keys.pace(pool: budget.pool))).integer)
            #expect(life > 0 && life <= 501)
        }
    }

    @Test func `A clock that went back costs one full line, and gives nothing twice`() throws {
        let line = try Line(10)
        for _ in 0..<20 { #expect(try line.take().hasSlot) }
        line.now -= 3_600_000_000
        let away = try line.take()
        #expect(!away.hasSlot && away.wait == .milliseconds(100))
        line.now += 5_000_000
        for _ in 0..<10 { #expect(try line.take() == PaceAnswer(hasSlot: true, wait: .zero)) }
        #expect(try line.take().wait == .milliseconds(100))
    }

    /// However requests come: in any window no more slots are due than a burst and what the rate brings in it.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `No window holds more than burst and rate, and script and model say the same`(seed: UInt64) throws {
        var random = SeededRandom(spreading: seed)
        let rate = Int.random(in: 1...(1 << Int.random(in: 0...9, using: &random)), using: &random)
        let line = try Line(rate)
        var due: [Int] = []
        for _ in 0..<300 {
            let answer = try line.take()
            #expect(answer.wait <= ConnectPace.horizon)
            let wait = Int(answer.wait.nanoseconds / 1000)
            if answer.hasSlot { due.append(line.now + wait) }
            let pause = random.chance(0.02) ? 5_000_000 : random.chance(0.5) ? 0 : 2_000_000 / rate
            line.now += Int.random(in: 0...pause, using: &random)
        }
        #expect(due == due.sorted(), "in the order of asking")
        #expect(due.count > 50)
        for first in due.indices {
            for last in first..<due.endIndex {
                let window = due[last] - due[first]
                #expect((last - first + 1) * 1_000_000 <= rate * (1_000_000 + window))
            }
        }
    }

    /// Losses, other rates during a rollout, clocks that jump: the same answers all the same.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `Script and model say the same through losses, jumps and other rates`(seed: UInt64) throws {
        var random = SeededRandom(spreading: seed)
        let line = try Line(Int.random(in: 1...1000, using: &random))
        var sentAway = 0
        for _ in 0..<200 {
            if random.chance(0.03) { line.pace = ConnectPace(rate: Int.random(in: 1...20, using: &random)) }
            if random.chance(0.02) { try line.lose() }
            if random.chance(0.03) { line.now += Int.random(in: -20_000_000...20_000_000, using: &random) }
            let answer = try line.take()
            #expect(answer.wait <= ConnectPace.horizon)
            if !answer.hasSlot { sentAway += 1 }
            line.now += random.chance(0.7) ? 0 : Int.random(in: 0...500_000, using: &random)
        }
        #expect(sentAway > 0)
    }
}

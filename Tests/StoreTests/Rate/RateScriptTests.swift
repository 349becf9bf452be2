import Push
import TestRandom
import TestServers
import Testing

@testable import Store

/// The script with a clock of our own, and the model that must agree with it.
@Suite struct RateScriptTests {
    private final class Bucket {
        private let redis: BlockingRedis
        private let app = "app.\(InstanceID())"
        private let script = Script(RateScript.takeSource(now: "local now = tonumber(ARGV[9])"))
        private var model = TokenBucket()
        var limit: RateLimit
        var now = 1_700_000_000_000_000
        var runID = "first"

        /// - Parameter isFull: whether it has been known for long.
        init(_ limit: RateLimit, isFull: Bool = true) throws {
            self.limit = limit
            self.redis = try BlockingRedis(port: PrivateRedis.shared.port)
            guard isFull else { return }
            _ = try self.take(1)
            self.now += 3_600_000_000
        }

        var key: String { Keys.rate(app: self.app) }

        /// What script and model say, which must be the same.
        func take(_ need: Int, want: Int? = nil) throws -> RateAnswer {
            let request = RateRequest(need: need, want: want ?? need)
            var call = Rate(app: self.app, limit: self.limit).take(request, runID: self.runID, script: self.script)
            call.add(self.now)
            let answer = try #require(RateAnswer(try self.redis.run(call)))
            let said = self.model.take(request, of: self.limit, runID: self.runID, now: self.now)
            #expect(answer == said, "\(request) of \(self.limit) at \(self.now)")
            return answer
        }

        func send(_ command: RedisCommand) throws -> RedisReply { try self.redis.send(command) }

        func lose() throws {
            _ = try self.send(RedisCommand("DEL", self.key))
            self.model = TokenBucket()
        }
    }

    private static let limit = try! RateLimit(rate: 200, bucketSize: 50)

    @Test func `A full bucket gives what it holds, then what comes in, in the order of asking`() throws {
        let bucket = try Bucket(Self.limit)
        for _ in 0..<2 { #expect(try bucket.take(10) == RateAnswer(tokens: 10, due: .zero, isCrowded: false)) }
        // 25.5 tokens: what may come late is kept back.
        #expect(try bucket.take(5).due == .zero)
        #expect(try bucket.take(5).due.milliseconds == 22)
        let last = try bucket.take(5)
        #expect(last.tokens == 4 && last.due.milliseconds == 42)
        bucket.now += 1_000_000
        #expect(try bucket.take(5).due == .zero)
    }

    @Test(arguments: [false, true])
    func `A bucket that nobody knows gives nothing before all that was handed out is past`(isRestart: Bool) throws {
        let bucket = try Bucket(Self.limit)
        if isRestart { bucket.runID = "second" } else { try bucket.lose() }
        let start = bucket.now
        var answer = try bucket.take(1)
        #expect(answer.tokens == 0 && answer.due >= Self.limit.spread)
        bucket.now += Int(answer.due.nanoseconds / 1000)
        answer = try bucket.take(1)
        #expect(answer.tokens == 1 && !answer.isCrowded, "nobody stood in line before")
        let due = Duration.microseconds(bucket.now - start) + answer.due
        #expect(due >= Self.limit.horizon + Self.limit.spread + .milliseconds(5))
        #expect(due < Self.limit.horizon + Self.limit.spread + .milliseconds(6))
    }

    @Test func `A clock that went back, far or a little, gives nothing twice`() throws {
        let bucket = try Bucket(Self.limit)
        _ = try bucket.take(10)
        bucket.now -= 3_600_000_000
        #expect(try bucket.take(1).tokens == 0)
        bucket.now += 10_000_000
        while try bucket.take(10).due == .zero {}
        bucket.now -= 100_000
        #expect(try bucket.take(1).due > .milliseconds(100))
    }

    @Test func `More than is needed is given only while there is plenty`() throws {
        let bucket = try Bucket(Self.limit)
        #expect(try bucket.take(1, want: 10).tokens == 10)
        #expect(try bucket.take(1, want: 10).tokens == 1)
    }

    @Test func `The longer the line the smaller the batches, and a full one sends away for a while`() throws {
        let bucket = try Bucket(Self.limit)
        var sizes: [Int] = []
        while true {
            let answer = try bucket.take(10)
            guard answer.tokens > 0 else { break }
            #expect(answer.due <= Self.limit.horizon)
            sizes.append(answer.tokens)
        }
        #expect(sizes.first == 10 && sizes.last == 1 && sizes == sizes.sorted(by: >))
        #expect(sizes.count > 50)
        bucket.now += 100_000
        #expect(try bucket.take(1).isCrowded)
        bucket.now += 1_000_000
        #expect(try bucket.take(1).isCrowded == false)
    }

    @Test func `What others wrote into the key is not believed, and the key does not live for ever`() throws {
        let bucket = try Bucket(Self.limit)
        _ = try bucket.send(RedisCommand("SET", bucket.key, "nonsense"))
        let rate = Rate(app: "life.\(InstanceID())", limit: Self.limit)
        let call = rate.take(RateRequest(need: 1, want: 1), runID: "run", script: RateScript.take)
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        #expect(RateAnswer(try redis.run(call))?.tokens == 0)
        let life = try #require(try redis.send(RedisCommand("PTTL", Keys.rate(app: rate.app))).integer)
        #expect(life > 29 * 86_400_000)
        for junk in ["nonsense", "run x y", "run -1 0", "run 1"] {
            _ = try redis.send(RedisCommand("SET", Keys.rate(app: rate.app), junk))
            #expect(RateAnswer(try redis.run(call))?.tokens == 0, "\(junk)")
        }
    }

    /// Changes of the limit, of the server, of the clock, and losses, with any numbers.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `Script and model say the same`(seed: UInt64) throws {
        var random = SeededRandom(spreading: seed)
        func anyLimit() -> RateLimit {
            let rate = Int.random(in: 1...(1 << Int.random(in: 0...19, using: &random)), using: &random)
            let size = Int.random(in: 1...(1 << Int.random(in: 0...19, using: &random)), using: &random)
            return try! RateLimit(rate: rate, bucketSize: random.chance(0.3) ? nil : size)
        }
        let bucket = try Bucket(anyLimit(), isFull: false)
        var given = 0
        for step in 0..<200 {
            if random.chance(0.02) { bucket.limit = anyLimit() }
            if random.chance(0.01) { bucket.runID = "run\(step)" }
            if random.chance(0.01) { try bucket.lose() }
            if random.chance(0.02) { bucket.now -= Int.random(in: 0...10_000_000, using: &random) }
            let need = Int.random(in: 1...bucket.limit.batch, using: &random)
            let want = random.chance(0.5) ? need : Int.random(in: need...bucket.limit.batch, using: &random)
            let answer = try bucket.take(need, want: want)
            given += answer.tokens
            #expect(answer.tokens <= want)
            let wait = answer.tokens == 0 ? Int(answer.due.nanoseconds / 1000) : bucket.limit.interval / 1000
            bucket.now += Int.random(in: 0...2 * wait, using: &random)
        }
        #expect(given > 0)
    }
}

import Push
import TestModels
import TestRandom
import TestServers
import Testing

@testable import Store

@Suite struct PauseScriptTests {
    private static let start: Int64 = 1_700_000_000_000

    /// Redis and the model side by side, under a clock of our own.
    private final class Pair {
        let redis: BlockingRedis
        var model = PauseModel(now: PauseScriptTests.start)
        private let script = Script(PauseScript.source(now: "local now = tonumber(ARGV[#ARGV])"))
        let server: PrivateRedis

        init() throws {
            self.server = try PrivateRedis(volatile: true)
            self.redis = try BlockingRedis(port: self.server.port)
        }

        deinit { self.server.stop() }

        func pass(_ time: Duration) { self.model.now += time.milliseconds }

        @discardableResult
        func carryOut(
            _ order: PausedApps.Order,
            _ app: String = "shop",
            by worker: String = "w1",
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> AppPause? {
            var call = PausedApps.call(order, app: app, by: worker, name: "host:7", script: self.script)
            call.add(self.model.now)
            let real = try #require(PausedApps.answer(try self.redis.run(call)), sourceLocation: sourceLocation).first
            let expected = self.model.carryOut(order, app: app, by: worker, name: "host:7")
            #expect(real == expected, "\(order)", sourceLocation: sourceLocation)
            return real
        }

        @discardableResult
        func read(sourceLocation: SourceLocation = #_sourceLocation) throws -> [AppPause] {
            var call = PausedApps.call("read", script: self.script)
            call.add(self.model.now)
            let real = try #require(PausedApps.answer(try self.redis.run(call)), sourceLocation: sourceLocation)
            let expected = self.model.read()
            #expect(Set(real) == Set(expected.values), sourceLocation: sourceLocation)
            return real
        }

        func flush() throws {
            _ = try self.redis.send(RedisCommand("FLUSHALL"))
            self.model.flush()
        }
    }

    private static func pause(
        _ cause: String = "suspects",
        wait: Duration = .seconds(15),
        since: UnixTime? = nil
    ) -> PausedApps.Order {
        .pause(cause: cause, wait: wait, pauses: 1, since: since)
    }

    private static func fail(_ since: UnixTime) -> PausedApps.Order {
        .fail(since: since, cause: "suspects", first: .seconds(15), longest: .seconds(300))
    }

    @Test func `The first pause wins, one worker probes at a time, and a failed probe doubles the wait`() throws {
        let pair = try Pair()
        let since = try #require(try pair.carryOut(Self.pause())).since
        pair.pass(.seconds(1))
        #expect(try pair.carryOut(Self.pause("credential", wait: .seconds(90)), by: "w2")?.left == .seconds(14))
        #expect(try pair.carryOut(.probe(since: since))?.prober == nil, "it is not due")
        pair.pass(.seconds(14))
        #expect(try pair.carryOut(.probe(since: since))?.prober == "w1")
        let refused = try pair.carryOut(.probe(since: since), by: "w2")
        #expect(refused?.prober == "w1" && refused?.probeLeft == PausedApps.lease)
        pair.pass(.seconds(5))
        #expect(try pair.carryOut(.probe(since: since))?.probeLeft == PausedApps.lease, "it goes on")
        let failed = try pair.carryOut(Self.fail(since))
        #expect(failed?.left == .seconds(30) && failed?.pauses == 2 && failed?.prober == nil)
        #expect(try pair.carryOut(Self.fail(since))?.pauses == 2, "an order whose answer was lost is repeated")
        pair.pass(.seconds(30))
        #expect(try pair.carryOut(.probe(since: since), by: "w2")?.prober == "w2")
        pair.pass(.seconds(6))
        #expect(try pair.carryOut(.probe(since: since), by: "w3")?.prober == "w3", "the dead one is replaced")
        #expect(try pair.carryOut(Self.fail(since), by: "w2")?.pauses == 2, "it is not its turn any more")
        #expect(try pair.carryOut(.yield(since: since), by: "w3")?.prober == nil)
        #expect(try pair.carryOut(.resume(since: since), by: "w2")?.isPaused == false)
        #expect(try pair.read().map(\.isPaused) == [false], "others can tell that from lost data")
        let next = try #require(try pair.carryOut(Self.pause()))
        #expect(next.isPaused && next.since > since && next.pauses == 1)
        #expect(try pair.carryOut(.resume(since: since))?.isPaused == true, "the one before")
    }

    @Test func `A pause that Redis has lost comes back as the same, but not after it was resumed`() throws {
        let pair = try Pair()
        let since = try #require(try pair.carryOut(Self.pause())).since
        try pair.flush()
        #expect(try pair.read().isEmpty)
        let back = try pair.carryOut(Self.pause(wait: .seconds(3), since: since), by: "w2")
        #expect(back?.since == since && back?.left == .seconds(3) && back?.by == "host:7")
        try pair.carryOut(.resume(since: since))
        #expect(try pair.carryOut(Self.pause(since: since), by: "w3")?.isPaused == false)
    }

    @Test func `A pause by hand is an entry of its own, stays for ever or ends at its time, and its order is the last`()
        throws
    {
        let pair = try Pair()
        let life = { try pair.redis.send(RedisCommand("PTTL", Keys.pausedApps)).integer }
        try pair.carryOut(Self.pause())
        #expect(try life() ?? -1 > 900_000)
        let held = try #require(try pair.carryOut(.hold(for: nil, reason: "why not", since: nil)))
        #expect(held.kind == .hand && held.until == nil && held.reason == "why not" && held.by == "host:7")
        #expect(held.isStanding)
        #expect(try life() == -1, "no end")
        #expect(try pair.read().count == 2)
        pair.pass(.seconds(86_400))
        #expect(try pair.read().map(\.kind) == [.hand], "nobody has cared for the other one for a day")
        let short = try #require(try pair.carryOut(.hold(for: .seconds(60), reason: "", since: nil)))
        #expect(short.since > held.since && short.left == .seconds(60))
        let ttl = try life() ?? -1
        #expect(ttl > 600_000 && ttl <= 660_001, "no longer than is needed")
        pair.pass(.seconds(60))
        #expect(try pair.read().map(\.isStanding) == [false])
        try pair.carryOut(.hold(for: nil, reason: "", since: nil))
        #expect(try pair.carryOut(.release)?.isPaused == false)
        try pair.flush()
        #expect(try pair.carryOut(.release) == nil)
        #expect(try pair.carryOut(.due(since: nil)) == nil)
    }

    @Test func `First answers of all workers stop the app together, and only a share that is high enough does`() throws
    {
        let pair = try Pair()
        func answers(_ suspects: Int, of count: Int) -> PausedApps.Order {
            .answers(suspects: suspects, of: count, threshold: 50, least: 20, wait: .seconds(15))
        }
        for worker in 1...6 { #expect(try pair.carryOut(answers(3, of: 3), by: "w\(worker)") == nil) }
        pair.pass(.seconds(60))
        #expect(try pair.carryOut(answers(10, of: 10)) == nil, "those before are forgotten")
        #expect(try pair.carryOut(answers(0, of: 31), by: "w2") == nil)
        #expect(try pair.carryOut(answers(10, of: 10), by: "w3") == nil, "20 of 51")
        let pause = try #require(try pair.carryOut(answers(11, of: 11), by: "w4"))
        #expect(pause.cause == "suspects" && pause.left == .seconds(15) && pause.since == pause.time)
        pair.pass(.milliseconds(1))
        #expect(try pair.carryOut(answers(1, of: 1), by: "w5")?.since == pause.since)
        try pair.carryOut(.resume(since: pause.since))
        #expect(try pair.carryOut(answers(19, of: 19))?.isPaused == false, "it begins anew")
        #expect(try pair.carryOut(answers(1, of: 1), "news") == nil, "each app by itself")
    }

    @Test func `What is no entry is thrown away, and a reason keeps to one line`() throws {
        let pair = try Pair()
        _ = try pair.redis.send(RedisCommand("HSET", Keys.pausedApps, "fault:shop", "nonsense", "other", "1"))
        #expect(try pair.read().isEmpty)
        let call = PausedApps.call(.hold(for: nil, reason: "a\tb\nc", since: nil), app: "x", by: "w", name: "n\tm")
        let pause = try #require(PausedApps.answer(try pair.redis.run(call))?.first)
        #expect(pause.reason == "a b c" && pause.by == "n m")
        #expect(PausedApps.answer(.null) == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Random histories go the same way in Redis and in the model`(seed: UInt64) throws {
        let pair = try Pair()
        var random = SeededRandom(seed: seed)
        var known: [UnixTime] = []
        var granted = 0
        for _ in 0..<400 {
            let jump = [0, 1, 400, 2000, 7000, 16_000, 400_000].randomElement(using: &random) ?? 0
            pair.model.now += Int64(jump)
            // A step back, as after a failover.
            if Int.random(in: 0..<60, using: &random) == 0 {
                pair.model.now -= Int64.random(in: 1...900_000, using: &random)
            }
            if Int.random(in: 0..<80, using: &random) == 0 { try pair.flush() }
            let since = known.suffix(4).randomElement(using: &random) ?? UnixTime(milliseconds: 1)
            let old = Bool.random(using: &random) ? since : nil
            let wait = Duration.milliseconds(Int.random(in: 0...20_000, using: &random))
            let cause = Bool.random(using: &random) ? "suspects" : "credential"
            let orders: [PausedApps.Order] = [
                .pause(cause: cause, wait: wait, pauses: Int.random(in: 0...12, using: &random), since: old),
                .probe(since: since), .probe(since: since), .probe(since: since), .yield(since: since),
                .fail(since: since, cause: cause, first: .seconds(15), longest: .seconds(300)),
                .resume(since: since), .due(since: old),
                .answers(
                    suspects: wait.milliseconds.isMultiple(of: 2) ? 3 : 1,
                    of: 4,
                    threshold: 50,
                    least: 20,
                    wait: wait
                ),
                .hold(for: Bool.random(using: &random) ? wait + .seconds(1) : nil, reason: "r", since: old), .release,
            ]
            guard let order = orders.randomElement(using: &random) else { continue }
            let worker = "w\(Int.random(in: 1...3, using: &random))"
            if let pause = try pair.carryOut(order, by: worker) {
                known.append(pause.since)
                if case .probe = order, pause.prober == worker { granted += 1 }
            }
            if Int.random(in: 0..<4, using: &random) == 0 { try pair.read() }
        }
        #expect(granted > 3, "the walk goes everywhere")
    }
}

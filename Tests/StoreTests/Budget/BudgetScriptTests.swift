import Push
import TestServers
import Testing

@testable import Store

/// The script alone, with a clock of our own.
@Suite struct BudgetScriptTests {
    private struct Pool {
        let redis: BlockingRedis
        var budget: Budget
        var now = 1_700_000_000_000
        var runID = "first"
        let script = FleetModel.renewScript(without: nil)

        init(_ connections: Int, isKnown: Bool = true) throws {
            self.redis = try BlockingRedis(port: PrivateRedis.shared.port)
            self.budget = Budget(pool: "script.\(InstanceID())", connections: connections)
            guard isKnown else { return }
            let meta = "first \(self.now) 0"
            _ = try self.redis.send(RedisCommand("HSET", Keys.budget(pool: self.budget.pool), "meta", meta))
        }

        func renew(
            _ id: InstanceID,
            _ seq: Int64,
            open: Int = 0,
            want: Int = 9,
            claim: Int = 0,
            proof: RenewRequest.Proof? = nil,
            budget: Int? = nil
        ) throws -> LeaseAnswer? {
            let request = RenewRequest(seq: seq, open: open, want: want, claim: claim, proof: proof)
            let budget = Budget(pool: self.budget.pool, connections: budget ?? self.budget.connections)
            var call = budget.renew(request, as: id, runID: self.runID, settings: .standard, script: self.script)
            call.add(self.now)
            return LeaseAnswer(try self.redis.run(call))
        }

        /// `granted`, `waited`, milliseconds waited, `reclaimed`, `overage`; empty while nothing was counted.
        func counts() throws -> [Int] {
            let key = Keys.budget(pool: self.budget.pool)
            let text = try self.redis.send(RedisCommand("HGET", key, "counts")).text
            return text?.split(separator: " ").compactMap { Int($0) } ?? []
        }
    }

    @Test func `An unknown pool grants nothing for one lease time`() throws {
        var pool = try Pool(4, isKnown: false)
        let id = InstanceID()
        let first = try #require(try pool.renew(id, 1))
        #expect(first.limit == 0 && first.quarantine == .seconds(20))
        pool.now += 19_999
        let proof = RenewRequest.Proof(base: 1, elapsed: .milliseconds(19_999))
        #expect(try pool.renew(id, 2, proof: proof)?.limit == 0)
        pool.now += 1
        #expect(try pool.renew(id, 3)?.limit == 4)
    }

    @Test func `A pool that an operator has declared new grants at once, and only a new one`() async throws {
        let redis = PrivateRedis.shared
        let session = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(redis.port)))
        defer { session.close() }
        let budget = Budget(pool: "declared.\(InstanceID())", connections: 4)
        let server = try #require(await session.server())
        #expect(try await session.run(budget.initialize(on: server)) == .integer(1))
        #expect(try await session.run(budget.initialize(on: server)) == .integer(0))
        let request = RenewRequest(seq: 1, open: 0, want: 3, claim: 0, proof: nil)
        let call = budget.renew(request, as: InstanceID(), runID: server.runID, settings: .standard)
        let answer = try #require(LeaseAnswer(try await session.run(call)))
        #expect(answer.limit == 3 && answer.quarantine == .zero && answer.ttl == .seconds(20))
        let life = try await session.send(RedisCommand("PTTL", Keys.budget(pool: budget.pool)))
        #expect(try #require(life.integer) > 29 * 86_400_000)
    }

    /// Each worker in turn renews twice, reporting what it had opened; then the shares have settled.
    @Test(arguments: [
        (10, [9, 9], [5, 5]),
        (10, [9, 9, 9], [3, 3, 4]),
        (10, [1, 9, 9], [1, 4, 5]),
        (10, [2, 2, 2], [2, 2, 2]),
        (4, [9, 9, 9, 9], [1, 1, 1, 1]),
        (7, [1, 2, 9], [1, 2, 4]),
        (5, [0, 9], [0, 5]),
        (2, [3, 3, 3], [0, 1, 1]),
        (0, [3], [0]),
    ])
    func `Shares are max-min fair`(budget: Int, wants: [Int], shares: [Int]) throws {
        let pool = try Pool(budget)
        let ids = wants.map { _ in InstanceID() }
        var open = wants.map { _ in 0 }
        for seq in Int64(1)...6 {
            for (index, id) in ids.enumerated() {
                let answer = try #require(try pool.renew(id, seq, open: open[index], want: wants[index]))
                open[index] = answer.limit
                #expect(open.reduce(0, +) <= budget)
            }
        }
        let settled = open.sorted()
        #expect(settled == shares.sorted())
        // Connections do not wander once shares have settled.
        for (index, id) in ids.enumerated() {
            let answer = try #require(try pool.renew(id, 7, open: open[index], want: wants[index]))
            #expect(answer.limit == open[index])
            #expect(answer.held == min(budget, wants.reduce(0, +)))
        }
    }

    @Test func `A slot is given away only when it is closed`() throws {
        let pool = try Pool(4)
        let (first, second) = (InstanceID(), InstanceID())
        #expect(try pool.renew(first, 1)?.limit == 4)
        #expect(try pool.renew(second, 1)?.limit == 0)
        let draining = try #require(try pool.renew(first, 2, open: 4, claim: 4))
        #expect(draining.grant == 4 && draining.target == 2)
        #expect(try pool.renew(second, 2)?.limit == 0)
        #expect(try pool.renew(first, 3, open: 3, claim: 2)?.grant == 3)
        #expect(try pool.renew(second, 3)?.limit == 1)
        #expect(try pool.renew(first, 4, open: 2, claim: 2)?.grant == 2)
        #expect(try pool.renew(second, 4, open: 1, claim: 1)?.limit == 2)
    }

    @Test func `The smallest budget among living workers counts`() throws {
        var pool = try Pool(10)
        let (old, new) = (InstanceID(), InstanceID())
        #expect(try pool.renew(old, 1, budget: 4)?.limit == 4)
        let answer = try #require(try pool.renew(new, 1))
        #expect(answer.budget == 4 && answer.limit == 0)
        pool.now += 20_001
        // The old worker is gone; its silence is longer than heartbeats explain, but it held leases that have ended.
        _ = try pool.renew(new, 2)
        pool.now += 20_001
        let proof = RenewRequest.Proof(base: 2, elapsed: .milliseconds(20_001))
        #expect(try pool.renew(new, 3, proof: proof)?.limit == 9)
    }

    @Test func `A request that is not newer changes nothing`() throws {
        let pool = try Pool(4)
        let (first, second) = (InstanceID(), InstanceID())
        #expect(try pool.renew(first, 5, open: 0, want: 4)?.grant == 4)
        #expect(try pool.renew(first, 4, open: 0, want: 0) == nil)
        #expect(try pool.renew(first, 5, open: 0, want: 0) == nil)
        #expect(try pool.renew(second, 1)?.limit == 0)
    }

    @Test func `A goodbye gives back at once, and nothing older undoes it`() throws {
        let pool = try Pool(4)
        let (first, second) = (InstanceID(), InstanceID())
        #expect(try pool.renew(first, 1)?.grant == 4)
        #expect(try pool.redis.run(pool.budget.release(seq: 3, as: first)) == .integer(1))
        #expect(try pool.redis.run(pool.budget.release(seq: 3, as: first)) == .integer(0))
        #expect(try pool.renew(first, 2, open: 4) == nil)
        let answer = try #require(try pool.renew(second, 1))
        #expect(answer.limit == 4 && answer.members == 1)
        #expect(try pool.redis.run(pool.budget.release(seq: 9, as: InstanceID())) == .integer(0))
    }

    @Test func `Another server process means quarantine, in which claims are kept and nothing grows`() throws {
        var pool = try Pool(4)
        let (first, second) = (InstanceID(), InstanceID())
        #expect(try pool.renew(first, 1, want: 4)?.grant == 4)
        pool.runID = "second"
        let answer = try #require(try pool.renew(first, 2, open: 2, want: 4, claim: 3))
        #expect(answer.limit == 3 && answer.quarantine == .seconds(20))
        #expect(try pool.renew(second, 1)?.limit == 0)
        pool.now += 20_000
        let proof = RenewRequest.Proof(base: 2, elapsed: .seconds(20))
        #expect(try pool.renew(first, 3, open: 3, want: 3, claim: 3, proof: proof)?.limit == 3)
        #expect(try pool.renew(second, 2)?.limit == 1)
    }

    /// The data are lost, and before the holder has claimed what it has, the clock jumps by more than a lease.
    @Test func `A jump of the clock that nobody can vouch against begins a quarantine anew`() throws {
        var pool = try Pool(4)
        let (holder, early, late) = (InstanceID(), InstanceID(), InstanceID())
        #expect(try pool.renew(holder, 1, want: 4)?.grant == 4)
        _ = try pool.redis.send(RedisCommand("DEL", Keys.budget(pool: pool.budget.pool)))
        #expect(try pool.renew(early, 1)?.quarantine == .seconds(20))
        pool.now += 30_000
        let answer = try #require(try pool.renew(late, 1))
        #expect(answer.limit == 0 && answer.quarantine == .seconds(20))
        #expect(try pool.renew(holder, 2, open: 4, want: 4, claim: 4)?.grant == 4)
    }

    /// The bound behind the rules: a jump that nobody can notice ends leases early by less than the margin.
    @Test func `A jump of the clock below the limit of silence is covered by the margin`() throws {
        let settings = LeaseSettings.standard
        var pool = try Pool(4)
        let (cutOff, newcomer) = (InstanceID(), InstanceID())
        var lease = Lease(settings: settings, id: cutOff, now: MonotonicTime(nanoseconds: 0))
        let due = lease.renewDue(open: 0, want: 4, now: MonotonicTime(nanoseconds: 0))
        let request = try #require(due)
        let answer = try #require(try pool.renew(cutOff, request.seq, want: 4))
        lease.answered(request.seq, answer, now: MonotonicTime(nanoseconds: 0))
        // From here on the holder is cut off; every second a newcomer without proof asks, and the clock jumps once.
        var elapsed = Duration.zero
        pool.now += Int(settings.silence.milliseconds) - 1_000
        for _ in 0..<40 {
            elapsed += .seconds(1)
            pool.now += 1_000
            let answer = try #require(try pool.renew(newcomer, Int64(elapsed.components.seconds), want: 4))
            guard answer.limit > 0 else { continue }
            #expect(!lease.isValid(now: MonotonicTime(nanoseconds: 0) + elapsed))
            return
        }
        Issue.record("the lease never came back")
    }

    @Test func `Counted are connections granted, waits, and what ended without being given back`() throws {
        var pool = try Pool(4)
        let (first, second) = (InstanceID(), InstanceID())
        #expect(try pool.renew(first, 1, want: 4)?.grant == 4)
        #expect(try pool.counts() == [4, 0, 0, 0, 0])
        #expect(try pool.renew(second, 1)?.grant == 0)
        pool.now += 1_000
        #expect(try pool.renew(first, 2, open: 4, want: 4)?.target == 2)
        pool.now += 500
        // What is closed and given to another one is granted anew.
        #expect(try pool.renew(first, 3, open: 2, want: 4)?.grant == 2)
        #expect(try pool.renew(second, 2)?.grant == 2)
        #expect(try pool.counts() == [6, 1, 1_500, 0, 0])
        #expect(try pool.redis.run(pool.budget.release(seq: 3, as: second)) == .integer(1))
        for seq in Int64(4)...14 {
            pool.now += 2_000
            #expect(try pool.renew(first, seq, open: 2, want: 2)?.grant == 2)
        }
        #expect(try pool.counts() == [6, 1, 1_500, 0, 0], "what was given back is not reclaimed")
        // The first one dies: another one finds its lease ended.
        for seq in Int64(3)...13 {
            pool.now += 2_000
            _ = try pool.renew(second, seq, want: 0)
        }
        #expect(try pool.counts() == [6, 1, 1_500, 2, 0])
    }

    @Test func `A worker that wakes with connections open after its lease is counted once`() throws {
        var pool = try Pool(4)
        let (paused, other) = (InstanceID(), InstanceID())
        #expect(try pool.renew(paused, 1, want: 3)?.grant == 3)
        for seq in Int64(1)...11 {
            pool.now += 2_000
            _ = try pool.renew(other, seq, open: seq > 10 ? 1 : 0, want: 4)
        }
        #expect(try pool.counts()[3...] == [3, 0])
        for seq in Int64(2)...4 { #expect(try pool.renew(paused, seq, open: 3, want: 3)?.grant == 3) }
        #expect(try pool.counts()[3...] == [3, 3])
    }

    @Test func `What workers claim again after a loss of data is neither granted nor beyond a grant`() throws {
        let pool = try Pool(4)
        let holder = InstanceID()
        #expect(try pool.renew(holder, 1, want: 4)?.grant == 4)
        _ = try pool.redis.send(RedisCommand("DEL", Keys.budget(pool: pool.budget.pool)))
        #expect(try pool.renew(holder, 2, open: 4, claim: 4)?.grant == 4)
        #expect(try pool.counts().isEmpty, "the field is written only when it changes")
    }

    /// Of the mistakes that no life of the fleet model shows, the one where the lease counts from the receipt.
    @Test func `An answer held back for 10 s, with none asked for since, allows nothing when others have the lease`()
        throws
    {
        var pool = try Pool(4)
        let (slow, other) = (InstanceID(), InstanceID())
        var lease = Lease(settings: .standard, id: slow, now: MonotonicTime(nanoseconds: 0))
        let due = lease.renewDue(open: 0, want: 4, now: MonotonicTime(nanoseconds: 0))
        let request = try #require(due)
        let answer = try #require(try pool.renew(slow, request.seq, want: 4))
        let counted = lease.answered(request.seq, answer, now: MonotonicTime(nanoseconds: 0) + .seconds(10))
        #expect(counted && lease.isValid(now: MonotonicTime(nanoseconds: 0) + .seconds(10)))
        for second in 1...30 {
            pool.now += 1_000
            guard try pool.renew(other, Int64(second), want: 4)?.limit ?? 0 > 0 else { continue }
            #expect(second == 20)
            #expect(!lease.isValid(now: MonotonicTime(nanoseconds: 0) + .seconds(second)))
            return
        }
        Issue.record("the lease never came back")
    }

    @Test func `What others wrote into the key is not taken for a lease`() throws {
        let pool = try Pool(4)
        let key = Keys.budget(pool: pool.budget.pool)
        _ = try pool.redis.send(RedisCommand("HSET", key, "junk", "x y z", "more", "1 2 3", "counts", "1 2 x 4 5"))
        #expect(try pool.renew(InstanceID(), 1)?.limit == 4)
        _ = try pool.redis.send(RedisCommand("HSET", key, "meta", "nonsense"))
        #expect(try pool.renew(InstanceID(), 1)?.quarantine == .seconds(20))
    }
}

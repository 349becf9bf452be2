internal import Push
internal import Testing

@testable import Broker
@testable import Desk
@testable import Store

@Suite struct ReplicaRuleTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let load: ReplicaRule.Load
        let desired: Int

        init(
            _ description: String,
            workers: Int,
            backlog: Int = 0,
            age: Double = 0,
            rate: Double = 0,
            connections: Int = 20,
            canSend: Bool = true,
            desired: Int
        ) {
            self.testDescription = description
            self.load = ReplicaRule.Load(
                workers: workers,
                backlog: backlog,
                oldestAge: age,
                rate: rate,
                connections: connections,
                canSend: canSend
            )
            self.desired = desired
        }
    }

    static let cases = [
        Case("nothing to do: one", workers: 1, desired: 1),
        Case("no worker and nothing to do: still one", workers: 0, desired: 1),
        Case("no worker and a backlog: two at first", workers: 0, backlog: 1_000_000, age: 600, desired: 2),
        Case("nothing to do: a quarter fewer", workers: 8, desired: 6),
        Case("the rate alone asks for them", workers: 4, rate: 1_900, desired: 4),
        Case("a rate beyond what they are taken for", workers: 4, rate: 2_600, desired: 6),
        Case("a young backlog counts by the target", workers: 4, backlog: 30_000, age: 5, rate: 1_000, desired: 4),
        // 2,000 per second and 60,000 within 30 s, by workers that manage 500 each.
        Case("a late backlog by what they manage", workers: 4, backlog: 60_000, age: 31, rate: 2_000, desired: 8),
        Case("slow workers are known by their rate", workers: 4, backlog: 3_000, age: 31, rate: 100, desired: 8),
        Case("never fewer while something is late", workers: 8, backlog: 1, age: 31, rate: 4_000, desired: 9),
        Case("twice as many at most", workers: 3, backlog: 10_000_000, age: 900, rate: 300, desired: 6),
        Case("more than connections help nobody", workers: 3, backlog: 9_000_000, age: 900, connections: 4, desired: 4),
        Case("more workers than connections: fewer", workers: 9, rate: 9_000, connections: 4, desired: 4),
        Case("without a connection one is left to ask", workers: 3, connections: 0, desired: 1),
        Case("nothing can be sent: stay", workers: 5, backlog: 90_000, age: 900, canSend: false, desired: 5),
        Case("nothing can be sent: within bounds", workers: 9, canSend: false, desired: 9),
    ]

    @Test(arguments: ReplicaRuleTests.cases)
    func `Desired workers`(_ given: Case) {
        #expect(ReplicaRule().desired(given.load) == given.desired)
    }

    @Test func `Whatever comes in, it lies between one and what connections allow`() {
        for workers in [-1, 0, 7, Int.max / 4] {
            for backlog in [-1, 0, Int.max] {
                for rate in [-1.0, 0, 1e300] {
                    let load = ReplicaRule.Load(
                        workers: workers,
                        backlog: backlog,
                        oldestAge: 1e9,
                        rate: rate,
                        connections: 6
                    )
                    #expect((1...6).contains(ReplicaRule().desired(load)))
                }
            }
        }
    }

    // MARK: From a fleet

    private static let time = UnixTime(seconds: 1_700_000_000)

    private static func fleet(workers: Int, loops: Int = 1, held: Int) -> FleetStatus {
        let beats = (0..<workers).map { number in
            WorkerBeat(id: InstanceID(), version: "1", host: "h\(number / loops)", pid: 1, startedAt: Self.time)
        }
        let lease = FleetStatus.Pool.Lease(
            worker: "w",
            grant: held,
            open: held,
            want: held,
            budget: 6,
            expires: Self.time + .seconds(10)
        )
        let pool = FleetStatus.Pool(name: "p", quarantine: .zero, leases: held > 0 ? [lease] : [])
        return FleetStatus(time: Self.time, lanes: [], workers: beats, pools: [pool])
    }

    private static func plan(_ fleet: FleetStatus?, waiting: Int, age: Int64 = 60_000) throws -> ReplicaPlan? {
        let app = try #require(AppID("shop"))
        let queue = QueueStatus(
            name: "q",
            role: .work(app: app, lane: .now),
            depth: .init(messages: waiting, consumers: 1)
        )
        return ReplicaPlan(
            FleetSnapshot(queues: [queue], fleet: fleet),
            minute: FleetStatus.Lane(app: "", lane: "", fields: ["received": 12_000]),
            ages: ["q": age],
            budgets: ["p": 10]
        )
    }

    @Test func `A replica is a process; the budget bounds; what is paused or unknown changes nothing`() throws {
        // 200 per second by 2 workers; 200 more within the target age.
        let plan = try #require(try Self.plan(Self.fleet(workers: 2, held: 2), waiting: 6_000))
        #expect(plan.desired == 4 && plan.useful == 6)
        let loops = try #require(try Self.plan(Self.fleet(workers: 4, loops: 2, held: 4), waiting: 6_000))
        #expect(loops.desired == 3 && loops.useful == 3)
        var paused = Self.fleet(workers: 2, held: 2)
        for index in paused.workers.indices { paused.workers[index].paused = ["shop": "outage"] }
        #expect(try Self.plan(paused, waiting: 6_000)?.desired == 2)
        #expect(try Self.plan(Self.fleet(workers: 2, held: 0), waiting: 6_000)?.desired == 2)
        #expect(try Self.plan(nil, waiting: 6_000) == nil)
    }
}

import Foundation
import TestServers
import Testing

@testable import Store

@Suite struct FleetModelTests {
    /// `FLEET_MODEL_LIVES` asks for more than the 160 of every run.
    private static let lives = ProcessInfo.processInfo.environment["FLEET_MODEL_LIVES"].flatMap { Int($0) } ?? 160

    /// 20 lives of a fleet each; a failure prints its seed.
    @Test(arguments: 0..<(lives + 19) / 20)
    func `The budget holds through every fault, and every lease comes back`(chunk: Int) throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        var kinds = Set<String>()
        for seed in UInt64(chunk * 20)..<UInt64(chunk * 20 + 20) {
            let model = Self.model(seed: seed, redis: redis)
            try model.live()
            kinds.formUnion(model.faultKinds)
        }
        #expect(kinds.count == FleetModel.Fault.allCases.count, "faults that never happened")
    }

    /// As above, under the weather that finds the rarer mistakes.
    @Test(arguments: FleetModel.Mutation.allCases)
    func `The budget holds in the weather that breaks it without a rule`(mutation: FleetModel.Mutation) throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        for seed in UInt64(1000)..<1000 + UInt64(Self.lives / 40) {
            let model = Self.model(seed: seed, redis: redis)
            model.weather = mutation.weather
            try model.live()
        }
    }

    /// Without a rule some life must go wrong, or the model could not tell that the rule works.
    @Test(arguments: FleetModel.Mutation.allCases)
    func `Every rule is needed`(mutation: FleetModel.Mutation) throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        var violation: FleetModel.Violation?
        for seed in UInt64(0)..<80 where violation == nil {
            let model = Self.model(seed: seed, redis: redis, without: mutation)
            model.weather = mutation.weather
            do { try model.live() } catch let error as FleetModel.Violation { violation = error }
        }
        #expect(violation != nil, "80 lives went well without the rule")
    }

    @Test func `With fewer connections than workers all are served in turn`() throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let model = FleetModel(seed: 1, budget: 3, redis: redis)
        for _ in 0..<12 { model.addWorker(want: 2) }
        var served = Set<Int>()
        // The first lease time is quarantine: nobody said that no worker was running.
        for second in 0..<180 {
            try model.run(until: second * 1000)
            for index in model.workers.indices where model.workers[index].open > 0 { served.insert(index) }
        }
        #expect(served.count == 12)
    }

    @Test func `Many workers at once are balanced soon, and share all when most have left`() throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let model = FleetModel(seed: 2, budget: 60, redis: redis)
        model.addWorker(want: 60)
        try model.run(until: 60_000)
        #expect(model.totalOpen == 60)
        for _ in 0..<29 { model.addWorker(want: 60) }
        try model.run(until: 90_000)
        #expect(model.workers.map(\.open) == Array(repeating: 2, count: 30))
        for index in 3..<30 { model.terminate(index) }
        try model.run(until: 115_000)
        #expect(model.workers[..<3].map(\.open) == [20, 20, 20])
        try model.checkRecovery()
        let counts = try model.counts()
        #expect(counts.reclaimed == 0 && counts.overage == 0, "nobody died, and nobody had more than it was granted")
        #expect(counts.granted >= 60 + 58 + 54 && counts.waited == 30)
    }

    @Test func `Survivors have the share of the killed within one lease time and a heartbeat`() throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let model = FleetModel(seed: 3, budget: 10, redis: redis)
        for _ in 0..<5 { model.addWorker(want: 10) }
        try model.run(until: 40_000)
        #expect(model.totalOpen == 10)
        model.kill(0)
        model.kill(1)
        // 20 s + 3 s with its 10 % of spread, and a moment for messages and dialling.
        try model.run(until: 40_000 + 20_000 + 3_300 + 500)
        #expect(model.totalOpen == 10)
        let counts = try model.counts()
        #expect(counts.reclaimed == 4 && counts.overage == 0)
    }

    @Test func `A worker that leaves in good order gives back at once`() throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let model = FleetModel(seed: 4, budget: 10, redis: redis)
        for _ in 0..<2 { model.addWorker(want: 10) }
        try model.run(until: 40_000)
        model.terminate(0)
        // Closing takes up to 3 s here, the next heartbeat of the other 3.3 s.
        try model.run(until: 40_000 + 3_000 + 3_300 + 1_000)
        #expect(model.workers[1].open == 10)
    }

    @Test func `Redis away for a minute closes everything, and its return opens everything`() throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let model = FleetModel(seed: 5, budget: 6, redis: redis)
        for _ in 0..<3 { model.addWorker(want: 6) }
        try model.run(until: 40_000)
        model.serverAwayUntil = 100_000
        try model.run(until: 53_000)
        #expect(model.totalOpen == 0)
        try model.run(until: 105_000)
        #expect(model.totalOpen == 6)
    }

    @Test func `FLUSHALL closes nothing`() throws {
        let redis = try BlockingRedis(port: PrivateRedis.shared.port)
        let model = FleetModel(seed: 6, budget: 6, redis: redis)
        for _ in 0..<3 { model.addWorker(want: 6) }
        try model.run(until: 40_000)
        _ = try redis.send(RedisCommand("DEL", model.key))
        for second in 41..<70 {
            try model.run(until: second * 1000)
            #expect(model.totalOpen == 6)
        }
    }

    private static func model(
        seed: UInt64,
        redis: BlockingRedis,
        without mutation: FleetModel.Mutation? = nil
    ) -> FleetModel {
        FleetModel(seed: seed, budget: Int(seed % 6) + 2, redis: redis, without: mutation)
    }
}

extension FleetModel.Mutation {
    /// Where the rule matters most; all faults where it matters everywhere.
    var weather: FleetModel.Weather {
        switch self {
        case .r5:
            FleetModel.Weather(
                faults: [.dropConnections, .changeWant, .changeWant, .join],
                longestPause: 2_500,
                lost: 0,
                late: 0.25
            )
        case .w1:
            FleetModel.Weather(
                faults: [.dropConnections, .changeWant, .join, .terminate],
                longestPause: 4_000,
                lost: 0.05,
                late: 0.3
            )
        default: FleetModel.Weather()
        }
    }
}

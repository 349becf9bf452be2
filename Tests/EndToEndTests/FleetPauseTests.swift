import Broker
import Foundation
import Push
import Simulator
import Store
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// What stops an app on one worker stops it on all.
    @Suite struct FleetPauses {
        @Test func `A breaker that one worker opens stops the others, one probes for all, and all go on`() async throws
        {
            let folder = try Repository.makeTemporaryDirectory("fleet-breaker")
            defer { Repository.remove(folder) }
            try await Fleet.run { fleet in
                try await fleet.simulator.setUnknownTokens(.refuse)
                try await fleet.startWorker()
                // One that would never stop by itself.
                try await fleet.startWorker { $0.apps[0].breaker.threshold = 0 }
                // Slowly, so that it does not spend all before its next heartbeat.
                let count = 400
                for number in 0..<count {
                    try await fleet.publish(Draft(Draft.token(number)), messageID: "user-\(number)")
                    try await Task.sleep(for: .milliseconds(20))
                }
                let since = try await eventually("Redis knows of the pause") { try fleet.pause(.fault)?.since }
                try await eventually("both have stopped") { try fleet.pausedWorkers() == ["suspects", "suspects"] }
                try await eventually("nothing is under way") {
                    try await fleet.waiting() + fleet.depth(fleet.dead) == count
                }
                let spent = try await fleet.depth(fleet.dead)
                let requests = try await fleet.simulator.requests(LedgerFilter(limit: 10_000))
                let last = try #require(requests.map(\.arrival).max())
                #expect(Set(requests.map(\.connection)).count == 2, "both had sent")
                #expect(spent < count)
                print(
                    "FAULT fleet breaker: \(spent) of \(count) tokens spent by two workers; last request "
                        + "\(last - since.milliseconds) ms after the pause began"
                )
                try await eventually("the first probe has failed") { try fleet.pause(.fault)?.pauses == 2 }
                try await eventually("it is dead-lettered") { try await fleet.depth(fleet.dead) > spent }
                #expect(try await fleet.depth(fleet.dead) == spent + 1, "one probe for the fleet")
                #expect(try await fleet.waiting() == count - spent - 1)
                try await fleet.simulator.setUnknownTokens(.accept)
                let path = try fleet.writeConfiguration(in: folder)
                let resume = try await WorkerBinary.run(
                    ["resume", Fleet.app, "--config", path, "--json"],
                    in: folder
                )
                #expect(resume.status == 0 && resume.output.contains(#""cause" : "suspects""#), "\(resume.output)")
                try await fleet.accepted(count - spent - 1)
                try await eventually("both go on") { try fleet.pausedWorkers() == [] }
                #expect(try fleet.pause(.fault)?.isPaused == false)
                let counters = "pf:{counters}:of:now:\(Fleet.app)"
                #expect(try fleet.redis.cli("HGET", counters, "breaker_opened") == "1")
                #expect(try await fleet.simulator.summary().duplicates == 0)
                try await fleet.expectNothingLeft(dead: spent + 1, suspects: spent + 1)
            }
        }

        @Test func `A pause by hand stops all workers without an attempt, also new ones, and resume lets all go`()
            async throws
        {
            let folder = try Repository.makeTemporaryDirectory("fleet-hand")
            defer { Repository.remove(folder) }
            var options = Fleet.Options()
            options.latency = .milliseconds(20)
            options.connections = 3
            try await Fleet.run(options) { fleet in
                let path = try fleet.writeConfiguration(in: folder)
                func run(_ arguments: String...) async throws -> WorkerBinary.Outcome {
                    try await WorkerBinary.run(arguments + ["--config", path], in: folder)
                }
                let unknown = try await run("pause", "com.example.shpo")
                #expect(
                    unknown.status == 1 && unknown.output.contains("did you mean \(Fleet.app)?"),
                    "\(unknown.output)"
                )
                let brief = try await run("pause", Fleet.app, "--for", "10ms")
                #expect(brief.status == 64 && brief.output.contains("--for"), "\(brief.output)")
                let nothing = try await run("resume", Fleet.app)
                #expect(nothing.status == 0 && nothing.output == "\(Fleet.app) was not paused\n")

                for _ in 0..<2 { try await fleet.startWorker() }
                let count = 3000
                async let published: Void = {
                    for number in 0..<count {
                        try await fleet.publish(Draft(Draft.token(number)), messageID: "user-\(number)")
                    }
                }()
                try await fleet.accepted(100)
                let start = ContinuousClock.now
                let pause = try await run("pause", Fleet.app, "--reason", "wrong campaign")
                #expect(
                    pause.status == 0 && pause.output.contains("is paused until pushfleet resume"),
                    "\(pause.output)"
                )
                try await published
                try await eventually("both have stopped") { try fleet.pausedWorkers() == ["hand", "hand"] }
                print("FAULT pause by hand: seen by both workers \(ContinuousClock.now - start) after the verb began")
                try await eventually("what was not sent waits") {
                    try await fleet.waiting() + fleet.simulator.summary().accepted == count
                }
                let sent = try await fleet.simulator.summary().requests
                #expect(sent < count, "the pause came in time to stop anything")
                // A worker that comes now has to ask before it takes anything.
                try await fleet.startWorker()
                try await eventually("the new one knows") { try fleet.pausedWorkers().count == 3 }
                let status = try await run("status", "--json")
                let json = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
                let paused = try #require((json?["paused_apps"] as? [[String: Any]])?.first)
                #expect(paused["app"] as? String == Fleet.app && paused["cause"] as? String == "hand")
                #expect(paused["reason"] as? String == "wrong campaign" && paused["until_ms"] == nil)
                let text = try await run("status")
                #expect(text.output.contains("wrong campaign"), "\(text.output)")
                // Redis loses all it knows: workers bring it back.
                try fleet.redis.cli("FLUSHALL")
                try await eventually("Redis knows of it again") { try fleet.pause(.hand)?.isStanding == true }
                #expect(try await fleet.simulator.summary().requests == sent)

                let resume = try await run("resume", Fleet.app)
                #expect(resume.output == "\(Fleet.app) goes on\n")
                try await fleet.accepted(count)
                try await eventually("their heartbeats say so") { try fleet.pausedWorkers() == [] }
                let summary = try await fleet.simulator.summary()
                #expect(summary.requests == count && summary.duplicates == 0, "every push was tried once")
                // One with an end ends by itself.
                let short = try await run("pause", Fleet.app, "--for", "5s", "--json")
                #expect(short.status == 0, "\(short.output)")
                try await eventually("all have stopped") { try fleet.pausedWorkers() == ["hand", "hand", "hand"] }
                try await fleet.publish(Draft(Draft.token(1, prefix: "aa")), messageID: "later")
                try await fleet.accepted(count + 1)
                #expect(try fleet.pause(.hand)?.isStanding == false)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A prober that is killed is replaced`() async throws {
            let folder = try Repository.makeTemporaryDirectory("fleet-prober")
            defer { Repository.remove(folder) }
            try await Fleet.run { fleet in
                try await fleet.simulator.setUnknownTokens(.refuse)
                let path = try fleet.writeConfiguration(in: folder)
                let workers = try (0..<2).map { _ in try WorkerBinary(["worker", "--config", path], in: folder) }
                for worker in workers { try await eventually("a worker is ready") { worker.isReady } }
                let count = 300
                for number in 0..<count {
                    try await fleet.publish(Draft(Draft.token(number)), messageID: "user-\(number)")
                }
                try await eventually("both have stopped") { try fleet.pausedWorkers() == ["suspects", "suspects"] }
                try await eventually("nothing is under way") {
                    try await fleet.waiting() + fleet.depth(fleet.dead) == count
                }
                let spent = try await fleet.depth(fleet.dead)
                // Twenty for the fleet; on a busy machine a worker may have its own twenty before it hears of the other's.
                #expect((20...41).contains(spent), "\(spent) of \(count)")
                print("FAULT wrong environment, two workers: \(spent) of \(count) tokens spent")
                // From now on nothing is answered.
                _ = try await fleet.simulator.addRule(FaultRule(id: "mute", action: .stall))
                let before = try await fleet.simulator.summary().requests
                _ = try await WorkerBinary.run(["resume", Fleet.app, "--config", path], in: folder)
                let first = try await eventually("one probes") { try fleet.pause(.fault)?.prober }
                try await eventually("its probe is under way") {
                    try await fleet.simulator.summary().requests > before
                }
                let pid = try fleet.redis.cli("HGET", "pf:{workers}:of:\(first)", "pid")
                let victim = try #require(workers.first { "\($0.pid)" == pid })
                let start = ContinuousClock.now
                victim.signal(SIGKILL)
                try await eventually("the other one probes") {
                    guard let prober = try fleet.pause(.fault)?.prober else { return false }
                    return prober != first
                }
                print("FAULT prober killed: replaced after \(ContinuousClock.now - start)")
                try await eventually("its probe is under way") {
                    try await fleet.simulator.summary().requests == before + 2
                }
                _ = try await fleet.simulator.removeRule("mute")
                try await fleet.simulator.setUnknownTokens(.accept)
                let dead = try await fleet.depth(fleet.dead)
                #expect(dead == spent)
                _ = try await victim.end()
                // Its probe is not answered; the next one is.
                try await fleet.accepted(count - dead, within: .seconds(120))
                for worker in workers where worker !== victim {
                    worker.signal(SIGTERM)
                    #expect(try await worker.end().status == 0)
                }
                try await fleet.expectNothingLeft(dead: dead, suspects: dead, afterRounds: 3)
            }
        }
    }
}

extension Fleet {
    /// What Redis knows of a pause.
    fileprivate func pause(_ kind: AppPause.Kind) throws -> AppPause? {
        let time = try self.redis.cli("TIME").split(separator: "\n").compactMap { Int64($0) }
        let field = "\(kind.rawValue):\(Fleet.app)"
        let value = try self.redis.cli("HGET", Keys.pausedApps, field)
        guard time.count == 2 else { return nil }
        return AppPause(
            field: field,
            value: value,
            time: UnixTime(milliseconds: time[0] * 1000 + time[1] / 1000)
        )
    }

    /// Why the app is paused, by the heartbeat of each worker that says so.
    fileprivate func pausedWorkers() throws -> [String] {
        let ids = try self.redis.cli("ZRANGE", Keys.allWorkers, "0", "-1").split(separator: "\n")
        return try ids.map { try self.redis.cli("HGET", Keys.worker(String($0)), "paused.\(Fleet.app)") }
            .filter { !$0.isEmpty }
    }
}

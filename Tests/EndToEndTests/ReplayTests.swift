import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    /// Dead letters on their way back, by `pushfleet dead` as operators type it.
    @Suite struct Replays {
        /// Letters as a worker writes them, of messages with a token each, or several letters for one message.
        private static func bury(
            _ numbers: Range<Int>,
            _ fleet: Fleet,
            perMessage: Int = 1,
            diedAt: Int64 = UnixTime.now.milliseconds
        ) async throws {
            for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 5000) {
                let part = start..<min(start + 5000, numbers.upperBound)
                let outcomes = try await fleet.session.publish(
                    part.map { Self.letter($0, messageID: "dead-\($0 / perMessage)", diedAt: diedAt) }
                )
                try #require(outcomes.allSatisfy { $0 == .confirmed })
            }
        }

        private static func letter(_ number: Int, messageID: String, diedAt: Int64) -> Message {
            Message(
                exchange: FleetTopology.dead,
                routingKey: "\(Fleet.app).now",
                properties: MessageProperties(
                    messageID: Array(messageID.utf8),
                    timestamp: UnixTime(seconds: 1_700_000_000),
                    headers: [
                        Header("x-pushfleet-attempt", .integer(7)), Header("x-pushfleet-copy", .integer(8)),
                        Header("x-pushfleet-first-seen", .integer(1_700_000_000_000)),
                        Header("x-pushfleet-reason", .string("retry_limit")),
                        Header("x-pushfleet-died-at", .integer(diedAt)),
                    ]
                ),
                body: Draft(Draft.token(number)).body
            )
        }

        private static func timesSent(_ fleet: Fleet) async throws -> [String: Int] {
            let pushes = try await fleet.simulator.requests(
                LedgerFilter(accepted: true, answered: true, limit: 200_000)
            )
            return pushes.reduce(into: [:]) { $0[$1.token, default: 0] += 1 }
        }

        /// How many; `PUSHFLEET_TEST_REPLAYS` for more.
        private static let count =
            ProcessInfo.processInfo.environment["PUSHFLEET_TEST_REPLAYS"].flatMap { Int($0) } ?? 5000

        @Test func `A replay that is killed twice and run again sends every letter once`() async throws {
            let count = Self.count
            var options = Fleet.Options()
            options.keptBodies = 0
            try await Fleet.run(options) { fleet in
                try await Self.bury(0..<count, fleet, perMessage: 2)
                let (folder, path) = try Self.configuration(fleet)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                try await fleet.startWorker()
                let start = ContinuousClock.now
                // About five seconds: time enough to be killed in.
                let replay = ["dead", "replay", "--yes", "--rate", "\(min(count / 5, 100_000))", "--config", path]
                for part in [count / 5, count / 2] {
                    let victim = try WorkerBinary(replay, in: folder)
                    try await eventually("it is under way", within: .seconds(300)) {
                        try await fleet.simulator.summary().accepted + fleet.waiting() >= part
                    }
                    victim.signal(SIGKILL)
                    #expect(try await victim.end().status == -SIGKILL)
                }
                let heir = try WorkerBinary(replay, in: folder)
                let end = try await heir.end(within: .seconds(600))
                #expect(end.status == 0, "\(end.output)")
                try await eventually("all are sent", within: .seconds(300)) {
                    try await fleet.simulator.summary().accepted >= count
                }
                try await fleet.expectNothingLeft(afterRounds: 3)
                let times = try await Self.timesSent(fleet)
                #expect(times.count == count)
                #expect(times.values.allSatisfy { $0 == 1 }, "\(times.values.count { $0 != 1 }) not once")
                let counters = "pf:{counters}:of:now:\(Fleet.app)"
                func counter(_ name: String) throws -> Int { Int(try fleet.redis.cli("HGET", counters, name)) ?? 0 }
                #expect(try counter("replayed") == times.count)
                let doubles = try counter("already_done")
                print("\(times.count) letters, \(doubles) of them published twice, \(ContinuousClock.now - start)")
            }
        }

        /// As a replay leaves it that dies between RabbitMQ's confirm and its own acknowledgement.
        @Test func `A letter that is published twice is sent once, and two letters of one message are both sent`()
            async throws
        {
            try await Fleet.run { fleet in
                let (folder, path) = try Self.configuration(fleet)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                let time = UnixTime.now.milliseconds
                for _ in 0..<2 { try await Self.bury(0..<20, fleet, perMessage: 2, diedAt: time) }
                try await fleet.startWorker()
                let end = try await WorkerBinary.run(["dead", "replay", "--yes", "--config", path], in: folder)
                #expect(end.status == 0 && end.output.contains("of which 20 are there twice"), "\(end.output)")
                try await fleet.accepted(20)
                let counters = "pf:{counters}:of:now:\(Fleet.app)"
                try await eventually("the others are told") {
                    try fleet.redis.cli("HGET", counters, "already_done") == "20"
                }
                #expect(try fleet.redis.cli("HGET", counters, "replayed") == "20")
                try await fleet.expectNothingLeft(afterRounds: 3)
                let times = try await Self.timesSent(fleet)
                #expect(times.count == 20 && times.values.allSatisfy { $0 == 1 })
            }
        }

        @Test func `A letter of a message that workers were at goes to those tokens only that are not done`()
            async throws
        {
            var options = Fleet.Options()
            options.deliveryLimit = 1
            try await Fleet.run(options) { fleet in
                let (folder, path) = try Self.configuration(fleet)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                let (done, stuck) = (Draft.token(1, prefix: "aaaa"), Draft.token(2, prefix: "bbbb"))
                var rule = FaultRule(action: .stall)
                rule.match.tokenPrefix = "bbbb"
                let id = try await fleet.simulator.addRule(rule)
                try await fleet.publish(Draft(tokens: [done, stuck]), messageID: "poison")
                for round in 1...2 {
                    let victim = try WorkerBinary(["worker", "--config", path], in: folder)
                    try await eventually("the worker is at it, round \(round)", within: .seconds(120)) {
                        try await fleet.requests(to: stuck).count >= round
                    }
                    try await eventually("one token is known to be done") {
                        try !fleet.redis.cli("KEYS", "pf:done:*").isEmpty
                    }
                    victim.signal(SIGKILL)
                    _ = try await victim.end()
                }
                try await eventually("RabbitMQ gives it up", within: .seconds(120)) {
                    try await fleet.depth(fleet.dead) == 1
                }
                _ = try await fleet.simulator.removeRule(id)
                try await fleet.startWorker()
                let end = try await WorkerBinary.run(["dead", "replay", "--yes", "--config", path], in: folder)
                #expect(end.status == 0, "\(end.output)")
                _ = try await fleet.delivered(stuck)
                try await fleet.expectNothingLeft()
                #expect(try await fleet.requests(to: done).count == 1)
            }
        }

        @Test func `Ctrl-C ends a replay in good order, and a second run does the rest`() async throws {
            try await Fleet.run { fleet in
                let (folder, path) = try Self.configuration(fleet)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                try await Self.bury(0..<300, fleet)
                try await fleet.startWorker()
                let slow = ["dead", "replay", "--yes", "--rate", "100", "--json", "--config", path]
                let first = try WorkerBinary(slow, in: folder)
                try await eventually("it is under way") { try await fleet.simulator.summary().accepted >= 20 }
                first.signal(SIGINT)
                let end = try await first.end()
                #expect(end.status == 1 && end.output.contains("stopped; run it again for the rest"), "\(end.output)")
                let rest = try await WorkerBinary.run(["dead", "replay", "--yes", "--config", path], in: folder)
                #expect(rest.status == 0, "\(rest.output)")
                try await fleet.accepted(300)
                try await fleet.expectNothingLeft(afterRounds: 3)
                #expect(try await Self.timesSent(fleet).values.allSatisfy { $0 == 1 })
                #expect(try fleet.redis.cli("HGET", "pf:{counters}:of:now:\(Fleet.app)", "replayed") == "300")
            }
        }

        @Test func `A bad letter is found, shown, mended and sent; others are exported, purged, imported, replayed`()
            async throws
        {
            try await Fleet.run { fleet in
                let (folder, path) = try Self.configuration(fleet)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                func dead(_ arguments: String...) async throws -> WorkerBinary.Outcome {
                    try await WorkerBinary.run(["dead"] + arguments + ["--config", path], in: folder)
                }
                try await fleet.startWorker()
                let token = Draft.token(9, prefix: "cccc")
                let bad = Draft(token).with(#""colour":"red""#)
                try await fleet.publish(bad, messageID: "bad\u{1B}[2J")
                try await eventually("it is dead") { try await fleet.depth(fleet.dead) == 1 }

                let list = try await dead("list", "--reason", "unknown_field")
                #expect(list.status == 0 && list.output.contains("bad\\u{1b}[2J"), "\(list.output)")
                let id = try #require(list.output.matches(of: /[0-9a-f]{24}/).first.map { String($0.output) })
                let show = try await dead("show", id)
                #expect(show.output.contains("still bad: unknown_field (colour)"), "\(show.output)")
                #expect(!show.output.contains(token) && show.output.contains("cccc…0009"))
                for choice in [[], [id], ["--reason", "unknown_field"]] {
                    let none = try await WorkerBinary.run(
                        ["dead", "replay", "--yes", "--config", path] + choice,
                        in: folder
                    )
                    #expect(none.status == 1 && none.output.contains("all letters are still bad"), "\(none.output)")
                    #expect(none.output.contains("unknown_field (colour)") && none.output.contains("dead edit"))
                    try await eventually("it is still there") { try await fleet.depth(fleet.dead) == 1 }
                }
                #expect(try await fleet.waiting() == 0)

                let file = "\(folder)/body.json"
                try bad.text.write(toFile: file, atomically: true, encoding: .utf8)
                let worse = try await dead("edit", id, "--body", file)
                #expect(worse.status == 1 && worse.output.contains("the letter stays as it was"), "\(worse.output)")
                #expect(try await fleet.depth(fleet.dead) == 1)
                try Draft(token).text.write(toFile: file, atomically: true, encoding: .utf8)
                let better = try await dead("edit", id, "--body", file)
                #expect(better.status == 0, "\(better.output)")
                _ = try await fleet.delivered(token)
                let gone = try await dead("show", id)
                #expect(gone.status == 1 && gone.output.contains("no dead letter has the id \(id)"), "\(gone.output)")

                try await Self.bury(100..<150, fleet)
                let lines = "\(folder)/dead.jsonl"
                let export = try ChildProcess(
                    [Repository.binary, "dead", "export", "--config", path],
                    output: .file(lines),
                    errors: .file("\(folder)/errors")
                )
                try await eventually("the export ends") { export.end != nil }
                #expect(export.end?.status == 0)
                #expect(try String(contentsOfFile: lines, encoding: .utf8).split(separator: "\n").count == 50)
                let unasked = try await dead("purge")
                #expect(unasked.status == 1 && unasked.output.contains("say --yes"), "\(unasked.output)")
                #expect(try await dead("purge", "--reason", "retry_limit", "--yes").status == 0)
                #expect(try await fleet.depth(fleet.dead) == 0)
                for expected in ["imported 50", "50 were there already"] {
                    let outcome = try await dead("import", lines)
                    #expect(outcome.status == 0 && outcome.output.contains(expected), "\(outcome.output)")
                }
                #expect(try await dead("replay", "--yes").status == 0)
                try await fleet.accepted(51)
                try await fleet.expectNothingLeft(afterRounds: 3)
                #expect(try await Self.timesSent(fleet).values.allSatisfy { $0 == 1 })
            }
        }

        @Test func `What is not there, not known or not a letter is told, and nothing is done`() async throws {
            try await Fleet.run { fleet in
                let (folder, path) = try Self.configuration(fleet)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                try await Self.bury(0..<2, fleet)
                let file = "\(folder)/bad.jsonl"
                try "{\"routing_key\":\"a.now\",\"reason\":\"x\",\"body\":\"\"}\n{\"reason\":\"x\",\"body\":\"\"}\n"
                    .write(toFile: file, atomically: true, encoding: .utf8)
                let id = "00112233445566778899aabb"
                let cases: [([String], Int32, String)] = [
                    (["show", id], 1, "no dead letter has the id"), (["replay", id, "--yes"], 1, "nothing was done"),
                    (["purge", id, "--yes"], 1, "nothing was done"),
                    (["edit", id, "--body", file], 1, "no dead letter"),
                    (["show", "order-17"], 64, "order-17"), (["list", "--app", "com.example.shopp"], 1, "no such app"),
                    (["list", "--older-than", "yesterday"], 64, "--older-than"),
                    (["list", "--reason", "age_limt"], 64, "did you mean age_limit?"),
                    (["list", "--limit", "-1"], 64, "--limit"), (["replay", "--rate", "0", "--yes"], 64, "--rate"),
                    (["import", file], 1, "line 2: routing_key is missing"),
                    (["import", "\(folder)/none"], 1, "cannot read"),
                    (["list", "--app", "\u{1B}[2J"], 1, "\\u{1b}[2J"),
                    (["purge", "--app", "com.example.shopp", "--yes"], 1, "no such app"),
                    (["replay", "--app", "com.example.shopp", "--yes"], 1, "no such app"),
                    (["edit", id, "--app", "com.example.shopp", "--body", file], 1, "did you mean"),
                    (["list", "--newer-than", "2026-13-01"], 64, "--newer-than"),
                    (["purge", "--lane", "later", "--yes"], 64, "--lane"),
                    (["replay", id, "--app", Fleet.app, "--yes"], 64, "not both"),
                    (["list", "--reason", "expired"], 0, "none of 2"),
                    (["replay", "--reason", "expired", "--yes"], 0, "nothing to replay"),
                ]
                for (arguments, status, words) in cases {
                    let outcome = try await WorkerBinary.run(["dead"] + arguments + ["--config", path], in: folder)
                    #expect(
                        outcome.status == status && outcome.output.contains(words),
                        "\(arguments): \(outcome.output)"
                    )
                    #expect(!outcome.output.contains("\u{1B}"))
                }
                try await eventually("both are still there") { try await fleet.depth(fleet.dead) == 2 }
                #expect(try await fleet.waiting() == 0)
            }
        }

        private static func configuration(_ fleet: Fleet) throws -> (folder: String, path: String) {
            let folder = try Repository.makeTemporaryDirectory("replays")
            return (folder, try fleet.writeConfiguration(in: folder))
        }
    }
}

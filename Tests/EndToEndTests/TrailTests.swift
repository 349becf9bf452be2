import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    /// `pushfleet find` after everything, with no worker alive: what an operator types and reads.
    @Suite struct Trails {
        @Test func `What became of a message can be found by its id and by its token when no worker is left`()
            async throws
        {
            try await Fleet.run { fleet in
                let folder = try Self.folder()
                let path = try fleet.writeConfiguration(in: folder)
                let worker = try WorkerBinary(["worker", "--config", path], in: folder)
                let (good, retried, dead, gone) = (
                    Draft.token(1, prefix: "aaaa"), Draft.token(2, prefix: "5030"), Draft.token(3, prefix: "4000"),
                    Draft.token(4, prefix: "4100")
                )
                try await fleet.answer(503, "ServiceUnavailable", to: "5030", limit: 1)
                try await fleet.answer(400, "BadTopic", to: "4000")
                try await fleet.answer(
                    410,
                    nil,
                    body: #"{"reason":"Unregistered","timestamp":1767225600000}"#,
                    to: "4100"
                )
                let uuid = "5b1f2c3d-0a4e-4f6b-8c9d-0e1f2a3b4c5d"
                try await fleet.publish(Draft(good), messageID: uuid)
                try await fleet.publish(Draft(retried), messageID: "retried")
                try await fleet.publish(Draft(tokens: [good, dead, gone]), messageID: "many \u{1b}[31m")
                let late = Draft(Draft.token(5, prefix: "bbbb")).with("\"expires_at\":1700000000")
                try await fleet.publish(late, messageID: "expired")
                try await fleet.publish(Array("nonsense".utf8), messageID: "nonsense")
                let letters = try await fleet.take(3, from: fleet.dead)
                #expect(Set(letters.compactMap(\.reason)) == ["apns_rejected", "expired", "invalid_json"])
                _ = try await fleet.takeOne(from: fleet.feedback)
                _ = try await fleet.delivered(retried)
                worker.signal(SIGTERM)
                #expect(try await worker.end().status == 0)

                let find = Find(path: path, folder: folder)
                let first = try await find.one(uuid)
                #expect(first.states == [["delivered"]] && first.answers == [[200]])
                #expect(first.app == Fleet.app && first.workers.count == 1)
                let again = try await find.one("retried")
                #expect(again.states == [["retry", "delivered"]] && again.answers == [[503, 200]])
                #expect(again.workers.count == 2)
                let many = try await find.one("many \u{1b}[31m")
                #expect(many.states.sorted { $0[0] < $1[0] } == [["dead_letter"], ["delivered"], ["gone"]])
                let expired = try await find.one("expired")
                #expect(expired.states == [["dead_letter"]] && expired.reasons == ["expired"])
                let nonsense = try await find.one("nonsense")
                #expect(nonsense.refusals == ["invalid_json"])

                let byToken = try await find.all(good.uppercased())
                #expect(byToken.count == 2 && Set(byToken.map(\.id)) == [uuid, "many \\u{1b}[31m"])
                #expect(byToken.allSatisfy { $0.states == [["delivered"]] })
                let push = try await fleet.delivered(good)
                #expect(byToken.flatMap(\.apnsIDs).contains(push.apnsID))
                #expect(try await find.one(dead).answers == [[400]])
                #expect(try await find.one(gone).states == [["gone"]])
                #expect(try await find.all(good, "--app", "com.example.other").isEmpty)
                #expect(try await find.one("many \u{1b}[31m", "--token", gone).states == [["gone"]])

                try await find.expect(
                    ["retried"],
                    says: "503 ServiceUnavailable",
                    "accepted by Apple",
                    "attempt 2",
                    "connection"
                )
                try await find.expect(
                    [dead],
                    says: "dead-lettered: apns_rejected",
                    "400 BadTopic",
                    "What to do:",
                    "apns-id"
                )
                try await find.expect([gone], says: "410 Unregistered", "2026-01-01 00:00:00.000 UTC")
                let missing = try await WorkerBinary.run(["find", "no such", "--config", path], in: folder)
                #expect(missing.status == 1 && missing.output.contains("the trail begins"))
                #expect(try fleet.redis.cli("--scan", "--pattern", "pf:*").contains(good) == false)
            }
        }

        @Test func `What a killed worker held is found before and after another one has it`() async throws {
            var options = Fleet.Options()
            options.latency = .seconds(4)
            try await Fleet.run(options) { fleet in
                let folder = try Self.folder()
                let path = try fleet.writeConfiguration(in: folder)
                let victim = try WorkerBinary(["worker", "--config", path], in: folder)
                let token = Draft.token(1, prefix: "cccc")
                try await fleet.publish(Draft(token), messageID: "killed")
                let find = Find(path: path, folder: folder)
                try await eventually("the trail tells of the message", within: .seconds(60)) {
                    try await find.all("killed").count == 1
                }
                victim.signal(SIGKILL)
                _ = try await victim.end()
                for what in ["killed", token] {
                    let story = try await find.one(what)
                    #expect(story.workers.count == 1 && story.id == "killed")
                }
                let heir = try WorkerBinary(["worker", "--config", path], in: folder)
                try await eventually("another worker's answer is told", within: .seconds(90)) {
                    try await find.all("killed").first?.states.first?.last == "delivered"
                }
                heir.signal(SIGTERM)
                #expect(try await heir.end().status == 0)
                for what in ["killed", token] {
                    let story = try await find.one(what)
                    #expect(story.workers.count == 2 && Set(story.workers).count == 2)
                    #expect(story.redelivered == [false, true])
                }
            }
        }

        private static func folder() throws -> String {
            let folder = NSTemporaryDirectory() + "trail-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return folder
        }
    }
}

/// Runs the verb and reads what it prints.
private struct Find {
    let path: String
    let folder: String

    struct Story {
        let id: String
        let app: String?
        let workers: [String]
        let redelivered: [Bool]
        let refusals: [String]
        /// Of each token, one after the other.
        let states: [[String]]
        let answers: [[Int]]
        let reasons: [String]
        let apnsIDs: [String]

        init(_ json: [String: Any]) {
            func list(_ value: Any?) -> [[String: Any]] { value as? [[String: Any]] ?? [] }
            let deliveries = list(json["deliveries"])
            let steps = list(json["tokens"]).map { list($0["steps"]) }
            self.id = json["message_id"] as? String ?? ""
            self.app = json["app"] as? String
            self.workers = deliveries.compactMap { $0["worker"] as? String }
            self.redelivered = deliveries.compactMap { $0["redelivered"] as? Bool }
            self.refusals = deliveries.compactMap { $0["refused_as"] as? String }
            self.states = steps.map { $0.compactMap { $0["state"] as? String } }
            self.answers = steps.map { $0.flatMap { list($0["answers"]).compactMap { $0["status"] as? Int } } }
            self.reasons = steps.flatMap { $0.compactMap { $0["reason"] as? String } }
            self.apnsIDs = list(json["tokens"]).compactMap { $0["apns_id"] as? String }
        }
    }

    func all(_ arguments: String...) async throws -> [Story] { try await self.all(arguments) }

    private func all(_ arguments: [String]) async throws -> [Story] {
        let outcome = try await WorkerBinary.run(
            ["find"] + arguments + ["--json", "--config", self.path],
            in: self.folder
        )
        // Not finding anything is told on standard error as well.
        let text = outcome.output.components(separatedBy: "\n}\n")[0] + "\n}\n"
        let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(outcome)")
        let messages = json["messages"] as? [[String: Any]] ?? []
        #expect(outcome.status == (messages.isEmpty ? 1 : 0))
        return messages.map(Story.init)
    }

    func one(_ arguments: String...) async throws -> Story {
        let stories = try await self.all(arguments)
        return try #require(stories.count == 1 ? stories.first : nil, "\(arguments): \(stories)")
    }

    func expect(_ arguments: [String], says texts: String...) async throws {
        let outcome = try await WorkerBinary.run(["find"] + arguments + ["--config", self.path], in: self.folder)
        for text in texts { #expect(outcome.output.contains(text), "\(text) in \(outcome.output)") }
        #expect(outcome.status == 0)
        #expect(outcome.output.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "…" || (" "..."~").contains($0) })
    }
}

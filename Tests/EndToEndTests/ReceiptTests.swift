import APNs
import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    @Suite struct Receipts {
        @Test func `Each token of a message that asks for it gets one receipt, when its fate is final`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let time = UnixTime(milliseconds: 1_700_000_000_123)
                let good = (0..<20).map { Draft.token($0, prefix: "2000") }
                let busy = (0..<3).map { Draft.token($0, prefix: "503a") }
                let gone = Draft.token(1, prefix: "410a")
                let suspect = Draft.token(1, prefix: "400a")
                let rejected = Draft.token(1, prefix: "400b")
                try await fleet.simulator.setToken(gone, to: .unregistered(at: time))
                try await fleet.simulator.setToken(suspect, to: .otherEnvironment)
                try await fleet.answer(400, "BadPriority", to: "400b")
                try await fleet.answer(503, "ServiceUnavailable", to: "503a", limit: busy.count)
                let all = (good + busy + [gone, suspect, rejected]).shuffled()
                try await fleet.publish(
                    Draft(tokens: all).with(#""receipt":true"#),
                    messageID: #"a "quoted" id"#
                )
                // Nobody asked here.
                try await fleet.publish(Draft(Draft.token(1)), messageID: "quiet")
                let late = Draft.token(1, prefix: "1a7e")
                try await fleet.publish(
                    Draft(late).with(#""receipt":true"#, #""expires_at":1700000000"#),
                    messageID: "late"
                )
                let receipts = try await fleet.take(all.count + 1, from: fleet.receipts)
                try await SchemaCheck.expect(receipts, fit: "receipt.schema.json")
                let byToken = Dictionary(grouping: receipts) { $0.json?["token"] as? String ?? "" }
                #expect(Set(byToken.keys) == Set(all + [late]))
                #expect(byToken.values.allSatisfy { $0.count == 1 })
                for (tokens, outcome, reason, apns, attempts) in [
                    (good, "delivered", nil as String?, nil as String?, 1), (busy, "delivered", nil, nil, 2),
                    ([gone], "token_gone", "Unregistered", "Unregistered", 1),
                    ([suspect], "dead_lettered", "suspect_token", "BadDeviceToken", 1),
                    ([rejected], "dead_lettered", "apns_rejected", "BadPriority", 1),
                    ([late], "dead_lettered", "expired", nil, 0),
                ] {
                    for token in tokens {
                        let receipt = try #require(byToken[token]?.first)
                        let json = try #require(receipt.json)
                        #expect(receipt.routingKey == "\(Fleet.app).\(outcome)")
                        #expect(json["outcome"] as? String == outcome)
                        #expect(json["reason"] as? String == reason)
                        #expect(json["apns_reason"] as? String == apns)
                        #expect(json["attempts"] as? Int == attempts, "\(outcome) \(reason ?? "")")
                        #expect((json["apns_latency_ms"] != nil) == (attempts > 0))
                        #expect(json["message_id"] as? String == (token == late ? "late" : #"a "quoted" id"#))
                        let sent = try await fleet.requests(to: token)
                        #expect(sent.allSatisfy { $0.apnsID == json["apns_id"] as? String })
                        #expect(sent.count == attempts)
                    }
                }
                _ = try await fleet.delivered(Draft.token(1))
                _ = try await fleet.take(1, from: fleet.feedback)
                _ = try await fleet.take(1, from: fleet.suspects)
                _ = try await fleet.take(3, from: fleet.dead)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A delivery is not done before its receipt is safe`() async throws {
            try await Fleet.run { fleet in
                // Without its exchange no receipt can be published.
                try await fleet.session.delete(queue: fleet.receipts)
                try await fleet.startWorker()
                let token = Draft.token(1)
                try await fleet.publish(Draft(token).with(#""receipt":true"#), messageID: "told")
                _ = try await fleet.delivered(token)
                try await eventually("the receipt was returned") {
                    try fleet.redis.cli("HGET", "pf:{counters}:of:now:\(Fleet.app)", "publish_failures") != ""
                }
                await fleet.stopWorkers()
                try await eventually("it is back, since it was not acknowledged") {
                    try await fleet.depth("pushfleet.\(Fleet.app).now") == 1
                }
                _ = try await fleet.session.declare(
                    FleetTopology.make(apps: [AppID(Fleet.app)!], delays: fleet.ladder.levels)
                )
                try await fleet.startWorker()
                let receipt = try await fleet.takeOne(from: fleet.receipts)
                #expect(receipt.json?["token"] as? String == token)
                try await fleet.expectNothingLeft()
            }
        }
    }
}

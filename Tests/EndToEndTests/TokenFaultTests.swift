import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// Busy tokens, dead tokens, tokens of another environment.
    @Suite struct TokenFaults {
        @Test func `F55: a storm of 429 delays its token only, and asks little more than needed`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let busy = Draft.token(7, prefix: "b5")
                var rule = FaultRule(
                    id: "busy",
                    action: .answer(status: 429, reason: "TooManyRequests", body: nil)
                )
                rule.match.tokenPrefix = busy
                rule.match.window = .zero ..< .seconds(30)
                try await fleet.simulator.addRule(rule)
                for number in 0..<200 { try await fleet.publish(Draft(busy), messageID: "busy-\(number)") }
                for number in 0..<400 {
                    try await fleet.publish(Draft(Draft.token(number)), messageID: "other-\(number)")
                }
                try await fleet.accepted(400)
                let refused = try await fleet.requests(to: busy)
                #expect(refused.allSatisfy { $0.status == 429 })
                #expect((1...8).contains(refused.count), "no more than may be in flight for one token")
                try await eventually("the busy token's messages wait") {
                    try await fleet.depth("pushfleet.delay.60s") == 200
                }
                try await fleet.accepted(600, within: .seconds(120))
                let summary = try await fleet.simulator.summary()
                #expect(Double(summary.requests) <= 600 * 1.1)
                #expect(summary.duplicates == 0)
                print("FAULT F55 429 storm: \(summary.requests) requests for 600 pushes, \(refused.count) answered 429")
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `Requests for one token at once are few, without holding up others`() async throws {
            var options = Fleet.Options()
            options.latency = .milliseconds(300)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker { $0.worker.streamsPerToken = 2 }
                // Streams are many only after a first good answer.
                try await fleet.publish(Draft(Draft.token(1)), messageID: "first")
                _ = try await fleet.delivered(Draft.token(1))
                let busy = Draft.token(7, prefix: "b5")
                for number in 0..<10 { try await fleet.publish(Draft(busy), messageID: "busy-\(number)") }
                try await fleet.publish(Draft(tokens: (100..<200).map { Draft.token($0) }), messageID: "others")
                try await fleet.accepted(111)
                let pushes = try await fleet.requests(to: busy)
                #expect(pushes.count == 10)
                // Two at a time: each pair comes no sooner than the answers to the pair before.
                for index in 2..<10 { #expect(pushes[index].arrival - pushes[index - 2].arrival >= 290) }
                let last = try #require(pushes.last?.arrival)
                let others = try await fleet.simulator.requests(LedgerFilter(topic: Fleet.app, limit: 1000))
                    .filter { $0.token != busy }
                #expect(others.allSatisfy { $0.arrival < last }, "others did not wait for the busy one")
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `F59: token faults are told once, not repeated, with Apple's time`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let time = UnixTime(milliseconds: 1_700_000_000_123)
                let (gone, old) = (Draft.token(1, prefix: "59"), Draft.token(2, prefix: "59"))
                let (elsewhere, other) = (Draft.token(3, prefix: "59"), Draft.token(4, prefix: "59"))
                try await fleet.simulator.setToken(gone, to: .unregistered(at: time))
                try await fleet.simulator.setToken(old, to: .expired(at: time))
                try await fleet.simulator.setToken(elsewhere, to: .otherEnvironment)
                try await fleet.simulator.setToken(other, to: .otherTopic)
                for token in [gone, old, elsewhere, other] { try await fleet.publish(Draft(token), messageID: token) }
                let feedback = try await fleet.take(2, from: fleet.feedback)
                for (token, reason) in [(gone, "Unregistered"), (old, "ExpiredToken")] {
                    let event = try #require(feedback.first { $0.messageText == token })
                    #expect(event.routingKey == "\(Fleet.app).gone")
                    let json = try #require(event.json)
                    #expect(
                        Set(json.keys) == ["token", "app", "environment", "reason", "invalid_since", "message_id"]
                    )
                    #expect(json["token"] as? String == token && json["reason"] as? String == reason)
                    #expect(json["invalid_since"] as? Int64 == time.milliseconds)
                }
                let letters = try await fleet.take(2, from: fleet.dead)
                let suspects = try await fleet.take(2, from: fleet.suspects)
                for (token, reason) in [(elsewhere, "BadDeviceToken"), (other, "DeviceTokenNotForTopic")] {
                    #expect(letters.first { $0.messageText == token }?.reason == "suspect_token")
                    let event = try #require(suspects.first { $0.messageText == token })
                    #expect(event.routingKey == "\(Fleet.app).suspect")
                    #expect(event.json?["reason"] as? String == reason)
                    #expect(event.json?["invalid_since"] == nil)
                }
                try await SchemaCheck.expect(feedback, fit: "feedback.schema.json")
                try await SchemaCheck.expect(suspects, fit: "suspect.schema.json")
                #expect(try await fleet.simulator.summary().requests == 4)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A wrong environment stops the app before it spends its tokens, and all flows once it is right`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.simulator.setUnknownTokens(.refuse)
                let count = 1000
                for number in 0..<count {
                    try await fleet.publish(Draft(Draft.token(number)), messageID: "user-\(number)")
                }
                try await fleet.startWorker()
                try await eventually("what was not spent is back in its queue") {
                    let refused = try await fleet.simulator.summary().requests
                    guard refused >= 20 else { return false }
                    return try await fleet.depth("pushfleet.\(Fleet.app).now") >= count - 25
                }
                let spent = try await fleet.depth(fleet.dead)
                #expect((20...25).contains(spent), "\(spent) dead letters")
                let counters = "pf:{counters}:of:now:\(Fleet.app)"
                try await eventually("the breaker is counted, and the heartbeat says why") {
                    guard try fleet.redis.cli("HGET", counters, "breaker_opened") == "1" else { return false }
                    guard
                        let id = try fleet.redis.cli("ZRANGE", "pf:{workers}:all", "0", "0").split(separator: "\n")
                            .first
                    else { return false }
                    return try fleet.redis.cli("HGET", "pf:{workers}:of:\(id)", "paused.\(Fleet.app)") == "suspects"
                }
                // One probe refused: it is spent, and the pause goes on.
                try await eventually("a probe is spent") { try await fleet.depth(fleet.dead) > spent }
                try await fleet.simulator.setUnknownTokens(.accept)
                let suspects = try await fleet.depth(fleet.dead)
                try await fleet.accepted(count - suspects - 2, within: .seconds(90))
                try await eventually("nothing waits") { try await fleet.waiting() == 0 }
                let dead = try await fleet.depth(fleet.dead)
                #expect(dead <= suspects + 1)
                try await fleet.accepted(count - dead)
                print("FAULT wrong environment: \(dead) of \(count) tokens suspect, the rest delivered afterwards")
                try await fleet.expectNothingLeft(dead: dead, suspects: dead)
            }
        }

        @Test func `A thousand tokens under way when the environment turns wrong are given back, but the first`()
            async throws
        {
            var options = Fleet.Options()
            options.latency = .milliseconds(200)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                // Streams are many only after a first good answer.
                try await fleet.publish(Draft(Draft.token(1, prefix: "aa")), messageID: "first")
                _ = try await fleet.delivered(Draft.token(1, prefix: "aa"))
                try await fleet.simulator.setUnknownTokens(.refuse)
                let tokens = (0..<1000).map { Draft.token($0) }
                try await fleet.publish(Draft(tokens: tokens).with(#""receipt":true"#), messageID: "campaign")
                let letter = try await fleet.takeOne(from: fleet.dead)
                #expect(letter.reason == "suspect_token")
                let refused = try await fleet.simulator.summary().requests - 1
                #expect(refused > 300, "many were under way")
                try await fleet.simulator.setUnknownTokens(.accept)
                try await fleet.accepted(1 + 1000 - letter.tokens.count)
                #expect((19...21).contains(letter.tokens.count))
                let receipts = try await fleet.take(1000, from: fleet.receipts)
                #expect(Set(receipts.compactMap { $0.json?["token"] as? String }) == Set(tokens))
                #expect(receipts.count { $0.json?["outcome"] as? String == "delivered" } == 1000 - letter.tokens.count)
                _ = try await fleet.take(letter.tokens.count, from: fleet.suspects)
                #expect(try await fleet.simulator.summary().duplicates == 0)
                try await fleet.expectNothingLeft()
            }
        }
    }
}

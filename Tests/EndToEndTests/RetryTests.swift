import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    @Suite struct Retries {
        @Test func `A push that fails is tried again by the schedule, as the same push, and then accepted`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", to: "503", limit: 3)
                let token = Draft.token(1, prefix: "503")
                try await fleet.publish(Draft(token), messageID: "again")
                let push = try await fleet.delivered(token)
                let tries = try await fleet.requests(to: token)
                #expect(tries.count == 4)
                #expect(Set(tries.map(\.apnsID)) == [push.apnsID])
                // 1 s, 2 s, 4 s, each with an expiration from 0.8 of it; the broker may take its time, never less.
                for (index, least) in [800, 1600, 3200].enumerated() where tries.count == 4 {
                    #expect(tries[index + 1].arrival - tries[index].arrival >= Int64(least), "retry \(index + 1)")
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `Copies wait in the queue of their level with attempts and age written on them`() async throws {
            var options = Fleet.Options()
            options.retry = .init(minBackoff: .seconds(20), maxBackoff: .seconds(100), maxDoublings: 2)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", to: "503")
                // 20 s · 1, 2, 4, 8 (doubled twice, then by the same amount), up to 100 s.
                let levels = ["20s", "40s", "80s", "100s", "100s"]
                let published = UnixTime.now
                for (attempt, level) in levels.enumerated() {
                    try await fleet.publish(
                        Draft(Draft.token(attempt, prefix: "503")),
                        messageID: "attempt-\(attempt)",
                        headers: [
                            Header("x-pushfleet-attempt", .integer(Int64(attempt))),
                            Header("x-pushfleet-first-seen", .integer(published.milliseconds)),
                        ]
                    )
                    let copy = try await fleet.takeOne(from: "pushfleet.delay.\(level)")
                    #expect(copy.messageText == "attempt-\(attempt)")
                    #expect(copy.attempt == attempt + 1)
                    #expect(copy.header("x-pushfleet-first-seen") == "\(published.milliseconds)")
                    #expect(copy.routingKey == "\(Fleet.app).now")
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `The retry limit and the age limit end it, each with its reason, and no attempt starts too late`()
            async throws
        {
            var options = Fleet.Options()
            options.retry.retryLimit = 2
            options.retry.ageLimit = .seconds(6)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", to: "503")
                let limited = Draft.token(1, prefix: "503")
                let aged = Draft.token(2, prefix: "503")
                let old = Draft.token(3)
                try await fleet.publish(Draft(limited), messageID: "limited")
                // Four of its six seconds are over: one retry after 1 s fits, the next after 2 s does not.
                let born = UnixTime.now + .milliseconds(-4000)
                try await fleet.publish(
                    Draft(aged),
                    messageID: "aged",
                    headers: [Header("x-pushfleet-first-seen", .integer(born.milliseconds))]
                )
                try await fleet.publish(Draft(old).body, messageID: "old", timestamp: UnixTime.now + .seconds(-60))
                let letters = try await fleet.take(3, from: fleet.dead)
                let reasons = Dictionary(letters.map { ($0.messageText, $0.reason) }) { first, _ in first }
                #expect(reasons == ["limited": "retry_limit", "aged": "age_limit", "old": "age_limit"])
                #expect(try await fleet.requests(to: limited).count == 3)
                #expect(try await fleet.requests(to: old).isEmpty)
                for request in try await fleet.requests(to: aged) {
                    #expect(request.arrival <= born.milliseconds + 6000)
                }
                let limitedLetter = try #require(letters.first { $0.messageText == "limited" })
                #expect(limitedLetter.body == Draft(limited).body)
                #expect(limitedLetter.header("x-pushfleet-apns-reason") == "ServiceUnavailable")
                #expect(limitedLetter.attempt == 3)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `What may not be sent yet waits in the broker and is sent after its time, with no attempt spent`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let token = Draft.token(1)
                let time = UnixTime.now.seconds + 4
                try await fleet.publish(Draft(token).with("\"not_before\":\(time)"), messageID: "later")
                let expiring = Draft.token(2, prefix: "503")
                try await fleet.answer(503, "ServiceUnavailable", to: "503")
                let expiry = UnixTime.now.seconds + 3
                try await fleet.publish(Draft(expiring).with("\"expires_at\":\(expiry)"), messageID: "expiring")
                let push = try await fleet.delivered(token)
                #expect(push.arrival >= time * 1000)
                #expect(try await fleet.requests(to: token).count == 1)
                let letter = try await fleet.takeOne(from: fleet.dead)
                #expect(letter.messageText == "expiring")
                #expect(letter.reason == "expired")
                #expect(letter.field == "expires_at")
                for request in try await fleet.requests(to: expiring) { #expect(request.arrival < expiry * 1000) }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A burst of 503 costs attempts but no message`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                // In between come other answers: a run of them would be an outage.
                var burst = FaultRule(action: .answer(status: 503, reason: "ServiceUnavailable", body: nil))
                burst.match.tokenPrefix = "503"
                burst.match.limit = 120
                burst.match.every = 2
                try await fleet.simulator.addRule(burst)
                for number in 0..<200 {
                    try await fleet.publish(Draft(Draft.token(number, prefix: "503")), messageID: "burst-\(number)")
                }
                try await fleet.accepted(200)
                let summary = try await fleet.simulator.summary()
                #expect(summary.requests == 320)
                #expect(summary.duplicates == 0)
                #expect(summary.connectionsPeak <= fleet.options.connections)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `What Apple certainly did not process is sent again at once and costs no attempt`() async throws {
            var options = Fleet.Options()
            // A single counted attempt would be one too many.
            options.retry.retryLimit = 0
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                var refused = FaultRule(id: "refused", action: .reset(code: 7))
                refused.match.tokenPrefix = "7"
                refused.match.limit = 10
                try await fleet.simulator.addRule(refused)
                for number in 0..<20 {
                    try await fleet.publish(Draft(Draft.token(number, prefix: "7")), messageID: "refused-\(number)")
                }
                try await fleet.accepted(20)
                var away = FaultRule(
                    id: "goaway",
                    action: .goAway(code: 0, debugData: #"{"reason":"Shutdown"}"#, lastStream: .zero)
                )
                away.match.tokenPrefix = "6"
                away.match.limit = 2
                try await fleet.simulator.addRule(away)
                for number in 0..<20 {
                    try await fleet.publish(Draft(Draft.token(number, prefix: "6")), messageID: "away-\(number)")
                }
                try await fleet.accepted(40)
                let summary = try await fleet.simulator.summary()
                #expect(summary.duplicates == 0)
                #expect(try await fleet.simulator.rules().map(\.hits) == [10, 2])
                #expect(summary.connectionsPeak <= fleet.options.connections)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A connection that breaks under load loses nothing`() async throws {
            var options = Fleet.Options()
            options.latency = .milliseconds(30)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await fleet.startWorker()
                for number in 0..<300 {
                    try await fleet.publish(Draft(Draft.token(number)), messageID: "load-\(number)")
                    if number % 100 == 50 { try await fleet.simulator.dropAllConnections() }
                    if number % 100 == 99 { try await fleet.simulator.goAwayAll() }
                }
                try await eventually("every token has its push") {
                    try await fleet.simulator.requests(LedgerFilter(accepted: true, limit: 10_000))
                        .reduce(into: Set<String>()) { $0.insert($1.token) }.count == 300
                }
                let summary = try await fleet.simulator.summary()
                #expect(summary.connectionsPeak <= fleet.options.connections)
                try await fleet.expectNothingLeft(afterRounds: 5)
            }
        }

        @Test func `A message that the broker handed out too often is a dead letter with the broker's reason`()
            async throws
        {
            var options = Fleet.Options()
            options.deliveryLimit = 3
            try await Fleet.run(options) { fleet in
                try await fleet.publish(Draft(Draft.token(1)), messageID: "poison")
                let queue = "pushfleet.\(Fleet.app).now"
                for _ in 0...3 {
                    let delivery: Delivery = try await eventually("the message is there") {
                        try await fleet.session.get(queue: queue)
                    }
                    try await fleet.session.reject(delivery.id, requeue: true)
                }
                let letter = try await fleet.takeOne(from: fleet.dead)
                #expect(letter.messageText == "poison")
                #expect(letter.body == Draft(Draft.token(1)).body)
                #expect(letter.headers.firstDeathReason == .deliveryLimit)
                // The next message is none the worse for it.
                try await fleet.startWorker()
                try await fleet.publish(Draft(Draft.token(2)), messageID: "good")
                _ = try await fleet.delivered(Draft.token(2))
                try await fleet.expectNothingLeft()
            }
        }
    }
}

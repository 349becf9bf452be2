import Broker
import Foundation
import Push
import Simulator
import Store
import TestServers
import Testing
import Worker

extension EndToEnd {
    @Suite struct Payloads {
        private static let misspelt = #"{"aps":{"alert":{"titel":"On its way","body":"Order 17"}}}"#

        @Test func `A misspelt key is a dead letter that names it, for the app that asks for it and for no other`()
            async throws
        {
            var options = Fleet.Options()
            options.apps = [Fleet.app, "com.example.opaque"]
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker { $0.apps[0].lint = .strict }
                var draft = Draft(Draft.token(1))
                draft.payload = Self.misspelt
                try await fleet.publish(draft, messageID: "misspelt")
                try await fleet.publish(Draft(Draft.token(2)), messageID: "good")
                let priority = Draft(Draft.token(3)).with(#""push_type":"location""#, #""priority":1"#)
                try await fleet.publish(priority, messageID: "priority")
                var opaque = Draft(Draft.token(4), app: "com.example.opaque")
                opaque.payload = Self.misspelt
                try await fleet.publish(opaque, messageID: "opaque")

                #expect(try await fleet.delivered(Draft.token(4)).body == Self.misspelt)
                _ = try await fleet.delivered(Draft.token(2))
                let letters = try await fleet.take(2, from: fleet.dead)
                let byID = Dictionary(grouping: letters, by: \.messageText)
                #expect(letters.allSatisfy { $0.reason == "payload_lint" })
                let letter = try #require(byID["misspelt"]?.first)
                #expect(letter.field == "payload.aps.alert.titel" && letter.body == draft.body)
                #expect(letter.header("x-pushfleet-detail")?.contains(#"did you mean "title"?"#) == true)
                #expect(byID["priority"]?.first?.field == "priority")
                #expect(try await fleet.simulator.summary().requests == 2)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A text too long is shortened to the same bytes at every attempt, and dead letters keep all of it`()
            async throws
        {
            var options = Fleet.Options()
            options.apps = [Fleet.app, "com.example.rejects"]
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker { $0.apps[0].fit = .truncate }
                let long = String(repeating: "👩‍👩‍👧 ", count: 400)
                let payload = #"{"aps":{"alert":{"title":"T","body":"\#(long)"}},"order":17}"#
                func rule(_ prefix: String, _ status: Int, _ reason: String, limit: Int?) async throws {
                    try await fleet.answer(status, reason, to: prefix, limit: limit)
                }
                try await rule("503", 503, "ServiceUnavailable", limit: 1)
                try await rule("400", 400, "BadCollapseId", limit: nil)
                let again = Draft.token(1, prefix: "503")
                let refused = Draft.token(2, prefix: "400")
                var bodies: [String: [UInt8]] = [:]
                for (id, token, app) in [
                    ("again", again, Fleet.app), ("refused", refused, Fleet.app),
                    ("rejects", Draft.token(3), "com.example.rejects"),
                ] {
                    var draft = Draft(token, app: app)
                    draft.payload = payload
                    bodies[id] = draft.body
                    try await fleet.publish(draft, messageID: id)
                }
                let push = try await fleet.delivered(again)
                let body = try #require(push.body)
                #expect(body.utf8.count <= 4096 && body.utf8.count > 4096 - "👩‍👩‍👧".utf8.count)
                #expect(body.hasPrefix(#"{"aps":{"alert":{"title":"T","body":"👩‍👩‍👧 "#))
                #expect(body.hasSuffix(#"…"}},"order":17}"#))
                let tries = try await fleet.requests(to: again)
                #expect(tries.count == 2 && Set(tries.map(\.bodyBytes)) == [body.utf8.count])

                let letters = try await fleet.take(2, from: fleet.dead)
                for letter in letters {
                    #expect(letter.body == bodies[letter.messageText], "\(letter.messageText)")
                    let reason = letter.messageText == "rejects" ? "payload_too_large" : "apns_rejected"
                    #expect(letter.reason == reason)
                }
                #expect(Set(letters.map(\.messageText)) == ["rejects", "refused"])
                // Once for each delivery: two attempts of one message, one of the other.
                let redis = try await RedisSession.open(RedisAddress(host: "127.0.0.1", port: UInt16(fleet.redis.port)))
                defer { redis.close() }
                try await eventually("the counter is written") {
                    try await CounterReader(redis).read().totals["truncated"] == 3
                }
                try await fleet.expectNothingLeft()
            }
        }
    }
}

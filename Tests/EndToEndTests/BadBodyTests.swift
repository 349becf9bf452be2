import Foundation
import Push
import Simulator
import Testing
import Worker

extension EndToEnd {
    /// F60: answers that are no JSON, or no whole one. The status alone decides then.
    @Suite struct BadBodies {
        private struct Case {
            let status: Int
            let body: String
            let number: Int
            var token: String { Draft.token(self.number, prefix: "bb") }
        }

        private static let cases: [Case] = {
            let bodies = [
                "", "<html><body><h1>502 Bad Gateway</h1></body></html>", #"{"reason":"Unregis"#, "null", "[]",
                #"{"reason":410}"#, #"{"reason":"\u0000\u0001"}"#, String(repeating: "x", count: 3000),
                #"{"reason":"Unregistered"} and more"#,
            ]
            let statuses = [400, 404, 410, 413, 429, 500, 502, 503]
            return statuses.flatMap { status in bodies.map { (status, $0) } }.enumerated().map {
                Case(status: $1.0, body: $1.1, number: $0)
            }
        }()

        @Test func `A body that cannot be read never makes a token gone, and its status decides`() async throws {
            var options = Fleet.Options()
            options.retry.minBackoff = .seconds(90)
            options.retry.maxBackoff = .seconds(90)
            options.breaker.threshold = 0
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                for item in Self.cases {
                    try await fleet.answer(item.status, nil, body: item.body, to: item.token)
                    try await fleet.publish(Draft(item.token), messageID: "body-\(item.number)")
                }
                let retried = Self.cases.filter { $0.status == 429 || $0.status >= 500 }
                let dead = Self.cases.filter { $0.status < 500 && $0.status != 429 }
                let copies = try await fleet.take(retried.count, from: "pushfleet.delay.90s")
                let letters = try await fleet.take(dead.count, from: fleet.dead)
                let suspects = try await fleet.take(dead.count { $0.status == 410 }, from: fleet.suspects)
                #expect(Set(copies.map(\.messageText)) == Set(retried.map { "body-\($0.number)" }))
                #expect(Set(letters.map(\.messageText)) == Set(dead.map { "body-\($0.number)" }))
                for item in dead {
                    let letter = letters.first { $0.messageText == "body-\(item.number)" }
                    #expect(letter?.reason == (item.status == 410 ? "suspect_token" : "apns_rejected"))
                    #expect(letter?.header("x-pushfleet-apns-reason") == nil)
                }
                #expect(suspects.allSatisfy { $0.json?["reason"] == nil && $0.json?["invalid_since"] == nil })
                #expect(try await fleet.simulator.summary().requests == Self.cases.count)
                // Nothing in feedback: no answer without Apple's own words calls a token dead.
                try await fleet.expectNothingLeft()
            }
        }
    }
}

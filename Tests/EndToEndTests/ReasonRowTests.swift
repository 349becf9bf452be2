import Broker
import Foundation
import Push
import Simulator
import Testing

extension EndToEnd {
    /// Every row of the table of answers, as an answer on the wire.
    @Suite struct ReasonRows {
        /// One row, the token it is given for and what it should lead to.
        private struct Case {
            let status: Int
            let reason: String
            let row: StatusReason
            let number: Int
            var token: String { Draft.token(self.number, prefix: "f0") }
            var messageID: String { "row-\(self.number)" }
            var name: String { "\(self.status) \(self.reason)" }
        }

        private static func cases(where holds: (StatusReason) -> Bool) -> [Case] {
            var answers = ReasonTable.rows.filter { $0.api == .device && $0.status != 0 }.map { ($0.status, $0.reason) }
            // Statuses and reasons that no table has.
            answers += [(403, "NewReason"), (410, "NewReason"), (413, "NewReason"), (429, "NewReason")]
            answers += [
                (418, "Teapot"), (400, "NewReason"), (400, ""), (502, "BadGateway"), (500, ""), (599, ""),
                (202, ""), (204, ""), (302, "Found"),
            ]
            return answers.enumerated().compactMap { index, answer in
                let row = ReasonTable.row(status: answer.0, reason: ApnsReason(Array(answer.1.utf8)))
                guard holds(row) else { return nil }
                return Case(status: answer.0, reason: answer.1, row: row, number: index)
            }
        }

        private static func addRules(_ cases: [Case], to simulator: Simulator, limit: Int? = nil) async throws {
            for item in cases {
                let body = item.reason.isEmpty ? "" : #"{"reason":"\#(item.reason)","timestamp":1700000000123}"#
                var rule = FaultRule(
                    id: item.messageID,
                    action: .answer(status: item.status, reason: nil, body: body)
                )
                rule.match.tokenPrefix = item.token
                rule.match.limit = limit
                try await simulator.addRule(rule)
            }
        }

        @Test func `Answers about a push or a token are settled as the table says`() async throws {
            let cases = Self.cases { ($0.disposition != .credential && !$0.flags.contains(.pauseLane)) }
            #expect(cases.count > 25)
            var options = Fleet.Options()
            options.retry.minBackoff = .seconds(90)
            options.retry.maxBackoff = .seconds(90)
            options.connections = 4
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                let resent = cases.filter { Self.isResent($0.row) }
                try await Self.addRules(resent, to: fleet.simulator, limit: 1)
                try await Self.addRules(cases.filter { !Self.isResent($0.row) }, to: fleet.simulator)
                for item in cases { try await fleet.publish(Draft(item.token), messageID: item.messageID) }

                let dead = cases.filter { [.payload, .context].contains($0.row.disposition) }
                let gone = cases.filter { $0.row.disposition == .token }
                let retried = cases.filter { $0.row.disposition == .backoff && !Self.isResent($0.row) }
                let letters = try await fleet.take(dead.count, from: fleet.dead)
                let feedback = try await fleet.take(gone.count, from: fleet.feedback)
                let copies = try await fleet.take(retried.count, from: "pushfleet.delay.90s")
                try await fleet.accepted(resent.count)

                for item in dead {
                    let mine = letters.filter { $0.messageText == item.messageID }
                    #expect(mine.count == 1, "\(item.name)")
                    let isSuspect = item.row.disposition == .context
                    #expect(mine.first?.reason == (isSuspect ? "suspect_token" : "apns_rejected"), "\(item.name)")
                    #expect(
                        mine.first?.header("x-pushfleet-apns-reason") == (item.reason.isEmpty ? nil : item.reason),
                        "\(item.name)"
                    )
                    #expect(mine.first?.tokens == [item.token], "\(item.name)")
                    #expect(mine.first?.body == Draft(item.token).body, "\(item.name)")
                }
                for item in gone {
                    let json = feedback.first { $0.messageText == item.messageID }?.json ?? [:]
                    #expect(json["token"] as? String == item.token, "\(item.name)")
                    #expect(json["reason"] as? String == item.reason, "\(item.name)")
                    #expect(json["invalid_since"] as? Int == 1_700_000_000_123, "\(item.name)")
                    #expect(json["environment"] as? String == "production", "\(item.name)")
                    #expect(json["message_id"] as? String == item.messageID, "\(item.name)")
                }
                for item in retried {
                    let mine = copies.filter { $0.messageText == item.messageID }
                    #expect(mine.count == 1, "\(item.name)")
                    #expect(mine.first?.attempt == (item.row.countsAttempt ? 1 : 0), "\(item.name)")
                    #expect(mine.first?.body == Draft(item.token).body, "\(item.name)")
                }
                for item in cases {
                    let count = try await fleet.requests(to: item.token).count
                    #expect(count == (Self.isResent(item.row) ? 2 : 1), "\(item.name)")
                }
                // Only the two reasons that say so make a token gone.
                #expect(Set(gone.map(\.reason)) == ["Unregistered", "ExpiredToken"])
                try await fleet.expectNothingLeft()
            }
        }

        /// Certainly not processed, and nothing says to wait: sent again at once.
        private static func isResent(_ row: StatusReason) -> Bool {
            row.disposition == .backoff && !row.countsAttempt && row.delayFloor == nil
        }

        @Test func `Answers about the credential pause the app, lose nothing, and end by themselves`() async throws {
            let cases = Self.cases { $0.disposition == .credential || $0.flags.contains(.pauseLane) }
            #expect(cases.count >= 10)
            var options = Fleet.Options()
            options.apps = cases.map { "app-\($0.number)" } + [Fleet.app]
            options.connections = 4
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await Self.addRules(cases, to: fleet.simulator)
                let late = { (item: Case) in Draft.token(item.number, prefix: "a0") }
                for item in cases {
                    let draft = Draft(item.token, app: "app-\(item.number)")
                    try await fleet.publish(draft, messageID: item.messageID)
                    try await eventually("\(item.name) is answered") {
                        let wanted = item.row.flags.contains(.retryOnce) ? 2 : 1
                        return try await fleet.requests(to: item.token).count >= wanted
                    }
                }
                let forbidden = cases.filter { $0.row.flags.contains(.pauseLane) }
                let letters = try await fleet.take(forbidden.count, from: fleet.dead)
                #expect(Set(letters.map(\.messageText)) == Set(forbidden.map(\.messageID)))
                // Paused: what comes now stays in its queue, while another app of the same key goes on.
                for item in cases {
                    try await fleet.publish(
                        Draft(late(item), app: "app-\(item.number)"),
                        messageID: "late-\(item.number)"
                    )
                }
                try await fleet.publish(Draft(Draft.token(1)), messageID: "other")
                _ = try await fleet.delivered(Draft.token(1))
                for item in cases {
                    #expect(try await fleet.requests(to: late(item)).isEmpty, "\(item.name)")
                    let waiting = item.row.flags.contains(.pauseLane) ? 1 : 2
                    try await eventually("what \(item.name) stopped is back in its queue") {
                        try await fleet.depth("pushfleet.app-\(item.number).now") == waiting
                    }
                }
                try await fleet.simulator.removeRules()
                try await fleet.accepted(1 + cases.count * 2 - forbidden.count)
                for item in cases {
                    #expect(try await fleet.requests(to: late(item)).count == 1, "\(item.name)")
                    let pushes = try await fleet.requests(to: item.token)
                    #expect(
                        pushes.count { $0.accepted } == (item.row.flags.contains(.pauseLane) ? 0 : 1),
                        "\(item.name)"
                    )
                    #expect(Set(pushes.map(\.apnsID)).count == 1, "\(item.name)")
                }
                try await fleet.expectNothingLeft()
            }
        }
    }
}

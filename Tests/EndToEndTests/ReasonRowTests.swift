import Broker
import Foundation
import Push
import Simulator
import TestServers
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
                let apart = cases.filter { $0.row.disposition == .context }
                let suspects = try await fleet.take(apart.count, from: fleet.suspects)
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
                for item in apart {
                    let json = suspects.first { $0.messageText == item.messageID }?.json ?? [:]
                    var expected = [
                        "token": item.token, "app": Fleet.app, "environment": "production", "topic": Fleet.app,
                        "message_id": item.messageID,
                    ]
                    if !item.reason.isEmpty { expected["reason"] = item.reason }
                    #expect(json as? [String: String] == expected, "\(item.name)")
                }
                for item in gone {
                    let json = feedback.first { $0.messageText == item.messageID }?.json ?? [:]
                    #expect(json["token"] as? String == item.token, "\(item.name)")
                    #expect(json["reason"] as? String == item.reason, "\(item.name)")
                    #expect(json["invalid_since"] as? Int == 1_700_000_000_123, "\(item.name)")
                    #expect(json["environment"] as? String == "production", "\(item.name)")
                    #expect(json["message_id"] as? String == item.messageID, "\(item.name)")
                    #expect(json["app"] as? String == Fleet.app && json.count == 6, "\(item.name)")
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
                for item in cases where !item.row.flags.contains(.topicScoped) {
                    #expect(try await fleet.requests(to: late(item)).isEmpty, "\(item.name)")
                    let waiting = item.row.flags.contains(.pauseLane) ? 1 : 2
                    try await eventually("what \(item.name) stopped is back in its queue") {
                        try await fleet.depth("pushfleet.app-\(item.number).now") == waiting
                    }
                }
                // One topic waits apart, so that the app's others go on.
                let scoped = cases.filter { $0.row.flags.contains(.topicScoped) }
                #expect(scoped.map(\.reason) == ["TopicDisallowed"])
                for item in scoped {
                    let voip = Draft(Draft.token(item.number, prefix: "b0"), app: "app-\(item.number)")
                    try await fleet.publish(voip.with(#""push_type":"voip""#), messageID: "voip-\(item.number)")
                    _ = try await fleet.delivered(voip.tokens[0])
                    #expect(try await fleet.requests(to: late(item)).isEmpty)
                    try await eventually("the paused topic's messages wait") {
                        try await fleet.depth("pushfleet.delay.10s") == 2
                    }
                }
                try await fleet.simulator.removeRules()
                try await fleet.accepted(1 + scoped.count + cases.count * 2 - forbidden.count)
                for item in cases {
                    // Which of the two became the probe is not said.
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

        // MARK: The other channel

        /// Adds a rule that ends the connection of a push to this token with a GOAWAY, once, and processes nothing.
        private static func addGoAway(_ item: Case, to simulator: Simulator) async throws {
            var rule = FaultRule(
                id: item.messageID,
                action: .goAway(code: 0, debugData: #"{"reason":"\#(item.reason)"}"#, lastStream: .zero)
            )
            rule.match.tokenPrefix = item.token
            rule.match.limit = 1
            try await simulator.addRule(rule)
        }

        @Test func `A reason in a GOAWAY settles no push: it is sent once more, on another connection`() async throws {
            let cases = Self.cases { $0.disposition != .credential }.filter { !$0.reason.isEmpty }
            #expect(cases.count > 25)
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                // One by one: each costs a connection, and what else is in flight would go with it.
                for item in cases {
                    try await Self.addGoAway(item, to: fleet.simulator)
                    try await fleet.publish(Draft(item.token), messageID: item.messageID)
                    _ = try await fleet.delivered(item.token)
                }
                for item in cases {
                    let pushes = try await fleet.requests(to: item.token)
                    #expect(pushes.map(\.accepted) == [false, true], "\(item.name)")
                    #expect(pushes.first?.withdrawn == true, "\(item.name)")
                    #expect(Set(pushes.map(\.connection)).count == 2, "\(item.name)")
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `F58: a credential fault in a GOAWAY pauses its apps only, loses nothing, and ends by itself`()
            async throws
        {
            let cases = Self.cases { $0.disposition == .credential }.filter { !$0.reason.isEmpty }
            #expect(cases.count >= 9)
            var options = Fleet.Options()
            options.apps = cases.map { "app-\($0.number)" } + [Fleet.app]
            options.hasKeyPerApp = true
            options.connections = 1
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                let known = cases.filter { ReasonTable.row(named: $0.reason) != nil }
                #expect(known.count >= 9)
                for item in cases {
                    try await Self.addGoAway(item, to: fleet.simulator)
                    try await fleet.publish(Draft(item.token, app: "app-\(item.number)"), messageID: item.messageID)
                }
                for item in cases {
                    try await eventually("\(item.name) ends a connection") {
                        try await fleet.requests(to: item.token).first?.withdrawn == true
                    }
                }
                for item in known {
                    try await eventually("what \(item.name) stopped is back in its queue") {
                        try await fleet.depth("pushfleet.app-\(item.number).now") == 1
                    }
                    #expect(try await fleet.requests(to: item.token).count == 1, "\(item.name)")
                }
                // The app with a key of its own does not notice.
                for number in 0..<100 { try await fleet.publish(Draft(Draft.token(number)), messageID: "o-\(number)") }
                for number in 0..<100 { _ = try await fleet.delivered(Draft.token(number)) }
                try await fleet.accepted(100 + cases.count)
                for item in cases {
                    let pushes = try await fleet.requests(to: item.token)
                    #expect(pushes.map(\.accepted) == [false, true], "\(item.name)")
                }
                #expect(try await fleet.simulator.summary().duplicates == 0)
                try await fleet.expectNothingLeft()
            }
        }
    }
}

import Broker
import Foundation
import Push
import Simulator
import Testing

extension EndToEnd {
    @Suite struct ManyTokens {
        @Test func `Each token of a message is settled alone`() async throws {
            var options = Fleet.Options()
            options.retry.minBackoff = .seconds(2)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                let time = UnixTime(milliseconds: 1_700_000_000_123)
                let gone = (0..<10).map { Draft.token($0, prefix: "410a") }
                let expired = (0..<5).map { Draft.token($0, prefix: "410b") }
                let suspect = (0..<7).map { Draft.token($0, prefix: "400a") }
                let rejected = (0..<8).map { Draft.token($0, prefix: "400b") }
                let busy = (0..<20).map { Draft.token($0, prefix: "503a") }
                let good = (0..<50).map { Draft.token($0, prefix: "2000") }
                for token in gone { try await fleet.simulator.setToken(token, to: .unregistered(at: time)) }
                for token in expired { try await fleet.simulator.setToken(token, to: .expired(at: time)) }
                for token in suspect { try await fleet.simulator.setToken(token, to: .otherTopic) }
                try await fleet.answer(400, "BadPriority", to: "400b")
                try await fleet.answer(503, "ServiceUnavailable", to: "503a", limit: busy.count)
                let all = (gone + expired + suspect + rejected + busy + good).shuffled()
                var draft = Draft(tokens: all).with(#""priority":5"#)
                draft.payload = #"{"aps": {"alert":"à tous"} }"#
                try await fleet.publish(draft, messageID: "mixed")

                let feedback = try await fleet.take(15, from: fleet.feedback)
                #expect(Set(feedback.compactMap { $0.json?["token"] as? String }) == Set(gone + expired))
                #expect(feedback.allSatisfy { $0.json?["invalid_since"] as? Int64 == time.milliseconds })
                let letters = try await fleet.take(2, from: fleet.dead)
                let suspects = try #require(letters.first { $0.reason == "suspect_token" })
                #expect(Set(suspects.tokens) == Set(suspect) && suspects.tokens.count == suspect.count)
                let apart = try await fleet.take(suspect.count, from: fleet.suspects)
                #expect(Set(apart.compactMap { $0.json?["token"] as? String }) == Set(suspect))
                #expect(suspects.header("x-pushfleet-apns-reason") == "DeviceTokenNotForTopic")
                let rejects = try #require(letters.first { $0.reason == "apns_rejected" })
                #expect(Set(rejects.tokens) == Set(rejected) && rejects.tokens.count == rejected.count)
                #expect(rejects.header("x-pushfleet-apns-reason") == "BadPriority")
                for letter in letters {
                    #expect(letter.json?["priority"] as? Int == 5)
                    #expect(String(decoding: letter.body, as: UTF8.self).contains(draft.payload))
                }

                try await fleet.accepted(good.count + busy.count)
                for token in busy {
                    let tries = try await fleet.requests(to: token)
                    #expect(tries.map(\.status) == [503, 200])
                    #expect(Set(tries.map(\.apnsID)).count == 1)
                }
                let summary = try await fleet.simulator.summary()
                #expect(summary.requests == all.count + busy.count)
                #expect(summary.duplicates == 0)
                #expect(try await fleet.simulator.lastPush(to: busy[0])?.body == draft.payload)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `The copy for a retry holds only the tokens that failed`() async throws {
            var options = Fleet.Options()
            options.retry.minBackoff = .seconds(30)
            options.retry.maxBackoff = .seconds(30)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", to: "503")
                let busy = (0..<3).map { Draft.token($0, prefix: "503") }
                let good = (0..<97).map { Draft.token($0, prefix: "2000") }
                let draft = Draft(tokens: (busy + good).shuffled())
                try await fleet.publish(draft, messageID: "part")
                let copy = try await fleet.takeOne(from: "pushfleet.delay.30s")
                #expect(Set(copy.tokens) == Set(busy) && copy.tokens.count == 3)
                #expect(copy.attempt == 1)
                #expect(copy.messageText == "part")
                try await fleet.accepted(97)
                try await fleet.expectNothingLeft()
            }
        }
    }
}

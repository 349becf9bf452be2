import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    @Suite struct BadInputs {
        /// One fleet takes the whole table, each bad message followed by a good one.
        @Test func `Every bad message becomes one dead letter that says why, and the next message is delivered`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                for (index, input) in BadInput.all.enumerated() {
                    try await fleet.publish(input.body, to: input.routingKey, messageID: "bad-\(index)")
                    try await fleet.publish(Draft(Draft.token(index)), messageID: "good-\(index)")
                }
                let letters = try await fleet.take(BadInput.all.count, from: fleet.dead)
                try await fleet.accepted(BadInput.all.count)
                let byID = Dictionary(grouping: letters, by: \.messageText)
                for (index, input) in BadInput.all.enumerated() {
                    let letters = byID["bad-\(index)"] ?? []
                    #expect(letters.count == 1, "\(input.name)")
                    guard let letter = letters.first else { continue }
                    Self.expect(letter, toBe: input)
                    #expect(try await fleet.requests(to: Draft.token(index)).count == 1, "after \(input.name)")
                }
                #expect(try await fleet.simulator.summary().requests == BadInput.all.count)
                #expect(try await fleet.requests(to: BadInput.token).isEmpty)
                try await fleet.expectNothingLeft()
            }
        }

        private static func expect(_ letter: Delivery, toBe input: BadInput) {
            #expect(
                letter.reason == input.reason.rawValue,
                "\(input.name): \(letter.header("x-pushfleet-detail") ?? "")"
            )
            #expect(letter.field == input.field, "\(input.name)")
            #expect(letter.body == input.body, "\(input.name): the body is not what was published")
            #expect(letter.routingKey == input.routingKey, "\(input.name)")
            let detail = letter.header("x-pushfleet-detail") ?? ""
            #expect(!detail.isEmpty && detail.utf8.count <= 300, "\(input.name)")
            #expect(detail.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }, "\(input.name)")
            #expect(!detail.contains(BadInput.token), "\(input.name): a whole token in the detail")
            #expect(letter.header("x-pushfleet-worker") != nil)
            #expect(Int64(letter.header("x-pushfleet-died-at") ?? "") != nil)
            #expect(letter.header("x-pushfleet-version") == "test")
        }

        @Test func `What is just within the limits is delivered byte for byte`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let bodies: [(String, [UInt8])] = [
                    (Draft.token(1), BadInput.sized(4096, token: Draft.token(1))),
                    (Draft.token(2), BadInput.sized(4096, letter: "é", token: Draft.token(2))),
                    (Draft.token(3), BadInput.sized(5120, type: "voip", token: Draft.token(3))),
                    (
                        Draft.token(4),
                        Draft(Draft.token(4)).with(#""collapse_id":"\#(String(repeating: "a", count: 64))""#).body
                    ),
                ]
                for (token, body) in bodies { try await fleet.publish(body, messageID: token) }
                for (token, body) in bodies {
                    let push = try await fleet.delivered(token)
                    let text = String(decoding: body, as: UTF8.self)
                    let payload = text.components(separatedBy: #""payload":"#)[1].dropLast()
                    #expect(push.body == String(payload))
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `Every sample of the contract ends where it should`() async throws {
            let invalid = try Self.samples("invalid")
            let valid = try Self.samples("valid").filter { $0.app != nil }
            let apps = Set(valid.compactMap(\.app)).union([Fleet.app]).sorted()
            var options = Fleet.Options()
            options.apps = apps
            try await Fleet.run(options) { fleet in
                for sample in valid {
                    guard let channel = sample.channel, let app = sample.app else { continue }
                    try await fleet.simulator.addChannel(channel, storage: .newest, bundleID: app)
                }
                try await fleet.startWorker()
                for sample in invalid {
                    try await fleet.publish(sample.body, to: "\(Fleet.app).now", messageID: sample.name)
                }
                for sample in valid {
                    try await fleet.publish(sample.body, to: "\(sample.app!).bulk", messageID: sample.name)
                }
                let letters = try await fleet.take(invalid.count + valid.count(where: \.isExpired), from: fleet.dead)
                for sample in valid where sample.isExpired {
                    #expect(letters.first { $0.messageText == sample.name }?.reason == "expired", "\(sample.name)")
                }
                let expected = Set((invalid + valid.filter(\.isExpired)).map(\.name))
                for letter in letters where !expected.contains(letter.messageText) {
                    Issue.record(
                        "\(letter.messageText): \(letter.reason ?? "") \(letter.header("x-pushfleet-detail") ?? "")"
                    )
                }
                for sample in invalid {
                    let mine = letters.filter { $0.messageText == sample.name }
                    #expect(mine.count == 1 && mine.first?.body == sample.body, "\(sample.name)")
                    let field = String(sample.name.split(separator: "--")[0])
                    if field != "body", let letter = mine.first {
                        #expect(letter.field == field, "\(sample.name): \(letter.reason ?? "")")
                    }
                }
                #expect(valid.count(where: \.isExpired) < valid.count / 4)
                let pushes = valid.filter { !$0.isExpired }.reduce(0) { $0 + $1.pushes }
                try await fleet.accepted(pushes)
                #expect(try await fleet.simulator.summary().requests == pushes)
                let receipts = valid.filter { $0.json?["receipt"] as? Bool == true }.reduce(0) { $0 + $1.pushes }
                #expect(receipts > 0)
                try await fleet.expectNothingLeft(receipts: receipts)
            }
        }

        struct Sample {
            let name: String
            let body: [UInt8]
            var app: String? { self.json?["app"] as? String }
            var tokens: Set<String> { Set((self.json?["tokens"] as? [String] ?? []).map { $0.lowercased() }) }
            var channel: String? { self.json?["channel"] as? String }
            /// How many requests to Apple come of it.
            var pushes: Int { self.channel == nil ? self.tokens.count : 1 }
            /// Well-formed, but its time is over by now, or before it begins.
            var isExpired: Bool {
                guard let expiry = self.json?["expires_at"] as? Int64, expiry > 0 else { return false }
                return expiry <= max(UnixTime.now.seconds, self.json?["not_before"] as? Int64 ?? 0)
            }
            var json: [String: Any]? { try? JSONSerialization.jsonObject(with: Data(self.body)) as? [String: Any] }
        }

        static func samples(_ kind: String) throws -> [Sample] {
            let folder = "\(Repository.root)/deploy/contract/samples/\(kind)"
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
                return Sample(name: name, body: Array(data))
            }
        }
    }
}

import APNs
import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    @Suite struct OneMessage {
        @Test func `A message arrives with exactly the headers that it asked for`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let token = Draft.token(1, prefix: "ABCDEF")
                var draft = Draft(token).with(
                    #""push_type":"voip""#,
                    #""priority":5"#,
                    #""collapse_id":"order-17""#,
                    #""expires_at":4102444800"#
                )
                draft.payload =
                    #"{ "aps" : {"alert":"Grüße \u00e9 \/ 🍏"},   "n":1.50e+2 , "big":12345678901234567890 }"#
                try await fleet.publish(draft, messageID: "order-17-shipped")
                let push = try await fleet.delivered(token)
                #expect(push.apnsID == Self.apnsID("order-17-shipped", token.lowercased()))
                #expect(push.hasOwnID)
                #expect(push.topic == "com.example.shop.voip")
                #expect(push.pushType == "voip")
                #expect(push.priority == 5)
                #expect(push.expiration == 4_102_444_800)
                #expect(push.collapseID == "order-17")
                #expect(push.body == draft.payload)
                #expect(push.token == token.lowercased())

                // What a message does not say is left to its defaults, and no header is made up.
                let plain = Draft.token(2)
                try await fleet.publish(Draft(plain), messageID: "plain")
                let second = try await fleet.delivered(plain)
                #expect(second.topic == "com.example.shop")
                #expect(second.pushType == "alert")
                #expect(second.priority == 10)
                #expect(second.expiration == nil)
                #expect(second.collapseID == nil)
                #expect(second.apnsID == Self.apnsID("plain", plain))
                #expect(try await fleet.simulator.summary().requests == 2)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A thousand tokens in one message are a thousand pushes, and a repeated token is one`() async throws
        {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let tokens = (0..<1000).map { Draft.token($0) }
                try await fleet.publish(Draft(tokens: tokens), messageID: "many")
                let repeated = Draft.token(5, prefix: "ab")
                try await fleet.publish(
                    Draft(tokens: [repeated, repeated.uppercased(), repeated]),
                    messageID: "repeated"
                )
                try await fleet.accepted(1001)
                let summary = try await fleet.simulator.summary()
                #expect(summary.requests == 1001)
                #expect(summary.tokens == 1001)
                #expect(summary.ids == 1001)
                #expect(summary.duplicates == 0)
                #expect(try await fleet.requests(to: repeated).count == 1)
                #expect(try await fleet.requests(to: tokens[999]).first?.apnsID == Self.apnsID("many", tokens[999]))
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `Messages without id or time, and with the strangest ids, arrive`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let ids: [[UInt8]] = [
                    [], Array("\"quoted\" \u{1}\u{7f}\\".utf8), [0xff, 0xfe, 0x80], Array(repeating: 0x61, count: 255),
                    [0, 0, 0],
                ]
                for (index, id) in ids.enumerated() {
                    let gone = Draft.token(index, prefix: "dead")
                    try await fleet.simulator.setToken(gone, to: .unregistered(at: UnixTime(seconds: 1_700_000_000)))
                    for token in [Draft.token(index, prefix: "a1"), gone] {
                        try await fleet.publish(
                            Message(
                                exchange: FleetTopology.exchange,
                                routingKey: "\(Fleet.app).bulk",
                                properties: MessageProperties(messageID: id),
                                body: Draft(token).body
                            )
                        )
                    }
                }
                try await fleet.accepted(ids.count)
                let feedback = try await fleet.take(ids.count, from: fleet.feedback)
                for delivery in feedback {
                    let json = try #require(delivery.json, "feedback is JSON whatever the message id")
                    #expect(json["app"] as? String == Fleet.app)
                    #expect(json["reason"] as? String == "Unregistered")
                    #expect(json["invalid_since"] as? Int == 1_700_000_000_000)
                    #expect((json["token"] as? String)?.hasPrefix("dead") == true)
                    #expect(delivery.routingKey == "\(Fleet.app).gone")
                }
                try await fleet.expectNothingLeft()
            }
        }

        /// RFC 9562 §5.5 anew, so that the worker's own code is not its own judge.
        static func apnsID(_ messageID: String, _ token: String) -> String {
            let namespace = UUID(uuidString: "4a9d5ac4-0d0b-4d54-9c5e-7d2f7c9c2b61")!
            var bytes = withUnsafeBytes(of: namespace.uuid) { Array($0) }
            bytes += Array(messageID.utf8) + [0] + Array(token.utf8)
            let output = try? Repository.run([
                "python3", "-c",
                """
                import sys, uuid, hashlib
                data = bytes.fromhex(sys.argv[1])
                digest = bytearray(hashlib.sha1(data).digest()[:16])
                digest[6] = digest[6] & 0x0f | 0x50
                digest[8] = digest[8] & 0x3f | 0x80
                print(uuid.UUID(bytes=bytes(digest)))
                """, bytes.map { String(format: "%02x", $0) }.joined(),
            ])
            return (output ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}

/// Everything here runs one after the other: tests share one RabbitMQ and two cores.
@Suite(.serialized) struct EndToEnd {}

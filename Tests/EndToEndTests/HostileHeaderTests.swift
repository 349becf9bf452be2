import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    /// F34 and F35: what publishers can write beside the body.
    @Suite struct HostileHeaders {
        @Test func `Headers of any shape and depth harm nobody`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let raw = try RawPublisher(port: PrivateRabbitMQ.shared.port, vhost: fleet.vhost)
                defer { raw.close() }
                var token = 0
                for (name, headers) in Self.tables {
                    token += 1
                    try raw.publish(
                        exchange: FleetTopology.exchange,
                        routingKey: "\(Fleet.app).now",
                        messageID: name,
                        headers: headers,
                        body: Draft(Draft.token(token)).body
                    )
                    // The same beside a body that is refused: the dead letter must not choke on it either.
                    try raw.publish(
                        exchange: FleetTopology.exchange,
                        routingKey: "\(Fleet.app).now",
                        messageID: name,
                        headers: headers,
                        body: Array("{".utf8)
                    )
                }
                try await fleet.accepted(token)
                let letters = try await fleet.take(token, from: fleet.dead)
                #expect(Set(letters.map(\.messageText)) == Set(Self.tables.map(\.0)))
                #expect(letters.allSatisfy { $0.reason == "invalid_json" })
                #expect(try await fleet.simulator.summary().requests == token)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `Faked counts and histories are clamped or ignored`() async throws {
            var options = Fleet.Options()
            options.retry.minBackoff = .seconds(30)
            options.retry.maxBackoff = .seconds(30)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", to: "503")
                let raw = try RawPublisher(port: PrivateRabbitMQ.shared.port, vhost: fleet.vhost)
                defer { raw.close() }
                let cases: [(String, RawTable, Int)] = [
                    ("huge", RawTable().long("x-pushfleet-attempt", .max), 1_000_001),
                    ("negative", RawTable().long("x-pushfleet-attempt", .min), 1),
                    ("text", RawTable().text("x-pushfleet-attempt", "99"), 1),
                    ("table", RawTable().table("x-pushfleet-attempt", RawTable()), 1),
                    ("future", RawTable().long("x-pushfleet-first-seen", .max), 1),
                    ("before time", RawTable().long("x-pushfleet-first-seen", .min), 1),
                    ("delivery count", RawTable().long("x-delivery-count", .max), 1),
                    ("x-death", Self.fakedDeath, 1),
                ]
                for (index, (name, headers, _)) in cases.enumerated() {
                    try raw.publish(
                        exchange: FleetTopology.exchange,
                        routingKey: "\(Fleet.app).now",
                        messageID: name,
                        headers: headers,
                        body: Draft(Draft.token(index, prefix: "503")).body
                    )
                    try raw.publish(
                        exchange: FleetTopology.exchange,
                        routingKey: "\(Fleet.app).now",
                        messageID: name,
                        headers: headers,
                        body: Draft(Draft.token(index, prefix: "a1")).body
                    )
                }
                try await fleet.accepted(cases.count)
                let copies = try await fleet.take(cases.count, from: "pushfleet.delay.30s")
                let now = UnixTime.now.milliseconds
                for (name, _, attempt) in cases {
                    let copy = try #require(copies.first { $0.messageText == name })
                    #expect(copy.attempt == attempt, "\(name)")
                    let seen = try #require(copy.header("x-pushfleet-first-seen").flatMap { Int64($0) })
                    #expect(seen <= now && seen > now - 600_000, "\(name): \(seen)")
                    #expect(copy.headers.all.allSatisfy { $0.name != "x-death" }, "\(name)")
                }
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A routing key that is no text is a dead letter like any other`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let raw = try RawPublisher(port: PrivateRabbitMQ.shared.port, vhost: fleet.vhost)
                defer { raw.close() }
                // 255 bytes, of which each is three when it is made text.
                for key in [Array(repeating: 0xff, count: 255), [0, 1, 2], Array("é".utf8) + [0xc3]] as [[UInt8]] {
                    try raw.publish(
                        exchange: FleetTopology.exchange,
                        routingKey: key,
                        messageID: "key",
                        body: Draft(Draft.token(1)).body
                    )
                }
                let letters = try await fleet.take(3, from: fleet.dead)
                #expect(letters.allSatisfy { $0.reason == "unroutable_lane" && $0.messageText == "key" })
                try await fleet.publish(Draft(Draft.token(2)), messageID: "good")
                _ = try await fleet.delivered(Draft.token(2))
                #expect(try await fleet.simulator.summary().requests == 1)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A message put right into a work queue finds its way back after a retry`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                try await fleet.answer(503, "ServiceUnavailable", limit: 1)
                try await fleet.publish(
                    Message(
                        exchange: "",
                        routingKey: "pushfleet.\(Fleet.app).now",
                        properties: MessageProperties(messageID: Array("direct".utf8)),
                        body: Draft(Draft.token(1)).body
                    )
                )
                _ = try await fleet.delivered(Draft.token(1))
                #expect(try await fleet.requests(to: Draft.token(1)).map(\.status) == [503, 200])
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `Headers of the publisher's own travel with every copy`() async throws {
            var options = Fleet.Options()
            options.retry.minBackoff = .seconds(30)
            options.retry.maxBackoff = .seconds(30)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                for (prefix, status) in [("503", 503), ("400", 400)] {
                    try await fleet.answer(status, "Whatever", to: prefix)
                }
                let trace = [
                    Header("traceparent", .string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")),
                    Header("tenant", .integer(17)),
                ]
                let later = Draft(Draft.token(1)).with("\"not_before\":\(UnixTime.now.seconds + 100_000)")
                try await fleet.publish(Draft(Draft.token(1, prefix: "503")), messageID: "retried", headers: trace)
                try await fleet.publish(Draft(Draft.token(1, prefix: "400")), messageID: "rejected", headers: trace)
                try await fleet.publish(later, messageID: "held", headers: trace)
                try await fleet.publish(Array("{".utf8), messageID: "broken", headers: trace)
                var copies = try await fleet.take(2, from: fleet.dead)
                copies += try await fleet.take(1, from: "pushfleet.delay.30s")
                copies += try await fleet.take(1, from: "pushfleet.delay.3600s")
                #expect(Set(copies.map(\.messageText)) == ["retried", "rejected", "held", "broken"])
                for copy in copies {
                    for header in trace { #expect(copy.headers.all.contains(header), "\(copy.messageText)") }
                }
                try await fleet.expectNothingLeft()
            }
        }

        /// What a message would look like that has been through a delay queue a billion times.
        private static let fakedDeath = RawTable().array(
            "x-death",
            [
                RawTable().text("queue", "pushfleet.delay.30s").text("reason", "expired").text("exchange", "x")
                    .long("count", 1_000_000_000)
            ]
        ).text("x-first-death-reason", "expired").text("x-first-death-queue", "pushfleet.delay.30s")

        static let tables: [(String, RawTable)] = [
            ("tables nested 10,000 deep", RawTable.nested(10_000)),
            ("arrays nested 10,000 deep", RawTable.nestedArrays(10_000)),
            ("a header of 60 KB", RawTable().text("x-big", String(repeating: "a", count: 60 << 10))),
            ("a plain header of 60 KB", RawTable().text("big", String(repeating: "a", count: 60 << 10))),
            ("5,000 headers", (0..<5000).reduce(into: RawTable()) { $0 = $0.long("h\($1)", Int64($1)) }),
            ("one name 1,000 times", (0..<1000).reduce(into: RawTable()) { $0 = $0.long("same", Int64($1)) }),
            (
                "our names with the wrong types",
                RawTable().text("x-pushfleet-attempt", "many").table("x-pushfleet-first-seen", .nested(3))
                    .flag("x-pushfleet-reason", true).text("x-delivery-count", "-")
                    .array("x-death", [RawTable.nested(2)])
            ),
            ("an empty name", RawTable().text("", "nothing")),
            ("a name that is no text", RawTable().bytes(Array(repeating: 0xff, count: 255), [1])),
            ("15 KB that are no text", RawTable().bytes([0x61], Array(repeating: 0xff, count: 15 << 10))),
            ("the end of time", RawTable().time("when", .max).time("x-pushfleet-first-seen", .max)),
            ("names of 255 bytes", RawTable().text(String(repeating: "n", count: 255), "long")),
        ]
    }
}

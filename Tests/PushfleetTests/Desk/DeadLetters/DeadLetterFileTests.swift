import Broker
import Push
import TestRandom
import Testing

@testable import Desk

@Suite struct DeadLetterFileTests {
    @Test func `A letter comes back from its line as it was`() throws {
        var odd = DeadQueue.letter(1, body: "\u{1B}[31m\"\\ \u{202E}é\u{9B}")
        odd.properties.messageID = [0xff, 0x00]
        odd.properties.headers += [
            Header("flag", .bool(true)), Header("number", .integer(-7)), Header("part", .double(1.5)),
            Header("time", .timestamp(UnixTime(seconds: 5))), Header("nothing", .none),
        ]
        var binary = DeadQueue.letter(2)
        binary.body = [0xc3, 0x28, 0x00]
        let bare = Message(exchange: "", routingKey: "", properties: MessageProperties(), body: [])
        let death = HeaderValue.table([
            Header("reason", .string("delivery_limit")), Header("time", .timestamp(UnixTime(seconds: 1_790_000_000))),
        ])
        var poison = DeadQueue.letter(3)
        poison.properties.headers = [Header("x-death", .array([death]))]
        for message in [odd, binary, bare, poison] {
            let letter = DeadLetterTests.letter(message)
            let line = DeadLetterFile.line(letter)
            #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "\(line)")
            let back = try DeadLetterFile.letter(Array(line.utf8))
            #expect(back.id == letter.id && back.body == letter.body && back.messageID == letter.messageID)
            #expect(back.foreign.sorted { $0.name < $1.name } == letter.foreign.sorted { $0.name < $1.name })
            #expect(back.published == letter.published && back.reason == letter.reason)
            #expect(back.isUnfinished == letter.isUnfinished && back.contentType == letter.contentType)
            #expect(DeadLetterFile.line(back) == line)
        }
    }

    static let faults: [(String, String?, String)] = [
        ("", nil, "not valid JSON"),
        ("[]", nil, "no JSON object"),
        (#"{"reason":"x","body":""}"#, "routing_key", "is missing"),
        (#"{"routing_key":"a.now","body":""}"#, "reason", "is missing"),
        (#"{"routing_key":"a.now","reason":"x"}"#, "body", "is missing"),
        (#"{"routing_key":"a.now","reason":"","body":""}"#, "reason", "is empty"),
        (#"{"routing_key":7,"reason":"x","body":""}"#, "routing_key", "another type"),
        (#"{"routing_key":"a.now","reason":"x","body":"","raeson":""}"#, nil, "did you mean reason?"),
        (#"{"routing_key":"a.now","reason":"x","body":"","body_base64":""}"#, "body_base64", "beside body"),
        (#"{"routing_key":"a.now","reason":"x","body_base64":"%%"}"#, "body_base64", "no base64"),
        (#"{"routing_key":"a.now","reason":"x","body":"","attempt":-1}"#, "attempt", "0 to 1000000"),
        (#"{"routing_key":"a.now","reason":"x","body":"","died_at_ms":-1}"#, "died_at_ms", "before 1970"),
        (#"{"routing_key":"a.now","reason":"x","body":"","died_at_ms":1.5}"#, "died_at_ms", "whole number"),
        (#"{"routing_key":"a.now","reason":"x","body":"","died_at_ms":99999999999999999999}"#, "died_at_ms", "64 bits"),
        (#"{"routing_key":"a.now","reason":"x","body":"","copy":"1"}"#, "copy", "another type"),
        (#"{"routing_key":"a.now","reason":"x","body":"","headers":{"x-death":1}}"#, "headers", "publisher's header"),
        (#"{"routing_key":"a.now","reason":"x","body":"","headers":[]}"#, "headers", "another type"),
        (#"{"routing_key":"a.now","reason":"x","body":"","id":"1c9a2f0b6d3e48579a0b1c2d"}"#, "id", "leave the id out"),
    ]

    @Test(arguments: Self.faults.indices)
    func `A line that is wrong is told with the key and the fix`(index: Int) {
        let (line, field, words) = Self.faults[index]
        do throws(DeadLetterFile.Fault) {
            _ = try DeadLetterFile.letter(Array(line.utf8))
            Issue.record("taken: \(line)")
        } catch {
            #expect(error.field == field, "\(line): \(error)")
            #expect(words.isEmpty || error.detail.contains(words), "\(line): \(error)")
        }
    }

    @Test func `Long names and texts are refused before AMQP would`() {
        let long = String(repeating: "k", count: 256)
        for line in [
            #"{"routing_key":"\#(long)","reason":"x","body":""}"#,
            #"{"routing_key":"a.now","reason":"x","body":"","message_id":"\#(long)"}"#,
            #"{"routing_key":"a.now","reason":"x","body":"","headers":{"\#(long)":1}}"#,
        ] {
            #expect(throws: DeadLetterFile.Fault.self) { try DeadLetterFile.letter(Array(line.utf8)) }
        }
    }

    @Test func `Damaged lines are refused or read, and never more`() throws {
        var random = SeededRandom(spreading: 7)
        let letter = DeadLetterTests.letter(1)
        let line = Array(DeadLetterFile.line(letter).replacing("\"id\":\"\(letter.id)\",", with: "").utf8)
        for _ in 0..<3000 {
            var damaged = line
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(
                    in: .min ... .max,
                    using: &random
                )
            }
            guard let letter = try? DeadLetterFile.letter(damaged) else { continue }
            #expect(try DeadLetterFile.letter(Array(DeadLetterFile.line(letter).utf8)).id == letter.id)
        }
    }
}

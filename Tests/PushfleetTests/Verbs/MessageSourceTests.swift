internal import Broker
internal import Foundation
internal import Push
internal import TestRandom
import Testing

@testable import pushfleet

@Suite struct MessageSourceTests {
    static func body(app: String = "shop", token: String = "00ff") -> [UInt8] {
        MessageDraft(app: app, tokens: [token], payload: "{}").body
    }

    static func source(
        _ bodies: MessageSource.Bodies,
        app: String? = "shop",
        isRaw: Bool = false,
        messageID: String? = nil,
        idPrefix: String? = nil
    ) -> MessageSource {
        MessageSource(
            bodies,
            app: app,
            lane: .bulk,
            isRaw: isRaw,
            messageID: messageID,
            idPrefix: idPrefix,
            apps: ["shop"]
        )
    }

    /// Lines by way of a pipe, as they come from standard input.
    static func lines(_ bytes: [UInt8]) throws -> LineReader {
        let folder = try TestFolder()
        let file = "\(folder.path)/lines"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let descriptor = open(file, O_RDONLY)
        // The file stays readable after its folder is gone.
        return LineReader(descriptor: descriptor)
    }

    @Test("a repeated message has ids of its own")
    func repeated() {
        var source = Self.source(.repeated(Self.body(), 5))
        let first = source.next(upTo: 3)
        let second = source.next(upTo: 3)
        #expect(first.messages.count == 3 && !first.isAtEnd)
        #expect(second.messages.count == 2 && second.isAtEnd)
        let all = first.messages + second.messages
        #expect(Set(all.map(\.id)).count == 5)
        #expect(all.allSatisfy { $0.routingKey == "shop.bulk" && $0.body == Self.body() })
    }

    @Test("ids are given, numbered or random")
    func ids() {
        var given = Self.source(.repeated(Self.body(), 1), messageID: "order-1")
        #expect(given.next(upTo: 9).messages.map(\.id) == ["order-1"])
        var numbered = Self.source(.repeated(Self.body(), 2), idPrefix: "n-")
        #expect(numbered.next(upTo: 9).messages.map(\.id) == ["n-1", "n-2"])
    }

    @Test("what is against the contract is told with its line and not published")
    func rejects() throws {
        let input =
            Self.body() + Array("\nnot json\n".utf8) + Self.body(app: "other") + Array("\n\n".utf8)
            + Self.body(token: "xyz") + [0x0A, 0xFF, 0xFE, 0x0A] + Self.body()
        var source = Self.source(.lines(try Self.lines(input)), app: nil, idPrefix: "n-")
        let batch = source.next(upTo: 100)
        #expect(batch.isAtEnd)
        #expect(batch.messages.map(\.id) == ["n-1", "n-7"])
        #expect(source.rejected.map(\.line) == [2, 3, 4, 5, 6])
        #expect(
            source.rejected.map { $0.detail.prefix { $0 != ":" } } == [
                "invalid_json", "unknown_app", "invalid_json", "invalid_field", "invalid_utf8",
            ]
        )
    }

    @Test("a body for another app than the option's is told")
    func mismatch() {
        var source = Self.source(.repeated(Self.body(app: "other"), 1))
        #expect(source.next(upTo: 1).messages.isEmpty)
        #expect(source.rejected.first?.detail.hasPrefix("app_mismatch") == true)
    }

    @Test("raw lines go out as they are")
    func raw() throws {
        let input = Array("not json\n\n".utf8) + [0xFF, 0x00, 0x0D, 0x0A]
        var source = Self.source(.lines(try Self.lines(input)), app: "shop", isRaw: true)
        let batch = source.next(upTo: 100)
        #expect(batch.messages.map(\.body) == [Array("not json".utf8), [], [0xFF, 0x00, 0x0D]])
        #expect(source.rejected == [])
    }

    @Test("lines of any length come whole, with or without a last line feed")
    func lineReader() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let lines = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                (0..<[0, 1, 10, 70_000].randomElement(using: &random)!).map { _ in
                    UInt8.random(in: 11...255, using: &random)
                }
            }
            let endsWithFeed = Bool.random(using: &random)
            var bytes = Array(lines.joined(separator: [0x0A]))
            if endsWithFeed, !lines.isEmpty { bytes.append(0x0A) }
            var reader = try Self.lines(bytes)
            var read: [[UInt8]] = []
            while true {
                let some = reader.next(upTo: 7)
                read += some
                if some.count < 7 { break }
            }
            // An empty last line without its line feed is none.
            let expected = !endsWithFeed && lines.last == [] ? lines.dropLast() : lines[...]
            #expect(read == Array(expected), "seed \(seed)")
        }
    }

    @Test("the report counts every outcome, and is complete only if all were confirmed")
    func report() {
        var report = SendReport()
        report.add([.confirmed, .confirmed], rejected: 0)
        #expect(report.isComplete)
        #expect(report.line == "2 messages: 2 confirmed")
        report.add([.returned(code: 312, text: "NO_ROUTE"), .nacked, .unknown(.timeout), .confirmed], rejected: 2)
        #expect(!report.isComplete)
        #expect(report.messages == 8)
        #expect(
            report.line == "8 messages: 3 confirmed, 1 unroutable, 1 refused by the broker, 1 unanswered, "
                + "2 against the contract and not published"
        )
        #expect(
            !{
                var only = SendReport()
                only.add([], rejected: 1)
                return only.isComplete
            }()
        )
    }
}

extension Message {
    fileprivate var id: String { String(decoding: self.properties.messageID, as: UTF8.self) }
}

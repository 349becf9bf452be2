import TestRandom
import Testing

@testable import Store

@Suite struct ReplyReaderTests {
    private static func feed(_ reader: ReplyReader, _ text: some Sequence<UInt8>) throws {
        try Array(text).withUnsafeBytes { try reader.feed($0) }
    }

    private static let cases: [(String, RedisReply)] = [
        ("+OK\r\n", .string(Array("OK".utf8))),
        ("$3\r\na\r\n\r\n", .string(Array("a\r\n".utf8))),
        ("$0\r\n\r\n", .string([])),
        ("$-1\r\n", .null),
        ("*-1\r\n", .null),
        (":-42\r\n", .integer(-42)),
        ("*0\r\n", .array([])),
        ("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", .array([.integer(1), .array([.string([0x78])])])),
        ("-NOPERM no\r\n", .error(RedisError(text: "NOPERM no"))),
    ]

    @Test(arguments: cases)
    func `A reply is read, in whatever pieces it comes`(text: String, reply: RedisReply) throws {
        for size in 1...text.utf8.count {
            let reader = ReplyReader()
            var bytes = Array(text.utf8)[...]
            while bytes.count > size {
                try Self.feed(reader, bytes.prefix(size))
                bytes = bytes.dropFirst(size)
                #expect(try reader.next() == nil)
            }
            try Self.feed(reader, bytes)
            #expect(try reader.next() == reply)
            #expect(try reader.next() == nil)
        }
    }

    @Test(arguments: [
        "hello\r\n", ":12x\r\n", "$-2\r\n", "*1048577\r\n", String(repeating: "*1\r\n", count: 9), "*-2\r\n",
    ])
    func `A malformed, deep or huge reply is refused`(text: String) throws {
        let reader = ReplyReader()
        #expect(throws: ReplyReader.Malformed.self) {
            try Self.feed(reader, Array(text.utf8))
            _ = try reader.next()
        }
    }

    @Test func `Eight levels are read`() throws {
        let reader = ReplyReader()
        try Self.feed(reader, Array((String(repeating: "*1\r\n", count: 8) + ":1\r\n").utf8))
        #expect(try reader.next() != nil)
    }

    @Test func `A reply that does not end within 64 MiB is refused`() throws {
        let reader = ReplyReader()
        try Self.feed(reader, Array("$100000000\r\n".utf8))
        let part = [UInt8](repeating: 0x78, count: 1 << 20)
        #expect(throws: ReplyReader.Malformed(reason: "a reply is longer than 64 MiB")) {
            for _ in 0..<70 {
                try Self.feed(reader, part)
                #expect(try reader.next() == nil)
            }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func `Noise ends in an error or a reply, never in a crash`(seed: UInt64) {
        var random = SeededRandom(spreading: seed)
        let alphabet = Array("*$:+-0123456789\r\n\r\n\r\nab".utf8)
        let reader = ReplyReader()
        do {
            for _ in 0..<50 {
                let noise = (0..<40).map { _ in alphabet.randomElement(using: &random)! }
                try Self.feed(reader, noise)
                while try reader.next() != nil {}
            }
        } catch {}
    }

    @Test func `Commands are encoded as Redis reads them`() {
        var command = RedisCommand("SET", "kéy", "")
        command.add(-1203)
        command.add([0, 13, 10, 255])
        command.add("PX" as StaticString)
        command.add(Int64.min)
        var bytes: [UInt8] = []
        command.encode(into: &bytes)
        let expected =
            Array("*7\r\n$3\r\nSET\r\n$4\r\nkéy\r\n$0\r\n\r\n$5\r\n-1203\r\n$4\r\n".utf8) + [0, 13, 10, 255]
            + Array("\r\n$2\r\nPX\r\n$20\r\n-9223372036854775808\r\n".utf8)
        #expect(bytes == expected)
    }
}

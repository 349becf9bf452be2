import TestRandom
import Testing

@testable import HTTP2

/// What the encoder writes, read by nghttp2's decoder.
@Suite struct FieldEncoderTests {
    private struct Field: Equatable, CustomStringConvertible {
        var name: String
        var value: String
        var description: String { "\(self.name): \(self.value)" }
    }

    private static let method = HeaderName(":method")
    private static let path = HeaderName(":path", .none)
    private static let authorization = HeaderName("authorization")
    private static let topic = HeaderName("apns-topic")
    private static let id = HeaderName("apns-id", .nameOnly)
    private static let collapse = HeaderName("apns-collapse-id", .nameOnly)

    /// An encoder and a decoder that follow each other.
    private final class Pair {
        var encoder = FieldEncoder()
        let decoder = FieldDecoder(memory: nil)
        let front = RequestFront(scheme: "https", authority: "api.push.apple.com")

        /// - Returns: what was read, and how many bytes it took.
        func pass(_ block: HeaderBlock) -> (fields: [Field], size: Int)? {
            var bytes = FlatBuffer()
            defer { bytes.free() }
            self.encoder.append(self.front.fields, block.all, to: &bytes)
            var fields: [Field] = []
            // Half by half, as CONTINUATION would bring it.
            let half = bytes.count / 2
            for (part, isLast) in [(0..<half, false), (half..<bytes.count, true)] {
                let part = UnsafeRawBufferPointer(rebasing: bytes.bytes[part])
                let isSound = self.decoder.decode(part, isLast: isLast) { name, value in
                    fields.append(
                        Field(
                            name: String(decoding: name, as: UTF8.self),
                            value: String(decoding: value, as: UTF8.self)
                        )
                    )
                }
                guard isSound else { return nil }
            }
            return (fields, bytes.count)
        }
    }

    private static let front = [
        Field(name: ":scheme", value: "https"), Field(name: ":authority", value: "api.push.apple.com"),
    ]

    private static func push(_ token: String, id: String, jwt: String, topic: String = "com.example.app") -> HeaderBlock
    {
        let block = HeaderBlock()
        block.append(self.method, "POST")
        block.append(self.path, "/3/device/" + token)
        block.append(self.id, id)
        block.append(self.topic, topic)
        block.append(self.authorization, jwt)
        return block
    }

    @Test func `From the second push on, all that repeats takes a byte or two`() throws {
        let pair = Pair()
        let token = String(repeating: "a1", count: 32)
        let id = "4a9d5ac4-0d0b-4d54-9c5e-7d2f7c9c2b61"
        let jwt = "bearer " + String(repeating: "x", count: 250)
        let first = try #require(pair.pass(Self.push(token, id: id, jwt: jwt)))
        let second = try #require(pair.pass(Self.push(token, id: id, jwt: jwt)))
        #expect(first.fields == second.fields)
        #expect(first.size > 400)
        // Path and id with the lengths of both; a byte for each of method, scheme, authority, topic and token.
        #expect(second.size == 1 + 1 + 74 + 2 + 1 + 36 + 5)
    }

    @Test func `A path, an id and a name known only at run time never enter the table`() throws {
        let pair = Pair()
        for round in 0..<500 {
            let block = Self.push("t\(round)", id: "id-\(round)", jwt: "bearer a")
            block.append(name: "x-\(round)", value: "v\(round)")
            let passed = try #require(pair.pass(block))
            #expect(passed.fields.last == Field(name: "x-\(round)", value: "v\(round)"))
            // Nothing that repeats was driven out.
            if round > 0 { #expect(passed.size < 60) }
        }
    }

    @Test func `Another provider token takes the place of the old one in time`() throws {
        let pair = Pair()
        for hour in 0..<100 {
            let jwt = "bearer \(hour)" + String(repeating: "x", count: 300)
            for push in 0..<3 {
                let passed = try #require(pair.pass(Self.push("aa", id: "i", jwt: jwt)))
                #expect(passed.fields.last?.value == jwt)
                if push == 2 { #expect(passed.size < 40) }
            }
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `Whatever is sent under whatever table, it arrives`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pair = Pair()
        for _ in 0..<60 {
            if Int.random(in: 0..<6, using: &random) == 0 {
                // Nothing above what the decoder was promised: a server that allows more is not taken up on it.
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    pair.encoder.limitTable(to: [0, 31, 100, 700, 4096, 65_536].randomElement(using: &random)!)
                }
            }
            let block = HeaderBlock()
            var expected = Self.front
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let size = [0, 1, 20, 127, 128, 200, 3000, 5000].randomElement(using: &random)!
                let kind = UInt8.random(in: 97...100, using: &random)
                let value = String(decoding: [UInt8](repeating: kind, count: size), as: UTF8.self)
                if Int.random(in: 0..<8, using: &random) == 0 {
                    block.append(name: "x-run-time", value: value)
                    expected.append(Field(name: "x-run-time", value: value))
                } else {
                    let name = [Self.method, Self.path, Self.authorization, Self.topic, Self.id, Self.collapse]
                        .randomElement(using: &random)!
                    block.append(name, value)
                    expected.append(Field(name: name.text.description, value: value))
                }
            }
            let copies = Bool.random(using: &random)
            #expect(pair.pass(copies ? block.copy() : block)?.fields == expected)
        }
    }

    @Test func `The static table is HPACK's`() {
        #expect(HeaderName(":method").statics == 2..<4)
        #expect(HeaderName(":authority").statics == 1..<2)
        #expect(HeaderName("authorization").statics == 23..<24)
        #expect(HeaderName("retry-after").statics == 53..<54)
        #expect(HeaderName("www-authenticate").statics == 61..<62)
        #expect(HeaderName("apns-id").statics.isEmpty)
    }
}

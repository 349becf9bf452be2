import Push
import TestRandom
import Testing

@Suite("Messages to a channel")
struct ChannelTests {
    static let channel = "dHN0LXNyY2gtY2hubA=="

    static func body(channel: String = "\"\(Self.channel)\"", expiresAt: String? = "0", extra: String = "") -> String {
        let expiry = expiresAt.map { ",\"expires_at\":\($0)" } ?? ""
        return "{\"app\":\"com.example.shop\",\"channel\":\(channel),\"payload\":{\"aps\":{}}\(expiry)"
            + "\(extra.isEmpty ? "" : ",\(extra)")}"
    }

    static func decode(_ text: String) throws(Refusal) -> Job {
        try EnvelopeDecoder.decode(body: Array(text.utf8))
    }

    static func refusal(_ text: String) -> Refusal? {
        do {
            _ = try Self.decode(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("a message to a channel counts as one token, and its push type is Live Activity")
    func minimal() throws {
        let text = Self.body()
        let job = try Self.decode(text)
        #expect(job.isBroadcast && job.channelID == Self.channel)
        #expect(job.pushType == .liveactivity && job.priority == .immediate)
        #expect(job.expiresAt == UnixTime(seconds: 0))
        #expect(job.tokenCount == 1 && job.repeatedTokens == 0)
        #expect(job.token(0) == Self.channel)
        #expect(job.body(withTokens: [0]) == Array(text.utf8))
        var identity: [UInt8] = []
        job.appendToken(0, to: &identity)
        #expect(identity == Array(Self.channel.utf8))
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBytes { job.writeToken(0, to: $0) }
        #expect(buffer[..<count].elementsEqual(Self.channel.utf8))
    }

    @Test("a message to devices is no broadcast")
    func devices() throws {
        let job = try Self.decode("{\"app\":\"a\",\"tokens\":[\"aa\"],\"payload\":{}}")
        #expect(!job.isBroadcast && job.channelID == nil && job.withChannelID { $0.isEmpty })
    }

    @Test("the order of the keys does not matter, and a slash may be escaped")
    func order() throws {
        let job = try Self.decode(
            "{\"push_type\":\"liveactivity\",\"priority\":5,\"expires_at\":9,\"payload\":{},\"channel\":\"a\\/b+c=\","
                + "\"app\":\"a\"}"
        )
        #expect(job.channelID == "a/b+c=" && job.token(0) == "a/b+c=" && job.priority == .considerate)
    }

    @Test("a channel's id may have from 1 to 256 characters", arguments: [1, 2, 20, 24, 255, 256])
    func lengths(length: Int) throws {
        let id = String(repeating: "A", count: length)
        #expect(try Self.decode(Self.body(channel: "\"\(id)\"")).channelID == id)
    }

    @Test(
        "what a message to a channel may not say",
        arguments: [
            (Self.body(extra: "\"tokens\":[\"aa\"]"), DeadLetterReason.invalidField, "channel", "\"tokens\""),
            (Self.body(expiresAt: nil), .missingField, "expires_at", "0 stores nothing"),
            (Self.body(extra: "\"push_type\":\"alert\""), .invalidField, "push_type", "\"liveactivity\""),
            (Self.body(extra: "\"priority\":1"), .invalidField, "priority", "5 or 10"),
            (Self.body(extra: "\"topic\":\"a.b\""), .invalidField, "topic", "leave it out"),
            (Self.body(extra: "\"collapse_id\":\"a\""), .invalidField, "collapse_id", "leave it out"),
            (Self.body(extra: "\"channel\":\"aa\""), .duplicateField, "channel", "more than once"),
            (Self.body(channel: "\"\""), .invalidField, "channel", "it has 0"),
            (Self.body(channel: "\"\(String(repeating: "A", count: 257))\""), .invalidField, "channel", "it has 257"),
            (Self.body(channel: "\"a b\""), .invalidField, "channel", "base64"),
            (Self.body(channel: "\"a\\r\\nx: y\""), .invalidField, "channel", "base64"),
            (Self.body(channel: "[\"aa\"]"), .invalidField, "channel", "a string"),
            (Self.body(channel: "null"), .invalidField, "channel", "leave the key out"),
            ("{\"app\":\"a\",\"payload\":{}}", .missingField, "tokens", "\"channel\""),
            ("{\"channel\":\"aa\",\"expires_at\":0,\"payload\":{}}", .missingField, "app", "required"),
            ("{\"channel\":\"aa\",\"expires_at\":0,\"app\":\"a\"}", .missingField, "payload", "required"),
        ]
    )
    func refused(text: String, reason: DeadLetterReason, field: String, hint: String) throws {
        let refusal = try #require(Self.refusal(text))
        #expect(refusal.reason == reason && refusal.field == field, "\(refusal)")
        #expect(refusal.detail.contains(hint) && refusal.detail.contains(field), "\(refusal.detail)")
    }

    @Test("whatever is done to a body, what reaches a header is base64", arguments: [21, 22] as [UInt64])
    func fuzz(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let source = Array(Self.body(extra: "\"priority\":5,\"push_type\":\"liveactivity\"").utf8)
        let alphabet = Array("{}[]\",:\\u0aeE+/=-_ \u{1}\r\n".utf8) + [0x80, 0xFF]
        var accepted = 0
        for _ in 0..<5000 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = alphabet.randomElement(using: &random)!
                case 1: bytes.insert(alphabet.randomElement(using: &random)!, at: at)
                default: bytes.remove(at: at)
                }
            }
            guard let job = try? EnvelopeDecoder.decode(body: bytes) else { continue }
            accepted += 1
            #expect(job.isBroadcast && job.tokenCount == 1 && job.expiresAt != nil, "seed \(seed)")
            #expect(job.withChannelID { ChannelID.isValid($0) } && job.pushType == .liveactivity)
        }
        #expect(accepted > 100, "\(accepted)")
    }

    @Test("the payload may have 5120 bytes")
    func payloadLimit() {
        func body(_ size: Int) -> String {
            "{\"app\":\"a\",\"channel\":\"aa\",\"expires_at\":0,\"payload\":{\"a\":\""
                + String(repeating: "x", count: size - 8) + "\"}}"
        }
        #expect(Self.refusal(body(5120)) == nil)
        #expect(Self.refusal(body(5121))?.reason == .payloadTooLarge)
    }
}

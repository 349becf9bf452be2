import CRabbitMQ
import Foundation
import Push
import TestRandom
import Testing

@testable import Broker

@Suite struct FrameCodecTests {
    /// A message as a broker delivers it: method, header and body frames.
    private static func delivery(tag: UInt64, body: Int, frameMax: Int = 131_072) -> [UInt8] {
        let encoder = FrameEncoder()
        encoder.frameMax = frameMax
        let method = amqp_basic_deliver_t(
            consumer_tag: encoder.arena.short("tag"),
            delivery_tag: tag,
            redelivered: 0,
            exchange: encoder.arena.short("pushfleet"),
            routing_key: encoder.arena.short("app.now")
        )
        encoder.method(AMQP_BASIC_DELIVER_METHOD, channel: 1, method)
        var properties = amqp_basic_properties_t()
        properties._flags = amqp_flags_t(AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_HEADERS_FLAG)
        properties.message_id = encoder.arena.short("0b2a7f2e-6a0c-4b5e-9f4e-0d6a51d2b6f7")
        properties.headers = encoder.arena.table([Header("x-pushfleet-attempt", .integer(3))])
        let bytes = [UInt8](repeating: 7, count: body)
        bytes.withUnsafeBytes { encoder.content(channel: 1, properties, room: 256, body: $0) }
        var all: [UInt8] = []
        encoder.take { all = Array($0) }
        return all
    }

    private func decoder(frameMax: Int = 131_072) throws -> FrameDecoder {
        let decoder = FrameDecoder()
        // The limit may change between frames only, and before the first one a protocol header could still come.
        let encoder = FrameEncoder()
        let blocked = amqp_connection_blocked_t(reason: encoder.arena.short("first"))
        encoder.method(AMQP_CONNECTION_BLOCKED_METHOD, channel: 0, blocked)
        var first: [UInt8] = []
        encoder.take { first = Array($0) }
        try first.withUnsafeBytes { try decoder.decode($0) { _ in true } }
        decoder.limit(frameMax: frameMax)
        return decoder
    }

    @Test(arguments: [1, 2, 3, 7, 8, 9, 100, 1000])
    func `Frames come out the same however the bytes are cut`(size: Int) throws {
        let decoder = try self.decoder()
        let bytes = (1...5).flatMap { Self.delivery(tag: $0, body: Int($0) * 100, frameMax: 128) }
        var types: [UInt8] = []
        var body = 0
        for start in stride(from: 0, to: bytes.count, by: size) {
            try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { part in
                try decoder.decode(part) { frame in
                    types.append(frame.frame_type)
                    if frame.frame_type == 3 { body += frame.payload.body_fragment.len }
                    return true
                }
            }
        }
        #expect(types.filter { $0 == 1 }.count == 5)
        #expect(types.filter { $0 == 2 }.count == 5)
        #expect(types.filter { $0 == 3 }.count == 1 + 2 + 3 + 4 + 5)
        #expect(body == 1500)
    }

    @Test func `A million frames leave nothing behind`() async throws {
        // In a process of its own: other tests allocate as they run.
        await #expect(processExitsWith: .success) {
            let tests = FrameCodecTests()
            let decoder = try tests.decoder()
            let batch = (0..<300).flatMap { _ in FrameCodecTests.delivery(tag: 1, body: 400) }
            var frames = 0
            func feed(_ times: Int) throws {
                for _ in 0..<times {
                    try batch.withUnsafeBytes { bytes in
                        // Cut within frames, as sockets do.
                        var rest = bytes[...]
                        while !rest.isEmpty {
                            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(65_521))
                            try decoder.decode(part) { _ in
                                frames += 1
                                return true
                            }
                            rest = rest.dropFirst(part.count)
                        }
                    }
                }
            }
            try feed(100)
            let before = try FrameCodecTests.residentKilobytes()
            try feed(1012)
            let grown = try FrameCodecTests.residentKilobytes() - before
            precondition(frames >= 1_000_000, "only \(frames) frames")
            precondition(grown < 2048, "grown by \(grown) KiB over \(frames) frames")
        }
    }

    @Test func `A frame larger than agreed is refused`() throws {
        let decoder = try self.decoder(frameMax: 4096)
        let bytes = Self.delivery(tag: 1, body: 5000)
        #expect(throws: BrokerError.self) { try bytes.withUnsafeBytes { try decoder.decode($0) { _ in true } } }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Damaged bytes are refused or read, never worse`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let decoder = try self.decoder()
            var bytes = (1...3).flatMap { Self.delivery(tag: $0, body: 50) }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Not the sizes of frames: they make the decoder wait for more.
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            try? bytes.withUnsafeBytes { part in
                try decoder.decode(part) { frame in
                    if frame.frame_type == 2, let decoded = frame.payload.properties.decoded {
                        let properties = decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee
                        if properties._flags & amqp_flags_t(AMQP_BASIC_HEADERS_FLAG) != 0 {
                            _ = HeaderReader.read(properties.headers, readsAll: true)
                        }
                    }
                    return true
                }
            }
        }
    }

    private static func residentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.split(whereSeparator: { !$0.isNumber })[0]))
    }
}

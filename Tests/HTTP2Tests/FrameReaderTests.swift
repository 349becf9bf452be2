import TestRandom
import Testing

@testable import HTTP2

@Suite struct FrameReaderTests {
    private struct Seen: Equatable {
        var type: UInt8
        var flags: UInt8
        var stream: Int32
        var payload: [UInt8]
    }

    /// The frames that come out when bytes come in as chunks of the given sizes.
    private static func read(_ bytes: [UInt8], chunks: () -> Int) throws -> (frames: [Seen], peak: Int) {
        var reader = FrameReader()
        defer { reader.free() }
        var seen: [Seen] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = Array(rest.prefix(max(1, chunks())))
            rest = rest.dropFirst(chunk.count)
            var index = 0
            try chunk.withUnsafeBytes { chunk in
                while let frame = try reader.next(in: chunk, from: &index) {
                    let payload = Array(frame.payload)
                    seen.append(Seen(type: frame.type, flags: frame.flags, stream: frame.stream, payload: payload))
                }
            }
            #expect(index == chunk.count)
        }
        return (seen, reader.peak)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `However a stream is cut, the same frames come out`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        var expected: [Seen] = []
        for _ in 0..<30 {
            let size = [0, 1, 8, 300, 16_384].randomElement(using: &random)!
            let frame = Seen(
                type: UInt8.random(in: 0...255, using: &random),
                flags: UInt8.random(in: 0...255, using: &random),
                stream: Int32.random(in: 0...Int32.max, using: &random),
                payload: (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            )
            expected.append(frame)
            // The first bit of a stream's number is reserved and means nothing.
            let stream = frame.stream | (Bool.random(using: &random) ? Int32.min : 0)
            bytes += RawFrame.make(type: frame.type, flags: frame.flags, stream: stream, payload: frame.payload)
        }
        let most = [1, 3, 12, 100, 10_000, 1_000_000].randomElement(using: &random)!
        let read = try Self.read(bytes) { Int.random(in: 1...most, using: &random) }
        #expect(read.frames == expected)
        #expect(read.peak <= FrameReader.mostPayload + RawFrame.headerSize)
    }

    @Test func `What lies there whole is not copied`() throws {
        let bytes = RawFrame.make(type: 0, stream: 1, payload: Array(repeating: 7, count: 9000))
        #expect(try Self.read(bytes) { bytes.count }.peak == 0)
    }

    @Test(arguments: [1, 4, 100_000])
    func `A frame that is too large is refused by its header, before its bytes are kept`(chunk: Int) {
        let bytes = RawFrame.make(type: 0, stream: 1, payload: Array(repeating: 7, count: 16_385))
        #expect(throws: Violation.self) { try Self.read(bytes) { chunk } }
    }
}

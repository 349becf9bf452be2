import TestRandom
import Testing

@testable import HTTP2

@Suite struct InboundFramesTests {
    struct Passed {
        var bytes: [UInt8]
        /// The streams of DATA frames, and how much had been passed on when they were pointed out.
        var announced: [(stream: Int32, at: Int)]
        var beganWithGoAway: Bool
    }

    /// What comes out when a stream comes in as chunks of the given sizes, the last one again and again.
    private static func pass(_ bytes: [UInt8], chunks: () -> Int) -> Passed {
        var frames = InboundFrames()
        var passed: [UInt8] = []
        var announced: [(stream: Int32, at: Int)] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = Array(rest.prefix(max(1, chunks())))
            rest = rest.dropFirst(chunk.count)
            var index = 0
            chunk.withUnsafeBytes { chunk in
                while let piece = frames.next(in: chunk, from: &index) {
                    switch piece {
                    case .received(let range): passed += chunk[range]
                    case .held(let held): passed += held
                    case .data(let stream): announced.append((stream, passed.count))
                    }
                }
            }
        }
        return Passed(bytes: passed, announced: announced, beganWithGoAway: frames.beganWithGoAway)
    }

    private static let settings = RawFrame.make(type: 4, payload: [0, 3, 0, 0, 0, 1])
    private static let answer = RawFrame.make(type: 1, flags: 5, stream: 1, payload: [0x88])
    private static let data = RawFrame.make(type: 0, stream: 1, payload: Array(repeating: 7, count: 300))

    private static func goAway(_ last: Int32) -> [UInt8] {
        RawFrame.goAway(lastStreamID: last, errorCode: 3, debugData: Array("why".utf8))
    }

    @Test(arguments: 0..<200)
    func `However a stream is cut, everything passes, and only GOAWAYs are mended`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var sent = Self.settings
        var expected = Self.settings
        var lowest = Int32.max
        var dataAt: [Int] = []
        for _ in 0..<30 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let last = [0, 1, 2, 77, .max, Int32.random(in: 0...100, using: &random)].randomElement(using: &random)!
                sent += Self.goAway(last)
                lowest = min(lowest, last > 0 && last % 2 == 0 ? last - 1 : last)
                expected += Self.goAway(lowest)
            case 1:
                // Too short for a last stream; nghttp2 shall see it as it is.
                let frame = RawFrame.make(type: 7, payload: [1, 2, 3])
                sent += frame
                expected += frame
            default:
                let frame = [Self.settings, Self.answer, Self.data].randomElement(using: &random)!
                if frame == Self.data { dataAt.append(expected.count) }
                sent += frame
                expected += frame
            }
        }
        let most = [1, 3, 12, 100, 10_000].randomElement(using: &random)!
        let passed = Self.pass(sent) { Int.random(in: 1...most, using: &random) }
        #expect(passed.bytes == expected)
        #expect(!passed.beganWithGoAway)
        #expect(passed.announced.map(\.stream) == Array(repeating: 1, count: dataAt.count))
        // A header that came in two parts was passed on in part.
        #expect(zip(passed.announced, dataAt).allSatisfy { $0.at >= $1 && $0.at < $1 + RawFrame.headerSize })
    }

    @Test(arguments: [1, 5, 9, 100])
    func `A GOAWAY in place of SETTINGS gets the SETTINGS that it lacks`(chunk: Int) {
        let passed = Self.pass(Self.goAway(0)) { chunk }
        #expect(passed.bytes == RawFrame.make(type: 4, payload: []) + Self.goAway(0))
        #expect(passed.beganWithGoAway)
    }

    @Test func `Bytes that lie in one piece are passed where they lie`() {
        var frames = InboundFrames()
        var index = 0
        _ = Self.settings.withUnsafeBytes { frames.next(in: $0, from: &index) }
        index = RawFrame.headerSize
        _ = Self.settings.withUnsafeBytes { frames.next(in: $0, from: &index) }
        let bytes = Self.answer + Self.settings + Self.answer
        index = 0
        let piece = bytes.withUnsafeBytes { frames.next(in: $0, from: &index) }
        #expect(piece == .received(0..<bytes.count))
    }
}

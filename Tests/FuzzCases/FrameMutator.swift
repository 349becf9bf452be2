internal import TestRandom

/// Changes inputs of `FuzzCase` a little, frame by frame, so that most of what comes out is still HTTP/2.
package struct FrameMutator {
    private var random: SeededRandom

    package init(seed: UInt64) {
        self.random = SeededRandom(seed: seed)
    }

    private struct Frame {
        var type: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]
        /// What the header says if it does not tell the truth.
        var claimedSize: Int?

        var bytes: [UInt8] {
            let size = self.claimedSize ?? self.payload.count
            let head: [UInt8] = [
                UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255), self.type, self.flags,
                UInt8(self.stream >> 24), UInt8(self.stream >> 16 & 255), UInt8(self.stream >> 8 & 255),
                UInt8(self.stream & 255),
            ]
            return head + self.payload
        }
    }

    /// A new input from one or two that are known.
    /// - Parameters:
    ///   - other: lends frames.
    ///   - limit: at most so many bytes.
    package mutating func mutate(_ input: [UInt8], with other: [UInt8], limit: Int) -> [UInt8] {
        var manner = Array((input + [0, 0]).prefix(2))
        if Int.random(in: 0..<4, using: &self.random) == 0 { manner[0] = .random(in: 0...255, using: &self.random) }
        if Int.random(in: 0..<4, using: &self.random) == 0 {
            manner[1] = [0, 0, 1, 2, 9, 10, 100].randomElement(using: &self.random)!
        }
        var frames = Self.frames(input.dropFirst(2))
        let lent = Self.frames(other.dropFirst(2))
        for _ in 0..<Int.random(in: 1...6, using: &self.random) { self.change(&frames, lent) }
        var bytes = manner + frames.flatMap(\.bytes)
        if Int.random(in: 0..<6, using: &self.random) == 0 { self.spoil(&bytes) }
        return Array(bytes.prefix(limit))
    }

    private static func frames(_ bytes: ArraySlice<UInt8>) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let size = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let payload = Array(rest.dropFirst(9).prefix(size))
            let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let claimed = payload.count == size ? nil : size
            frames.append(
                Frame(type: head[3], flags: head[4], stream: stream, payload: payload, claimedSize: claimed)
            )
            rest = rest.dropFirst(9 + payload.count)
        }
        return frames
    }

    private mutating func change(_ frames: inout [Frame], _ lent: [Frame]) {
        guard let index = frames.indices.randomElement(using: &self.random) else {
            frames.append(self.special())
            return
        }
        switch Int.random(in: 0..<16, using: &self.random) {
        case 0: frames.remove(at: index)
        case 1: frames.insert(frames[index], at: .random(in: 0...frames.count, using: &self.random))
        case 2: frames.swapAt(index, frames.indices.randomElement(using: &self.random)!)
        case 3: frames[index].type = .random(in: 0...12, using: &self.random)
        case 4: frames[index].flags ^= 1 << UInt8.random(in: 0...7, using: &self.random)
        case 5: frames[index].stream = self.stream()
        case 6: frames[index].claimedSize = .random(in: 0...20_000, using: &self.random)
        case 7: frames[index].payload = Array(frames[index].payload.dropLast(.random(in: 1...4, using: &self.random)))
        case 8: frames[index].payload += (0..<Int.random(in: 1...40, using: &self.random)).map { UInt8($0) }
        case 9, 10:
            if let frame = lent.randomElement(using: &self.random) {
                frames.insert(frame, at: .random(in: 0...frames.count, using: &self.random))
            }
        case 11:
            // A header block in two parts, or data in two frames.
            let cut = Int.random(in: 0...frames[index].payload.count, using: &self.random)
            var second = frames[index]
            second.payload = Array(second.payload[cut...])
            if second.type == 1 { second.type = 9 }
            frames[index].payload.removeSubrange(cut...)
            if Bool.random(using: &self.random) { frames[index].flags &= ~5 }
            frames.insert(second, at: index + 1)
        case 12, 13:
            frames.insert(self.special(), at: .random(in: 0...frames.count, using: &self.random))
        default:
            self.spoil(&frames[index].payload)
        }
    }

    private mutating func spoil(_ bytes: inout [UInt8]) {
        guard let index = bytes.indices.randomElement(using: &self.random) else { return }
        switch Int.random(in: 0..<4, using: &self.random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &self.random)
        case 1: bytes[index] = [0, 1, 127, 128, 255].randomElement(using: &self.random)!
        case 2: bytes.insert(.random(in: 0...255, using: &self.random), at: index)
        default: bytes.remove(at: index)
        }
    }

    private mutating func stream() -> UInt32 {
        switch Int.random(in: 0..<8, using: &self.random) {
        case 0: 0
        case 1: .random(in: 0...(.max), using: &self.random)
        case 2: 2
        default: UInt32.random(in: 0...10, using: &self.random) * 2 + 1
        }
    }

    private mutating func number() -> [UInt8] {
        let number =
            [0, 1, 2, 3, 9, 1000, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, .max, .random(in: 0...64)]
            .randomElement(using: &self.random)! as UInt32
        return [UInt8(number >> 24), UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }

    /// Frames that servers send seldom, with odd values.
    private mutating func special() -> Frame {
        let stream = self.stream()
        switch Int.random(in: 0..<9, using: &self.random) {
        case 0:
            let id = [1, 2, 3, 3, 3, 4, 5, 6, 9].randomElement(using: &self.random)! as UInt8
            return Frame(type: 4, flags: 0, stream: 0, payload: [0, id] + self.number())
        case 1: return Frame(type: 7, flags: 0, stream: 0, payload: self.number() + self.number() + [123, 125])
        case 2: return Frame(type: 3, flags: 0, stream: stream, payload: self.number())
        case 3: return Frame(type: 8, flags: 0, stream: stream, payload: self.number())
        case 4: return Frame(type: 6, flags: 0, stream: 0, payload: [1, 2, 3, 4, 5, 6, 7, 8])
        case 5: return Frame(type: 0, flags: 1, stream: stream, payload: Array("{\"reason\":\"Bad\"}".utf8))
        case 6: return Frame(type: 1, flags: 5, stream: stream, payload: [0x88])
        case 7: return Frame(type: 5, flags: 4, stream: stream, payload: [0, 0, 0, 2, 0x88])
        default: return Frame(type: 9, flags: 4, stream: stream, payload: [0x88])
        }
    }
}

internal import Push

/// FIPS 180-4 SHA-1, which Redis names scripts by. Not for anything that needs a secure digest.
enum SHA1 {
    /// 40 lower-case hexadecimal digits.
    static func hexadecimal(_ message: some Sequence<UInt8>) -> String {
        Hex.encode(self.digest(Array(message)))
    }

    private static func digest(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += Self.bigEndian(UInt64(message.count) * 8)
        for start in stride(from: 0, to: padded.count, by: 64) {
            self.mix(padded[start..<start + 64], into: &state)
        }
        return state.flatMap(Self.bigEndian)
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(Self.rotated(word, by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (round, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch round {
                case ..<20: (b & c | ~b & d, 0x5a82_7999)
                case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = Self.rotated(a, by: 5) &+ mixed &+ e &+ constant &+ word
            (e, d, c, b, a) = (d, c, Self.rotated(b, by: 30), a, next)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }

    private static func rotated(_ word: UInt32, by bits: UInt32) -> UInt32 {
        word << bits | word >> (32 - bits)
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

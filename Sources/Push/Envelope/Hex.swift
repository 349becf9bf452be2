/// Checks and folds hexadecimal text, eight bytes at a time.
package enum Hex {
    /// The value of one digit in either case; nil for any other byte.
    @inline(__always)
    package static func value(_ byte: UInt8) -> UInt8? {
        let digit = byte &- 0x30
        if digit < 10 { return digit }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// A word with the top bit set in every byte of `word` that is not a hexadecimal digit.
    @inline(__always)
    static func strangers(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops = ones &* 0x80
        let low = word & ~tops
        let folded = low | ones &* 0x20
        // In a byte below 0x80, adding 0x80 − k sets the top bit exactly if the byte is at least k.
        let digit = (low &+ ones &* 0x50) & ~(low &+ ones &* 0x46)
        let letter = (folded &+ ones &* 0x1F) & ~(folded &+ ones &* 0x19)
        return (~(digit | letter) | word) & tops
    }

    /// How many bytes from the start are hexadecimal digits.
    package static func prefixLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        var at = 0
        while at + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            let strangers = Self.strangers(word)
            if strangers != 0 { return at + strangers.trailingZeroBitCount >> 3 }
            at += 8
        }
        while at < bytes.count, Self.value(bytes[at]) != nil { at += 1 }
        return at
    }

    /// Hexadecimal text in lower case. Setting bit 0x20 changes only the letters.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte | 0x20 }
}

internal import Crypto
internal import Glibc
internal import Synchronization

/// A universally unique identifier (RFC 9562) as Amazon's names have them, in lower case.
package struct UUID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    private init(high: UInt64, low: UInt64, version: UInt64) {
        self.high = high & ~0xF000 | version << 12
        self.low = low & ~(3 << 62) | 2 << 62
    }

    /// Version 4, random.
    package init(using generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), low: generator.next(), version: 4)
    }

    /// Version 4 from the system's randomness.
    package static func random() -> Self {
        Self.supply.withLock { UUID(using: &$0) }
    }

    /// The system is asked for much at a time: each time costs as much as the rest of a request's id.
    private static let supply = Mutex(RandomSupply())

    private struct RandomSupply: RandomNumberGenerator {
        private var words: [UInt64] = []

        mutating func next() -> UInt64 {
            if self.words.isEmpty {
                self.words = Array(unsafeUninitializedCapacity: Self.count) { words, count in
                    let failed = getentropy(words.baseAddress, Self.count * MemoryLayout<UInt64>.stride) != 0
                    precondition(!failed, "the system has no randomness")
                    count = Self.count
                }
            }
            return self.words.removeLast()
        }

        /// 256 bytes are the most that one call gives.
        private static let count = 32
    }

    /// Version 3: from the MD5 of a name. The name alone is hashed, without a name space before it.
    package init(hashing name: String) {
        var md5 = Insecure.MD5()
        var name = name
        name.withUTF8 { md5.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in md5.finalize().enumerated() {
            if index < 8 { words.0 = words.0 << 8 | UInt64(byte) } else { words.1 = words.1 << 8 | UInt64(byte) }
        }
        self.init(high: words.0, low: words.1, version: 3)
    }

    /// Nil unless the text is 32 lower-case hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    package init?(_ text: some StringProtocol) {
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        var place = 0
        guard text.utf8.count == 36 else { return nil }
        for byte in text.utf8 {
            defer { place += 1 }
            if Self.dashes.contains(place) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if digits < 16 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
            digits += 1
        }
        self.high = words.0
        self.low = words.1
    }

    private static let dashes = [8, 13, 18, 23]

    package var version: Int { Int(self.high >> 12 & 0xF) }

    package var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var place = 0
            for digit in 0..<32 {
                if Self.dashes.contains(place) {
                    buffer[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = digit < 16 ? self.high : self.low
                let value = UInt8(word >> UInt64(60 - digit % 16 * 4) & 0xF)
                buffer[place] = value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")
                place += 1
            }
            return place
        }
    }
}

internal import Crypto
internal import Push

/// Names a dead letter, by what it holds: the same on every look, in every process, and after an export and import.
///
/// The first 96 bits of the SHA-256 of routing key, message id, reason, time of death, attempts, copy and body, each behind
/// its length. Two letters with one id are the same letter twice, and whatever is done with the id is done with both.
package struct DeadLetterID: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt32

    /// From what is shown; nil if it is not 24 hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 24, text.utf8.allSatisfy({ Hex.value($0) != nil }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt32(text.suffix(8), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    init(hashing parts: [[UInt8]]) {
        var hash = SHA256()
        for part in parts {
            withUnsafeBytes(of: UInt32(clamping: part.count).littleEndian) { hash.update(bufferPointer: $0) }
            part.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        var words: (UInt64, UInt32) = (0, 0)
        for (index, byte) in hash.finalize().prefix(12).enumerated() {
            if index < 8 { words.0 = words.0 << 8 | UInt64(byte) } else { words.1 = words.1 << 8 | UInt32(byte) }
        }
        (self.high, self.low) = words
    }

    /// 24 hexadecimal digits.
    package var description: String { Self.hex(self.high, digits: 16) + Self.hex(UInt64(self.low), digits: 8) }

    private static func hex(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

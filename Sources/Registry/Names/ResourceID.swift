internal import Crypto
internal import Push

/// The UUID at the end of an endpoint's or subscription's ARN.
package struct ResourceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// - Parameter bytes: exactly 16, or nil comes of it.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        (self.high, self.low) = (high, low)
    }

    /// - Parameter text: 8-4-4-4-12 hexadecimal digits in either case.
    package init?(_ text: String) {
        var digits: [UInt8] = []
        for (index, character) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard character == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = Hex.value(character) else { return nil }
                digits.append(digit)
            }
        }
        guard text.utf8.count == 36 else { return nil }
        self.init(bytes: stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// A name-based UUID, RFC 9562 version 3 in shape. The same name has the same id everywhere and for good.
    package init(naming name: String) {
        self.init(digestOf: name, version: 3)
    }

    /// - Parameter version: the version that the id shows.
    init(digestOf name: String, version: UInt8) {
        var bytes = Array(Insecure.MD5.hash(data: Array(name.utf8)))
        bytes[6] = bytes[6] & 0x0f | version << 4
        bytes[8] = bytes[8] & 0x3f | 0x80
        guard let id = ResourceID(bytes: bytes) else { preconditionFailure("MD5 has 16 bytes") }
        self = id
    }

    package var bytes: [UInt8] {
        [self.high, self.low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }

    /// Lower-case hexadecimal digits.
    package var description: String {
        var text = Hex.encode(self.bytes)
        for place in [20, 16, 12, 8] { text.insert("-", at: text.index(text.startIndex, offsetBy: place)) }
        return text
    }

    /// As Redis orders the bytes.
    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

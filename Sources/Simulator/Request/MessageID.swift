internal import Push

/// An `apns-id`: 128 bits, written as 8-4-4-4-12 hexadecimal digits.
///
/// Both cases are taken, as ids are to be compared without regard to case.
struct MessageID: Hashable, Sendable {
    var high: UInt64
    var low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Returns: nil when `text` is not 36 characters of the right kind in the right places.
    init?(_ text: some Collection<UInt8>) {
        guard text.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var position = 0
        for byte in text {
            switch position {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard let digit = Hex.value(byte) else { return nil }
                if position < 18 {
                    high = high << 4 | UInt64(digit)
                } else {
                    low = low << 4 | UInt64(digit)
                }
            }
            position += 1
        }
        self.init(high: high, low: low)
    }

    /// The 36 characters.
    func bytes(upperCase: Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 36) { buffer, count in
            var position = 0
            for half in [self.high, self.low] {
                var shift = 60
                while shift >= 0 {
                    if position == 8 || position == 13 || position == 18 || position == 23 {
                        buffer[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    buffer[position] = Hex.digit(UInt8(half >> UInt64(shift) & 15), upperCase: upperCase)
                    position += 1
                    shift -= 4
                }
            }
            count = 36
        }
    }

    func text(upperCase: Bool = false) -> String {
        String(decoding: self.bytes(upperCase: upperCase), as: UTF8.self)
    }
}

/// Bytes as hexadecimal digits, and back.
extension Hex {
    /// The digit of a value below 16.
    package static func digit(_ value: UInt8, upperCase: Bool = false) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : (upperCase ? UInt8(ascii: "A") : UInt8(ascii: "a")) + value - 10
    }

    /// Two lower-case digits for each byte.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            text.append(Self.digit(byte >> 4))
            text.append(Self.digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Parameter text: digits in either case.
    /// - Returns: nil for an odd number of digits or anything that is no digit; an empty text is no bytes.
    package static func decode(_ text: some RandomAccessCollection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var index = text.startIndex
        while index != text.endIndex {
            let next = text.index(after: index)
            guard let high = Self.value(text[index]), let low = Self.value(text[next]) else { return nil }
            bytes.append(high << 4 | low)
            index = text.index(after: next)
        }
        return bytes
    }
}

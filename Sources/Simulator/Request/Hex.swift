/// Hexadecimal digits, read in either case.
enum Hex {
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func digit(_ value: UInt8, upperCase: Bool = false) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : (upperCase ? UInt8(ascii: "A") : UInt8(ascii: "a")) + value - 10
    }

    /// - Returns: nil for an odd number of digits or anything that is no digit; an empty text is no bytes.
    static func decode(_ text: some RandomAccessCollection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var index = text.startIndex
        while index != text.endIndex {
            let next = text.index(after: index)
            guard let high = Self.value(of: text[index]), let low = Self.value(of: text[next]) else { return nil }
            bytes.append(high << 4 | low)
            index = text.index(after: next)
        }
        return bytes
    }

    static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(self.digit(byte >> 4))
            text.append(self.digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }
}

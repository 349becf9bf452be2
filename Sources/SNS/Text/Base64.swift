/// Reads base64 with the standard alphabet and padding (RFC 4648 §4).
enum Base64 {
    /// Nil for anything else.
    static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        for (index, byte) in text.dropLast(padding).enumerated() {
            guard let value = Self.value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            if index % 4 == 3 {
                bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
            }
        }
        // What padding cuts off must be zero, so that bytes have one text.
        switch padding {
        case 1:
            guard bits & 3 == 0 else { return nil }
            bytes += [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
        case 2:
            guard bits & 0xF == 0 else { return nil }
            bytes.append(UInt8(bits >> 4 & 0xFF))
        default: break
        }
        return bytes
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

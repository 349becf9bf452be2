internal import Push

/// Text of `application/x-www-form-urlencoded`: decoded strictly.
///
/// WHATWG URL Standard, "application/x-www-form-urlencoded parsing"; unlike there a `%` without two digits and bytes that are not
/// UTF-8 are errors.
enum FormText {
    /// The text that the bytes stand for; nil if they stand for none.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(validating: bytes, as: UTF8.self)
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { buffer in
            var end = 0
            var at = 0
            while at < bytes.count {
                var byte = bytes[at]
                at += 1
                if byte == UInt8(ascii: "+") {
                    byte = UInt8(ascii: " ")
                } else if byte == UInt8(ascii: "%") {
                    guard at + 1 < bytes.count, let high = Hex.value(bytes[at]), let low = Hex.value(bytes[at + 1])
                    else { return nil }
                    byte = high << 4 | low
                    at += 2
                }
                buffer[end] = byte
                end += 1
            }
            return String(validating: UnsafeBufferPointer(rebasing: buffer[..<end]), as: UTF8.self)
        }
    }
}

extension StringProtocol {
    /// Whether XML 1.0 cannot carry the text, or only in a form that does not come back as it was: control characters but
    /// tab, line feed and carriage return, and U+FFFE and U+FFFF (XML 1.0 §2.2).
    var isBeyondXML: Bool {
        // U+FFFE and U+FFFF are EF BF BE and EF BF BF in UTF-8.
        var last: (UInt8, UInt8) = (0, 0)
        for byte in self.utf8 {
            if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D { return true }
            if byte >= 0xBE, last == (0xEF, 0xBF), byte <= 0xBF { return true }
            last = (last.1, byte)
        }
        return false
    }
}

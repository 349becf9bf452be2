internal import Push

/// Writes JSON (RFC 8259).
enum JSONText {
    /// Appends the text as a string with its quotes.
    static func append(_ text: some StringProtocol, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20:
                bytes += byte < 0x10 ? "\\u000".utf8 : "\\u001".utf8
                bytes.append(Hex.digit(byte & 0xF))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    static func string(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        Self.append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

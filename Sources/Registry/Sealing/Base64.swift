/// RFC 4648 base64 in the standard alphabet, padded; one without padding is read too.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8: UInt32] = Dictionary(
        uniqueKeysWithValues: Self.alphabet.enumerated().map { ($1, UInt32($0)) }
    )

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for index in 0..<3 { bits = bits << 8 | UInt32(index < group.count ? group[start + index] : 0) }
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(isPadding ? UInt8(ascii: "=") : Self.alphabet[Int(bits >> (18 - 6 * UInt32(index)) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for anything that `encode` could not have made, padding aside.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(text.utf8)
        if digits.count.isMultiple(of: 4) {
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for digit in digits {
            guard let value = Self.values[digit] else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(bits >> count))
            bits &= (1 << count) - 1
        }
        return bits == 0 ? bytes : nil
    }
}

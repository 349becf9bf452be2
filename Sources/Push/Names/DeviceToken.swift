/// What is known about the text of a device token: hexadecimal, and never to be printed whole.
package enum DeviceToken {
    /// Whether the bytes are a token: hexadecimal, an even number of digits, 2 to 400 of them.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        Contract.tokenDigits.contains(bytes.count) && bytes.count.isMultiple(of: 2)
            && Hex.prefixLength(bytes) == bytes.count
    }

    /// A token as logs may show it: the first and the last four digits. Short ones show nothing but their length.
    package static func redacted(_ token: some StringProtocol) -> String {
        guard token.utf8.count >= 16 else { return "…(\(token.utf8.count))" }
        return "\(token.prefix(4))…\(token.suffix(4))"
    }
}

internal import Push

/// What a push service calls a device, in the form in which tokens are compared.
package struct EndpointToken: Hashable, Sendable, CustomStringConvertible {
    /// Hexadecimal tokens of Apple in lower case; those of others as they came.
    package let text: String

    /// - Parameter isApple: tokens are hexadecimal, in either case.
    package init(_ text: String, isApple: Bool = true) {
        self.text = isApple ? text.lowercased() : text
    }

    /// Never the whole token: this is for logs.
    package var description: String { "\(self.text.prefix(8))…" }

    /// Whether `packed` holds bytes for pairs of digits. Only in lower case: what is packed comes back as it was.
    var isHexadecimal: Bool { self.bytes != nil }

    /// Half as long as the text where that is possible.
    var packed: [UInt8] { self.bytes ?? Array(self.text.utf8) }

    private var bytes: [UInt8]? {
        let digits = Array(self.text.utf8)
        guard !digits.isEmpty, !digits.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 }) else {
            return nil
        }
        return Hex.decode(digits)
    }

    init(packed: some Sequence<UInt8>, isHexadecimal: Bool) {
        self.text = isHexadecimal ? Hex.encode(packed) : String(decoding: Array(packed), as: UTF8.self)
    }
}

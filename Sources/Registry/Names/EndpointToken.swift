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

    /// Whether `packed` holds bytes for pairs of digits.
    var isHexadecimal: Bool {
        !self.text.isEmpty && self.text.utf8.count.isMultiple(of: 2)
            && self.text.utf8.allSatisfy { Self.value($0) != nil }
    }

    /// Half as long as the text where that is possible.
    var packed: [UInt8] {
        let digits = Array(self.text.utf8)
        guard self.isHexadecimal else { return digits }
        return stride(from: 0, to: digits.count, by: 2).map { index in
            (Self.value(digits[index]) ?? 0) << 4 | (Self.value(digits[index + 1]) ?? 0)
        }
    }

    init(packed: some Sequence<UInt8>, isHexadecimal: Bool) {
        guard isHexadecimal else {
            self.text = String(decoding: Array(packed), as: UTF8.self)
            return
        }
        let digits = Array("0123456789abcdef".utf8)
        let text = packed.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// Lower case only: what is packed comes back as it was.
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// Where a text stopped being JSON, and why.
package struct JSONFault: Error, Equatable, Sendable {
    /// What was wrong. Closed: every refusal of the scanner is one of these.
    package enum Kind: Sendable, CaseIterable {
        /// The text ended inside a value, or held none.
        case unexpectedEnd
        /// A byte that the grammar does not allow here.
        case unexpectedByte
        /// A raw byte below 0x20 inside a string.
        case controlCharacter
        /// A backslash followed by something that is no escape.
        case badEscape
        /// A `\u` escape for half of a surrogate pair.
        case loneSurrogate
        /// A byte sequence that is not UTF-8: overlong, surrogate, above U+10FFFF or cut short.
        case invalidUTF8
        /// Digits in a shape RFC 8259 §6 does not allow, such as `01`, `1.` or `+1`.
        case badNumber
        /// A number too large for binary64, such as `1e999`. RFC 8259 §6 lets a reader set this limit.
        case numberOutOfRange
        /// Arrays and objects nested more than ``JSONScanner/depthLimit`` deep.
        case tooDeep
        /// Something other than white space after the value.
        case trailingBytes
        /// U+FEFF at the start. RFC 8259 §8.1 forbids senders to write it.
        case byteOrderMark
    }

    package var kind: Kind

    /// Bytes from the start of the text.
    package var offset: Int

    package init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// A clause that completes "the body is not JSON: …".
    package var phrase: String {
        let what =
            switch self.kind {
            case .unexpectedEnd: "the text ends too early"
            case .unexpectedByte: "unexpected character"
            case .controlCharacter: "raw control character in a string, write it as an escape"
            case .badEscape: "invalid escape in a string"
            case .loneSurrogate: "unpaired surrogate escape in a string"
            case .invalidUTF8: "invalid UTF-8"
            case .badNumber: "malformed number"
            case .numberOutOfRange: "number too large for a 64-bit float"
            case .tooDeep: "nested more than \(JSONScanner.depthLimit) deep"
            case .trailingBytes: "something follows the closing brace"
            case .byteOrderMark: "remove the byte order mark"
            }
        return "\(what) at byte \(self.offset)"
    }
}

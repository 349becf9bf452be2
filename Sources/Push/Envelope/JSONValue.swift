/// One scanned value: its kind and the bytes it spans.
package struct JSONValue: Equatable, Sendable {
    package enum Kind: Sendable {
        case object, array, string, number, bool, null

        /// The kind with its article, for a sentence such as "it is a number".
        package var phrase: String {
            switch self {
            case .object: "an object"
            case .array: "an array"
            case .string: "a string"
            case .number: "a number"
            case .bool: "a boolean"
            case .null: "null"
            }
        }
    }

    package var kind: Kind

    /// From the first to past the last byte; for a string with both quotes.
    package var range: Range<Int>

    /// Whether a string contains a backslash, so that its bytes are not its text.
    package var hasEscapes: Bool = false

    /// The bytes between the quotes of a string.
    package var content: Range<Int> { self.range.lowerBound + 1..<self.range.upperBound - 1 }
}

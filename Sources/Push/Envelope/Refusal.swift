/// Why a message is not accepted, in words its publisher can act on.
package struct Refusal: Error, Equatable, Sendable {
    /// Bytes that `detail` may have, so that it fits a header and a log line.
    package static let detailLimit = 300

    package let reason: DeadLetterReason

    /// The key at fault, if one is: a contract key, or the unknown one made printable.
    package let field: String?

    /// One English sentence that names the field and the fix. No control characters, never a whole device token.
    package let detail: String

    package init(_ reason: DeadLetterReason, field: String? = nil, _ detail: String) {
        self.reason = reason
        self.field = field
        if detail.utf8.count <= Self.detailLimit {
            self.detail = detail
        } else {
            var cut = detail
            while cut.utf8.count > Self.detailLimit - 3 { cut.removeLast() }
            self.detail = cut + "..."
        }
    }

    init(_ fault: JSONFault) {
        self.init(
            fault.kind == .invalidUTF8 ? .invalidUTF8 : .invalidJSON,
            fault.kind == .invalidUTF8
                ? "The body is not UTF-8: \(fault.phrase)."
                : "The body is not valid JSON: \(fault.phrase)."
        )
    }

    static func field(_ field: EnvelopeField, _ detail: String) -> Self {
        Refusal(.invalidField, field: field.rawValue, detail)
    }

    static func wrongKind(_ field: EnvelopeField, wants: String, has kind: JSONValue.Kind) -> Self {
        let fix = kind == .null ? "leave the key out instead" : "it is \(kind.phrase)"
        return Self.field(field, "\"\(field.rawValue)\" must be \(wants); \(fix).")
    }
}

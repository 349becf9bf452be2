/// The name of a header field, with how its values may enter the peer's HPACK table.
package struct HeaderName: Sendable {
    /// What the encoder may remember (RFC 7541 §6.2).
    package enum Indexing: Sendable {
        /// Name and value enter the table: for values that repeat.
        case full
        /// The name enters the table with the first request of a connection, values never do: for values that differ
        /// each time, such as `apns-id`. Keeps them from driving the useful entries out.
        case nameOnly
        /// Nothing enters the table.
        case none
    }

    let text: StaticString
    let indexing: Indexing
    let statics: Range<UInt8>

    /// - Parameter text: in lower case; pseudo-headers with their colon.
    package init(_ text: StaticString, _ indexing: Indexing = .full) {
        precondition(text.hasPointerRepresentation && text.utf8CodeUnitCount > 0, "a header name is text")
        self.text = text
        self.indexing = indexing
        self.statics = StaticTable.entries(named: text)
    }
}

/// One field of a `HeaderBlock`; its name and value lie in memory that is the block's or lives for ever.
struct HeaderField {
    var name: UnsafePointer<UInt8>
    let nameSize: Int
    var value: UnsafePointer<UInt8>
    let valueSize: Int
    let indexing: HeaderName.Indexing
    /// Where the name stands in HPACK's static table, with the values it has there; empty if it does not.
    let statics: Range<UInt8>
    /// The name lies in the block's text, before the value.
    let ownsName: Bool
}

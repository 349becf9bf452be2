/// The id of a broadcast channel: base64 text that Apple gives at the channel's creation, taken as it is.
///
/// Nobody promises its length, so none is assumed; it is a header's value, so it has a limit and is visible ASCII.
package enum ChannelID {
    /// Whether the bytes may stand in `apns-channel-id`: 1 to 256 characters of base64 in either alphabet (RFC 4648 §4
    /// and §5).
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        Contract.channelBytes.contains(bytes.count) && bytes.allSatisfy(Self.allows)
    }

    /// Whether `text` is one; for what people type.
    package static func isValid(_ text: String) -> Bool {
        Contract.channelBytes.contains(text.utf8.count) && text.utf8.allSatisfy(Self.allows)
    }

    private static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

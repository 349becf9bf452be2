/// A complete response. Its bytes are valid only during the call that hands it over.
package struct HTTP2Response {
    /// 200 … 599; informational responses are not reported.
    package let status: Int
    /// At most `HTTP2Client.Settings.maxResponseBody` bytes.
    package let body: UnsafeRawBufferPointer
    /// From `submit` to the end of the response.
    package let elapsed: Duration
    /// Records of one byte (which name), two bytes (length, native order) and the value.
    let kept: UnsafeRawBufferPointer

    /// The value of a header named in `HTTP2Client.Settings.keptHeaders`, by its position there; nil if it did not
    /// come, the first if it came more than once.
    package func header(_ position: Int) -> UnsafeRawBufferPointer? {
        var offset = 0
        while offset < self.kept.count {
            let length = Int(self.kept.loadUnaligned(fromByteOffset: offset + 1, as: UInt16.self))
            let start = offset + 3
            if self.kept[offset] == UInt8(position) {
                return UnsafeRawBufferPointer(rebasing: self.kept[start..<start + length])
            }
            offset = start + length
        }
        return nil
    }
}

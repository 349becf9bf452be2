/// What a request or a response carries: a part of a byte array, which is kept until it is sent, not copied.
package struct Body {
    package let bytes: [UInt8]
    package let range: Range<Int>

    /// - Precondition: `range` lies within `bytes`.
    package init(_ bytes: [UInt8], _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a body outside its bytes")
        self.bytes = bytes
        self.range = range
    }

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.range = 0..<bytes.count
    }

    /// Nothing: the stream ends with its headers.
    package static let none = Body([])
}

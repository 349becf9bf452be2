/// What a request or a response carries: a part of a byte array, which is kept until it is sent, not copied.
package struct Body {
    package let bytes: [UInt8]
    /// What of the bytes is still to be sent.
    package private(set) var range: Range<Int>

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

    /// Takes away the first bytes, as many as there are and fit.
    /// - Returns: how many those are.
    mutating func moveFirst(_ room: Int, to buffer: UnsafeMutablePointer<UInt8>) -> Int {
        let taken = self.range.prefix(room)
        self.bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, !taken.isEmpty else { return }
            buffer.update(from: start + taken.lowerBound, count: taken.count)
        }
        self.range = taken.upperBound..<self.range.upperBound
        return taken.count
    }

    /// Takes the first `count` bytes away, which are there, and gives them to `use`.
    mutating func takeFirst(_ count: Int, _ use: (UnsafeRawBufferPointer) -> Void) {
        let end = self.range.lowerBound + count
        self.bytes.withUnsafeBytes { use(UnsafeRawBufferPointer(rebasing: $0[self.range.lowerBound..<end])) }
        self.range = end..<self.range.upperBound
    }
}

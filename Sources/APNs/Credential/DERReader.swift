/// Reads DER (ITU-T X.690) element by element: just what Apple's certificate extensions are made of.
struct DERReader {
    /// The tags that occur there.
    enum Tag: UInt8 {
        case utf8String = 0x0c
        case sequence = 0x30
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        self.rest = Array(bytes)[...]
    }

    /// Whether all has been read.
    var isAtEnd: Bool { self.rest.isEmpty }

    /// The content of the next element; nil if it is of another kind, or cut off.
    mutating func next(_ tag: Tag) -> ArraySlice<UInt8>? {
        guard self.rest.first == tag.rawValue, let (length, start) = Self.length(in: self.rest.dropFirst()) else {
            return nil
        }
        guard length <= self.rest.endIndex - start else { return nil }
        defer { self.rest = self.rest[(start + length)...] }
        return self.rest[start..<(start + length)]
    }

    /// The next element as text.
    mutating func nextText() -> String? {
        self.next(.utf8String).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// X.690 §8.1.3: one byte, or a count of bytes and then those. An extension needs no more than three of them.
    private static func length(in bytes: ArraySlice<UInt8>) -> (length: Int, start: Int)? {
        guard let first = bytes.first else { return nil }
        let after = bytes.dropFirst()
        guard first & 0x80 != 0 else { return (Int(first), after.startIndex) }
        let count = Int(first & 0x7f)
        guard (1...3).contains(count), after.count >= count else { return nil }
        let length = after.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        return (length, after.startIndex + count)
    }
}

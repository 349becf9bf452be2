internal import Push

/// Takes apart what a ``TrailPen`` has written, or anything else that stands there: nothing is trusted.
struct TrailBytes {
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { self.at == self.bytes.count }

    mutating func byte() throws(Malformed) -> UInt8 {
        guard self.at < self.bytes.count else { throw Malformed() }
        defer { self.at += 1 }
        return self.bytes[self.at]
    }

    /// Little-endian.
    mutating func integer(bytes count: Int) throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<count { value |= UInt64(try self.byte()) << UInt64(8 * place) }
        return value
    }

    mutating func number() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<10 {
            let byte = try self.byte()
            guard place < 9 || byte < 2 else { throw Malformed() }
            value |= UInt64(byte & 0x7f) << UInt64(7 * place)
            if byte & 0x80 == 0 { return value }
        }
        throw Malformed()
    }

    /// A number that is a count or an offset: more than four bytes would hold is none of ours.
    mutating func count() throws(Malformed) -> Int {
        let value = try self.number()
        guard value <= UInt64(UInt32.max) else { throw Malformed() }
        return Int(value)
    }

    mutating func signed() throws(Malformed) -> Int64 {
        let value = try self.number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func take(_ count: Int) throws(Malformed) -> [UInt8] {
        guard count <= self.bytes.count - self.at else { throw Malformed() }
        defer { self.at += count }
        return Array(self.bytes[self.at..<self.at + count])
    }
}

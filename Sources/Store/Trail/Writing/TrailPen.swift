internal import Push

/// Writes into memory that has room for it.
struct TrailPen {
    let start: UnsafeMutableRawPointer
    private(set) var count: Int

    init(_ start: UnsafeMutableRawPointer, at count: Int) {
        self.start = start
        self.count = count
    }

    mutating func byte(_ value: UInt8) {
        self.start.storeBytes(of: value, toByteOffset: self.count, as: UInt8.self)
        self.count += 1
    }

    /// Changes a byte that was written before.
    func set(_ value: UInt8, at place: Int) {
        self.start.storeBytes(of: value, toByteOffset: place, as: UInt8.self)
    }

    mutating func word(_ value: UInt32) {
        self.start.storeBytes(of: value.littleEndian, toByteOffset: self.count, as: UInt32.self)
        self.count += 4
    }

    mutating func long(_ value: UInt64) {
        self.start.storeBytes(of: value.littleEndian, toByteOffset: self.count, as: UInt64.self)
        self.count += 8
    }

    /// The six lower bytes; two more may be overwritten.
    mutating func short(_ value: UInt64) {
        self.start.storeBytes(of: value.littleEndian, toByteOffset: self.count, as: UInt64.self)
        self.count += 6
    }

    /// Seven bits at a time, the lowest first; the top bit says that there are more.
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.byte(UInt8(truncatingIfNeeded: rest))
    }

    /// The sign stands in the lowest bit.
    mutating func signed(_ value: Int64) {
        self.number(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        (self.start + self.count).copyMemory(from: base, byteCount: bytes.count)
        self.count += bytes.count
    }

    // MARK: Message ids

    /// As short as it can be.
    mutating func id(_ id: UnsafeRawBufferPointer, hash: UInt64) -> TrailIDKind {
        if id.count == 36, self.uuid(id) { return .uuid }
        if id.count == 41, Self.isBody(id), self.uuid(UnsafeRawBufferPointer(rebasing: id[5...])) { return .body }
        if id.count <= TrailFormat.longestID {
            self.byte(UInt8(id.count))
            self.bytes(id)
            return .text
        }
        self.long(hash)
        self.bytes(UnsafeRawBufferPointer(rebasing: id[..<TrailFormat.keptOfLongID]))
        return .long
    }

    private static func isBody(_ id: UnsafeRawBufferPointer) -> Bool {
        id[0] == UInt8(ascii: "b") && id[1] == UInt8(ascii: "o") && id[2] == UInt8(ascii: "d")
            && id[3] == UInt8(ascii: "y") && id[4] == UInt8(ascii: "-")
    }

    /// Writes nothing if it is none in lower case.
    private mutating func uuid(_ text: UnsafeRawBufferPointer) -> Bool {
        let dash = UInt8(ascii: "-")
        guard text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else { return false }
        var place = 0
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { place += 1 }
            let (high, low) = (Self.digit(text[place]), Self.digit(text[place + 1]))
            guard high | low < 16 else { return false }
            self.set(high << 4 | low, at: self.count + index)
            place += 2
        }
        self.count += 16
        return true
    }

    /// A lower-case hexadecimal digit's value, or 255.
    private static func digit(_ byte: UInt8) -> UInt8 {
        let digit = byte &- 0x30
        if digit < 10 { return digit }
        let letter = byte &- 0x61
        return letter < 6 ? letter + 10 : 255
    }
}

extension JSONScanner {
    /// Reads past the string at the cursor, which stands on its opening quote; tells whether it has escapes.
    ///
    /// Plain ASCII goes eight bytes at a time: one word operation finds a quote, a backslash, a control character or
    /// a byte of a longer UTF-8 sequence.
    mutating func string() throws(JSONFault) -> Bool {
        var at = self.position + 1
        var escapes = false
        while true {
            while at + 8 <= self.count {
                let word = self.base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                let special = Self.specialBytes(UInt64(littleEndian: word))
                if special == 0 {
                    at += 8
                } else {
                    at += special.trailingZeroBitCount >> 3
                    break
                }
            }
            guard at < self.count else { throw JSONFault(.unexpectedEnd, at: self.count) }
            let byte = self.byte(at)
            if byte == UInt8(ascii: "\"") {
                self.position = at + 1
                return escapes
            } else if byte == UInt8(ascii: "\\") {
                escapes = true
                at = try self.escape(at)
            } else if byte >= 0x80 {
                repeat { at = try self.sequence(at) } while at < self.count && self.byte(at) >= 0x80
            } else if byte < 0x20 {
                throw JSONFault(.controlCharacter, at: at)
            } else {
                at += 1
            }
        }
    }

    /// A word whose lowest set bit marks the first byte of `word` that is not plain string text. Higher bits may be
    /// wrong: a borrow runs upward from a true hit.
    @inline(__always)
    static func specialBytes(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let hits = (word &- ones &* 0x20) | (quote &- ones) | (backslash &- ones)
        return (hits | word) & (ones &* 0x80)
    }

    /// The end of the escape whose backslash is at `start`.
    private func escape(_ start: Int) throws(JSONFault) -> Int {
        guard start + 1 < self.count else { throw JSONFault(.unexpectedEnd, at: self.count) }
        switch self.byte(start + 1) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            let unit = try self.codeUnit(start)
            guard unit & 0xF800 == 0xD800 else { return start + 6 }
            guard unit < 0xDC00, start + 7 < self.count, self.byte(start + 6) == UInt8(ascii: "\\"),
                self.byte(start + 7) == UInt8(ascii: "u")
            else { throw JSONFault(.loneSurrogate, at: start) }
            guard try self.codeUnit(start + 6) & 0xFC00 == 0xDC00 else { throw JSONFault(.loneSurrogate, at: start) }
            return start + 12
        default:
            throw JSONFault(.badEscape, at: start)
        }
    }

    /// The UTF-16 code unit of the `\uXXXX` at `start`.
    private func codeUnit(_ start: Int) throws(JSONFault) -> UInt16 {
        guard start + 6 <= self.count else { throw JSONFault(.unexpectedEnd, at: self.count) }
        var unit: UInt16 = 0
        for offset in start + 2..<start + 6 {
            guard let digit = Hex.value(self.byte(offset)) else { throw JSONFault(.badEscape, at: start) }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// The end of the multi-byte UTF-8 sequence at `start`, by table 3-7 of the Unicode standard.
    @inline(__always)
    private func sequence(_ start: Int) throws(JSONFault) -> Int {
        let lead = self.byte(start)
        let length: Int
        var low: UInt8 = 0x80
        var high: UInt8 = 0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, low) = (3, 0xA0)
        case 0xED: (length, high) = (3, 0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, low) = (4, 0x90)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, high) = (4, 0x8F)
        default: throw JSONFault(.invalidUTF8, at: start)
        }
        guard start + length <= self.count else { throw JSONFault(.invalidUTF8, at: start) }
        let second = self.byte(start + 1)
        guard low <= second, second <= high else { throw JSONFault(.invalidUTF8, at: start) }
        for offset in start + 2..<start + length {
            guard self.byte(offset) & 0xC0 == 0x80 else { throw JSONFault(.invalidUTF8, at: start) }
        }
        return start + length
    }

    /// The text of a string with its escapes resolved, as UTF-8.
    ///
    /// - Parameter content: the bytes between the quotes of a string that this scanner has accepted.
    package func unescaped(_ content: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var at = content.lowerBound
        while at < content.upperBound {
            let byte = self.byte(at)
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                at += 1
                continue
            }
            let escape = self.byte(at + 1)
            at += 2
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = UInt32(self.acceptedUnit(at))
                at += 4
                if scalar & 0xFC00 == 0xD800 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + (UInt32(self.acceptedUnit(at + 2)) & 0x3FF)
                    at += 6
                }
                guard let scalar = Unicode.Scalar(scalar) else {
                    preconditionFailure("unescaped() needs a string that the scanner has accepted")
                }
                text.append(contentsOf: Unicode.UTF8.encode(scalar)!)
            default: text.append(escape)
            }
        }
        return text
    }

    func acceptedUnit(_ digits: Int) -> UInt16 {
        (digits..<digits + 4).reduce(0) { $0 << 4 | UInt16(Hex.value(self.byte($1)) ?? 0) }
    }
}

extension JSONScanner {
    /// A copy of the bytes in `range`, for messages about them.
    package func bytes(_ range: Range<Int>) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: self.base + range.lowerBound, count: range.count))
    }

    /// Reads past a string of an even number of hexadecimal digits and gives the digits back.
    ///
    /// Nil, with the cursor unmoved, for any other value; it has then to be read as what it is.
    mutating func hexString(_ digits: ClosedRange<Int>) -> Range<Int>? {
        let start = self.position + 1
        guard start < self.count, self.byte(self.position) == UInt8(ascii: "\"") else { return nil }
        let window = min(self.count - start, digits.upperBound + 1)
        let count = Hex.prefixLength(UnsafeRawBufferPointer(start: self.base + start, count: window))
        guard digits.contains(count), count & 1 == 0, count < window, self.byte(start + count) == UInt8(ascii: "\"")
        else { return nil }
        self.position = start + count + 1
        return start..<start + count
    }
}

extension JSONScanner {
    /// Reads past the number, `true`, `false` or `null` at the cursor.
    mutating func scalar() throws(JSONFault) -> JSONValue.Kind {
        guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
        switch self.byte(self.position) {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try self.number()
            return .number
        case UInt8(ascii: "t"):
            try self.word("true")
            return .bool
        case UInt8(ascii: "f"):
            try self.word("false")
            return .bool
        case UInt8(ascii: "n"):
            try self.word("null")
            return .null
        case UInt8(ascii: "+"), UInt8(ascii: "."):
            throw JSONFault(.badNumber, at: self.position)
        case 0x80...:
            // Tells a text in another encoding from a mere typing error.
            throw JSONFault(.invalidUTF8, at: self.position)
        default:
            throw JSONFault(.unexpectedByte, at: self.position)
        }
    }

    private mutating func word(_ text: StaticString) throws(JSONFault) {
        guard self.position + text.utf8CodeUnitCount <= self.count else {
            throw JSONFault(.unexpectedByte, at: self.position)
        }
        for offset in 0..<text.utf8CodeUnitCount
        where self.byte(self.position + offset) != text.utf8Start[offset] {
            throw JSONFault(.unexpectedByte, at: self.position)
        }
        self.position += text.utf8CodeUnitCount
    }

    @inline(__always)
    private func digits(from start: Int) -> Int {
        var at = start
        while at < self.count, self.byte(at) &- 0x30 < 10 { at += 1 }
        return at
    }

    private mutating func number() throws(JSONFault) {
        let start = self.position
        var at = start
        if self.byte(at) == UInt8(ascii: "-") { at += 1 }
        let whole = at
        at = self.digits(from: whole)
        guard at > whole else { throw JSONFault(.badNumber, at: start) }
        guard at == whole + 1 || self.byte(whole) != 0x30 else { throw JSONFault(.badNumber, at: start) }
        let wholeEnd = at

        var fraction = at..<at
        if at < self.count, self.byte(at) == UInt8(ascii: ".") {
            fraction = at + 1..<self.digits(from: at + 1)
            guard !fraction.isEmpty else { throw JSONFault(.badNumber, at: start) }
            at = fraction.upperBound
        }
        var exponent = 0
        if at < self.count, self.byte(at) | 0x20 == UInt8(ascii: "e") {
            at += 1
            var negative = false
            if at < self.count, self.byte(at) == UInt8(ascii: "-") || self.byte(at) == UInt8(ascii: "+") {
                negative = self.byte(at) == UInt8(ascii: "-")
                at += 1
            }
            let end = self.digits(from: at)
            guard end > at else { throw JSONFault(.badNumber, at: start) }
            for offset in at..<end where exponent < 1_000_000_000 {
                exponent = exponent * 10 + Int(self.byte(offset) - 0x30)
            }
            if negative { exponent = -exponent }
            at = end
        }
        self.position = at
        if exponent > 0 || wholeEnd - whole > 300 {
            guard self.fitsBinary64(whole..<wholeEnd, fraction, exponent) else {
                throw JSONFault(.numberOutOfRange, at: start)
            }
        }
    }

    /// Whether whole.fraction × 10^exponent rounds to a finite binary64.
    ///
    /// It does below 2^1024 − 2^970, which is 1.7976931348623158079…e308: twenty digits decide.
    private func fitsBinary64(_ whole: Range<Int>, _ fraction: Range<Int>, _ exponent: Int) -> Bool {
        // The first significant digit and the power of ten it stands for.
        var magnitude = exponent
        var first: Int
        if self.byte(whole.lowerBound) != 0x30 {
            magnitude += whole.count - 1
            first = whole.lowerBound
        } else {
            first = fraction.lowerBound
            while first < fraction.upperBound, self.byte(first) == 0x30 { first += 1 }
            guard first < fraction.upperBound else { return true }
            magnitude -= first - fraction.lowerBound + 1
        }
        guard magnitude >= 308 else { return true }
        guard magnitude == 308 else { return false }
        let end = max(whole.upperBound, fraction.upperBound)
        var leading: UInt64 = 0
        var taken = 0
        var at = first
        while taken < 20 {
            var digit: UInt64 = 0
            if at < end, self.byte(at) == UInt8(ascii: ".") { at += 1 }
            if at < end { digit = UInt64(self.byte(at) - 0x30) }
            let (scaled, overflow) = leading.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(digit)
            if overflow || carry { return false }
            leading = sum
            taken += 1
            at += 1
        }
        return leading <= 17_976_931_348_623_158_079
    }

    /// The value of a number written as plain digits with an optional minus sign, of at most 18 digits.
    ///
    /// Nil for anything with a fraction or an exponent, however whole its value.
    package func integer(_ range: Range<Int>) -> Int64? {
        var digits = range
        let negative = self.byte(range.lowerBound) == UInt8(ascii: "-")
        if negative { digits = range.lowerBound + 1..<range.upperBound }
        guard digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for offset in digits {
            let digit = self.byte(offset) &- 0x30
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return negative ? -value : value
    }

    /// Whether the bytes in `range` are exactly `text`. Inlined, so that a literal becomes constants.
    @inline(__always)
    package func equals(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount
        where self.byte(range.lowerBound + offset) != text.utf8Start[offset] {
            return false
        }
        return true
    }
}

/// Reads JSON where it lies: checks the grammar of RFC 8259 and the UTF-8 in it, and gives byte ranges back.
///
/// It allocates nothing, builds no tree and does not recurse, so hostile nesting costs no stack. Objects and arrays
/// can be walked member by member (`openObject`, `nextKey`) or passed over whole (`value`), checked either way.
///
/// It gives the same verdict as Foundation's `JSONSerialization`, lone surrogate escapes and numbers beyond binary64
/// included, with these differences, all of them deliberate:
/// * UTF-8 only. UTF-16, UTF-32 and a byte order mark are refused.
/// * A comma before a closing brace is refused, as RFC 8259 has it; Foundation lets it pass.
/// * Nesting stops at ``depthLimit``; Foundation stops at 512.
/// * Duplicate keys are the caller's business. The envelope refuses them at its top level.
///
/// The memory belongs to the caller and must outlive the scanner.
package struct JSONScanner {
    /// How deep objects and arrays may nest. One bit per level fits one word.
    package static let depthLimit = 64

    let base: UnsafeRawPointer
    let count: Int

    /// The next byte to read.
    package var position = 0

    /// Containers that `openObject` and `openArray` have entered and not left.
    private var opened = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address; with a count of zero it is never read.
        self.base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
        self.count = bytes.count
    }

    // MARK: Whole texts

    /// Checks that the text is one JSON value with nothing but white space around it.
    package mutating func document() throws(JSONFault) -> JSONValue {
        try self.start()
        let value = try self.value()
        try self.finish()
        return value
    }

    /// Skips to the first value, refusing a byte order mark.
    package mutating func start() throws(JSONFault) {
        if self.count >= 3, self.byte(0) == 0xEF, self.byte(1) == 0xBB, self.byte(2) == 0xBF {
            throw JSONFault(.byteOrderMark, at: 0)
        }
        self.skipWhitespace()
    }

    /// Checks that nothing but white space is left.
    package mutating func finish() throws(JSONFault) {
        self.skipWhitespace()
        guard self.position == self.count else { throw JSONFault(.trailingBytes, at: self.position) }
    }

    // MARK: Walking

    /// Enters the object at the cursor.
    package mutating func openObject() throws(JSONFault) { try self.open(UInt8(ascii: "{")) }

    /// Enters the array at the cursor.
    package mutating func openArray() throws(JSONFault) { try self.open(UInt8(ascii: "[")) }

    /// Moves to the next member and past its colon; nil at the closing brace, which is consumed.
    ///
    /// - Parameter first: whether this is the first call after `openObject`.
    package mutating func nextKey(first: Bool) throws(JSONFault) -> JSONValue? {
        guard try self.step(first: first, close: UInt8(ascii: "}")) else { return nil }
        let start = self.position
        let escapes = try self.key()
        return JSONValue(kind: .string, range: start..<self.keyEnd, hasEscapes: escapes)
    }

    /// Moves to the next element; false at the closing bracket, which is consumed.
    ///
    /// - Parameter first: whether this is the first call after `openArray`.
    package mutating func nextElement(first: Bool) throws(JSONFault) -> Bool {
        try self.step(first: first, close: UInt8(ascii: "]"))
    }

    /// Reads past the value at the cursor, whatever it is, and everything inside it.
    package mutating func value() throws(JSONFault) -> JSONValue {
        let start = self.position
        guard start < self.count else { throw JSONFault(.unexpectedEnd, at: start) }
        switch self.byte(start) {
        case UInt8(ascii: "\""):
            let escapes = try self.string()
            return JSONValue(kind: .string, range: start..<self.position, hasEscapes: escapes)
        case UInt8(ascii: "{"):
            try self.container()
            return JSONValue(kind: .object, range: start..<self.position)
        case UInt8(ascii: "["):
            try self.container()
            return JSONValue(kind: .array, range: start..<self.position)
        default:
            let kind = try self.scalar()
            return JSONValue(kind: kind, range: start..<self.position)
        }
    }

    /// Whether an object or an array begins at the cursor: true for an object, false for an array, nil for neither.
    package var opensObject: Bool? {
        guard self.position < self.count else { return nil }
        return switch self.byte(self.position) {
        case UInt8(ascii: "{"): true
        case UInt8(ascii: "["): false
        default: nil
        }
    }

    // MARK: Parts

    @inline(__always)
    func byte(_ offset: Int) -> UInt8 { self.base.load(fromByteOffset: offset, as: UInt8.self) }

    @inline(__always)
    package mutating func skipWhitespace() {
        var at = self.position
        while at < self.count {
            let byte = self.byte(at)
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
            at += 1
        }
        self.position = at
    }

    private mutating func open(_ brace: UInt8) throws(JSONFault) {
        guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
        guard self.byte(self.position) == brace else { throw JSONFault(.unexpectedByte, at: self.position) }
        guard self.opened < Self.depthLimit else { throw JSONFault(.tooDeep, at: self.position) }
        self.opened += 1
        self.position += 1
    }

    private mutating func step(first: Bool, close: UInt8) throws(JSONFault) -> Bool {
        self.skipWhitespace()
        guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
        let byte = self.byte(self.position)
        if byte == close {
            self.position += 1
            self.opened -= 1
            return false
        }
        if !first {
            guard byte == UInt8(ascii: ",") else { throw JSONFault(.unexpectedByte, at: self.position) }
            self.position += 1
            self.skipWhitespace()
        }
        return true
    }

    /// Past the closing quote of the key that `key()` read last; the cursor itself is past the colon.
    private var keyEnd = 0

    /// Reads a key, its colon and the white space around; tells whether the key has escapes.
    @inline(__always)
    private mutating func key() throws(JSONFault) -> Bool {
        guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
        guard self.byte(self.position) == UInt8(ascii: "\"") else {
            throw JSONFault(.unexpectedByte, at: self.position)
        }
        let escapes = try self.string()
        self.keyEnd = self.position
        self.skipWhitespace()
        guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
        guard self.byte(self.position) == UInt8(ascii: ":") else {
            throw JSONFault(.unexpectedByte, at: self.position)
        }
        self.position += 1
        self.skipWhitespace()
        return escapes
    }

    /// Reads past the object or array at the cursor. The kinds of the open levels are bits of one word.
    private mutating func container() throws(JSONFault) {
        let room = Self.depthLimit - self.opened
        var depth = 0
        var objects: UInt64 = 0
        while true {
            guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
            let byte = self.byte(self.position)
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                guard depth < room else { throw JSONFault(.tooDeep, at: self.position) }
                let isObject = byte == UInt8(ascii: "{")
                depth += 1
                objects = objects << 1 | (isObject ? 1 : 0)
                self.position += 1
                self.skipWhitespace()
                guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
                // In ASCII each closing brace is its opening one plus two.
                if self.byte(self.position) != byte + 2 {
                    if isObject { _ = try self.key() }
                    continue
                }
            } else {
                if byte == UInt8(ascii: "\"") { _ = try self.string() } else { _ = try self.scalar() }
                self.skipWhitespace()
            }
            // A value is finished, or the cursor stands on the closing brace of an empty container.
            while true {
                guard self.position < self.count else { throw JSONFault(.unexpectedEnd, at: self.position) }
                let byte = self.byte(self.position)
                let isObject = objects & 1 == 1
                if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    self.position += 1
                    depth -= 1
                    objects >>= 1
                    if depth == 0 { return }
                    self.skipWhitespace()
                } else if byte == UInt8(ascii: ",") {
                    self.position += 1
                    self.skipWhitespace()
                    if isObject { _ = try self.key() }
                    break
                } else {
                    throw JSONFault(.unexpectedByte, at: self.position)
                }
            }
        }
    }
}

/// What HTTP says of a response's shape (RFC 9113 §8): which header blocks may come in which order, with which fields,
/// and how much body. A response that breaks it is malformed, and nobody knows what the server did.
struct ResponseHead {
    private enum Part {
        /// A header block is open or awaited, and the final one has not come.
        case head
        /// Body, or trailers.
        case rest
    }

    /// 0 until a `:status` came.
    private(set) var status = 0
    private var part = Part.head
    private var hasPlainField = false
    private var isMalformed = false
    private var contentLength: Int?
    private var bodySize = 0
    private var listSize = 0

    /// Whether the fields that come now are the final response's, not an informational one's and not trailers.
    var isFinal: Bool { self.part == .head && self.status >= 200 }

    /// DATA may come.
    var takesBody: Bool { self.part == .rest }

    /// A header block begins.
    mutating func beginBlock(endsStream: Bool) {
        self.hasPlainField = false
        if self.part == .rest {
            if !endsStream { self.isMalformed = true }
        } else {
            self.status = 0
        }
    }

    /// - Returns: the size of all fields so far, as RFC 9113 §10.5.1 counts: 32 bytes more than each one's text.
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int {
        self.listSize += name.count + value.count + 32
        if name.first == UInt8(ascii: ":") {
            self.takeStatus(name, value)
        } else {
            self.hasPlainField = true
            if !FieldRules.isName(name) || !FieldRules.isValue(value) { self.isMalformed = true }
            if FieldRules.belongsToConnection(name, value) { self.isMalformed = true }
            if self.isFinal, FieldRules.isContentLength(name) { self.takeLength(value) }
        }
        return self.listSize
    }

    private mutating func takeStatus(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard self.part == .head, !self.hasPlainField, self.status == 0, value.count == 3,
            FieldRules.isStatus(name)
        else {
            self.isMalformed = true
            return
        }
        for digit in value {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else {
                self.isMalformed = true
                return
            }
            self.status = 10 * self.status + Int(digit - UInt8(ascii: "0"))
        }
    }

    private mutating func takeLength(_ value: UnsafeRawBufferPointer) {
        var length = 0
        for digit in value {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9"), length < 1 << 50 else {
                self.isMalformed = true
                return
            }
            length = 10 * length + Int(digit - UInt8(ascii: "0"))
        }
        if value.isEmpty || self.contentLength != nil { self.isMalformed = true }
        self.contentLength = length
    }

    /// A header block has ended.
    /// - Returns: whether all is well so far.
    mutating func endBlock(endsStream: Bool) -> Bool {
        guard !self.isMalformed else { return false }
        guard self.part == .head else { return self.endsWell }
        // 101 has no meaning in HTTP/2 (RFC 9113 §8.6).
        guard self.status >= 100, self.status != 101 else { return false }
        guard self.status >= 200 else { return !endsStream }
        self.part = .rest
        return !endsStream || self.endsWell
    }

    /// A part of the body arrived.
    /// - Returns: whether all is well so far.
    mutating func takeBody(_ size: Int, endsStream: Bool) -> Bool {
        self.bodySize += size
        if self.bodySize > 0, self.status == 204 || self.status == 304 { return false }
        if let contentLength = self.contentLength, self.bodySize > contentLength { return false }
        return !endsStream || self.endsWell
    }

    /// The body is as long as announced; 304 announces one that does not come (RFC 9110 §8.6).
    private var endsWell: Bool {
        self.contentLength == nil || self.contentLength == self.bodySize || self.status == 304
    }
}

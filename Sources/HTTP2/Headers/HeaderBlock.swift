internal import CNghttp2

/// The header fields of one request or response, in memory that is used again for the next one.
///
/// Its owner builds the fields that all its messages share once, remembers `count`, and for each message cuts back to
/// there and appends what differs. Nothing is allocated on the way once the block has grown to its size. A block may
/// be changed as soon as `submit` or `respond` has returned.
///
/// Pseudo-headers come before the others (RFC 9113 §8.3). `:scheme`, `:authority` and `:status` are not given here:
/// the connection adds them.
package final class HeaderBlock {
    /// Room for what the connection puts in front: `:scheme` and `:authority`, or `:status`.
    static let reserved = 2

    private var fields: UnsafeMutablePointer<nghttp2_nv>
    private var fieldCount = HeaderBlock.reserved
    private var fieldCapacity = 24
    /// Positions of fields whose name alone is to be indexed.
    private var nameOnly: [Int] = []
    private var text: UnsafeMutablePointer<UInt8>
    private var textCount = 0
    private var textCapacity = 2048

    package init() {
        self.fields = .allocate(capacity: self.fieldCapacity)
        self.fields.initialize(repeating: nghttp2_nv(), count: self.fieldCapacity)
        self.text = .allocate(capacity: self.textCapacity)
    }

    deinit {
        self.fields.deallocate()
        self.text.deallocate()
    }

    /// The number of fields.
    package var count: Int { self.fieldCount - Self.reserved }

    /// Drops the fields behind the first `count`.
    package func cut(to count: Int) {
        precondition(count >= 0 && count <= self.count, "a block cannot be cut to more than it has")
        guard count < self.count else { return }
        let first = self.fields[Self.reserved + count]
        // A copied name lies before its value; any other name lies elsewhere.
        let start = first.flags & UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue) == 0 ? first.name : first.value
        self.textCount = start! - self.text
        self.fieldCount = Self.reserved + count
        while let last = self.nameOnly.last, last >= self.fieldCount { self.nameOnly.removeLast() }
    }

    /// Drops all fields.
    package func removeAll() {
        self.cut(to: 0)
    }

    /// Appends a field; the value is copied.
    package func append(_ name: HeaderName, _ value: UnsafeRawBufferPointer) {
        var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
        if name.indexing != .full { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
        if name.indexing == .nameOnly { self.nameOnly.append(self.fieldCount) }
        let start = self.store(value, reserving: value.count)
        self.append(
            nghttp2_nv(
                // nghttp2 does not write through it.
                name: UnsafeMutablePointer(mutating: name.text.utf8Start),
                value: start,
                namelen: name.text.utf8CodeUnitCount,
                valuelen: value.count,
                flags: UInt8(flags)
            )
        )
    }

    /// Appends a field; the value is copied.
    package func append(_ name: HeaderName, _ value: StaticString) {
        self.append(name, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
    }

    /// Appends a field; the value is copied.
    package func append(_ name: HeaderName, _ value: [UInt8]) {
        value.withUnsafeBytes { self.append(name, $0) }
    }

    /// Appends a field; the value is copied.
    package func append(_ name: HeaderName, _ value: String) {
        var value = value
        value.withUTF8 { self.append(name, UnsafeRawBufferPointer($0)) }
    }

    /// Appends a decimal number.
    package func append(_ name: HeaderName, _ value: some BinaryInteger) {
        withUnsafeTemporaryAllocation(byteCount: 24, alignment: 1) { digits in
            var rest = Int64(clamping: value).magnitude
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            self.append(name, UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Appends a field whose name is known only at run time; both are copied, nothing is indexed.
    package func append(name: String, value: String) {
        var name = name
        var value = value
        let length = name.utf8.count
        let start = name.withUTF8 { self.store(UnsafeRawBufferPointer($0), reserving: length + value.utf8.count) }
        value.withUTF8 { _ = self.store(UnsafeRawBufferPointer($0), reserving: $0.count) }
        self.append(
            nghttp2_nv(
                name: start,
                value: start + length,
                namelen: length,
                valuelen: value.utf8.count,
                flags: UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
            )
        )
    }

    // MARK: Handing over

    /// - Parameters:
    ///   - front: how many of the reserved fields are used; `fill` sets them.
    ///   - teachesNames: whether names that are to be indexed without their values are sent so that they are.
    func withFields<Result>(
        front: Int,
        teachesNames: Bool,
        _ fill: (UnsafeMutablePointer<nghttp2_nv>) -> Void,
        _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
    ) -> Result {
        let start = self.fields + (Self.reserved - front)
        fill(start)
        if teachesNames { self.setNoIndex(false) }
        defer { if teachesNames { self.setNoIndex(true) } }
        return body(start, front + self.count)
    }

    private func setNoIndex(_ isSet: Bool) {
        let flag = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
        for position in self.nameOnly {
            if isSet { self.fields[position].flags |= flag } else { self.fields[position].flags &= ~flag }
        }
    }

    // MARK: Memory

    private func append(_ field: nghttp2_nv) {
        if self.fieldCount == self.fieldCapacity {
            let larger = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: 2 * self.fieldCapacity)
            larger.initialize(repeating: nghttp2_nv(), count: 2 * self.fieldCapacity)
            larger.update(from: self.fields, count: self.fieldCount)
            self.fields.deallocate()
            self.fields = larger
            self.fieldCapacity *= 2
        }
        self.fields[self.fieldCount] = field
        self.fieldCount += 1
    }

    /// Copies bytes behind the text and returns where they begin; at least `size` bytes from there on exist.
    private func store(_ bytes: UnsafeRawBufferPointer, reserving size: Int) -> UnsafeMutablePointer<UInt8> {
        if self.textCount + size > self.textCapacity { self.grow(by: size) }
        let start = self.text + self.textCount
        if let source = bytes.baseAddress {
            UnsafeMutableRawPointer(start).copyMemory(from: source, byteCount: bytes.count)
        }
        self.textCount += bytes.count
        return start
    }

    private func grow(by size: Int) {
        let capacity = max(2 * self.textCapacity, self.textCount + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: self.text, count: self.textCount)
        for position in Self.reserved..<self.fieldCount {
            let field = self.fields[position]
            self.fields[position].value = larger + (field.value - self.text)
            if field.flags & UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue) == 0 {
                self.fields[position].name = larger + (field.name - self.text)
            }
        }
        self.text.deallocate()
        self.text = larger
        self.textCapacity = capacity
    }
}

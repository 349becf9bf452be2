/// The header fields of one request or response, in memory that is used again for the next one.
///
/// Its owner builds the fields that all its messages share once, remembers `count`, and for each message cuts back to
/// there and appends what differs. Nothing is allocated on the way once the block has grown to its size. A block may
/// be changed as soon as `submit` or `respond` has returned.
///
/// Pseudo-headers come before the others (RFC 9113 §8.3). `:scheme`, `:authority` and `:status` are not given here:
/// the connection adds them.
package final class HeaderBlock {
    private var fields: UnsafeMutablePointer<HeaderField>
    private var fieldCapacity = 16
    private var text: UnsafeMutablePointer<UInt8>
    private var textCount = 0
    private var textCapacity = 1024

    /// The number of fields.
    package private(set) var count = 0

    package init() {
        self.fields = .allocate(capacity: self.fieldCapacity)
        self.text = .allocate(capacity: self.textCapacity)
    }

    deinit {
        self.fields.deallocate()
        self.text.deallocate()
    }

    /// Another block with the same fields.
    func copy() -> HeaderBlock {
        let copy = HeaderBlock()
        for position in 0..<self.count {
            var field = self.fields[position]
            let size = (field.ownsName ? field.nameSize : 0) + field.valueSize
            let from = UnsafeRawBufferPointer(start: field.ownsName ? field.name : field.value, count: size)
            let start = copy.store(from, reserving: size)
            if field.ownsName { field.name = UnsafePointer(start) }
            field.value = UnsafePointer(start + size - field.valueSize)
            copy.append(field)
        }
        return copy
    }

    /// The fields, until the block is changed.
    var all: UnsafeBufferPointer<HeaderField> { UnsafeBufferPointer(start: self.fields, count: self.count) }

    /// Drops the fields behind the first `count`.
    package func cut(to count: Int) {
        precondition(count >= 0 && count <= self.count, "a block cannot be cut to more than it has")
        guard count < self.count else { return }
        let first = self.fields[count]
        self.textCount = (first.ownsName ? first.name : first.value) - UnsafePointer(self.text)
        self.count = count
    }

    /// Drops all fields.
    package func removeAll() {
        self.cut(to: 0)
    }

    /// Appends a field; the value is copied.
    package func append(_ name: HeaderName, _ value: UnsafeRawBufferPointer) {
        let start = self.store(value, reserving: value.count)
        self.append(
            HeaderField(
                name: name.text.utf8Start,
                nameSize: name.text.utf8CodeUnitCount,
                value: start,
                valueSize: value.count,
                indexing: name.indexing,
                statics: name.statics,
                ownsName: false
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
    package func append(_ name: HeaderName, _ value: Int) {
        withUnsafeTemporaryAllocation(byteCount: 24, alignment: 1) { digits in
            var rest = value.magnitude
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
        // RFC 9113 §8.2.1: names are in lower case.
        var name = name.lowercased()
        var value = value
        let length = name.utf8.count
        let start = name.withUTF8 { self.store(UnsafeRawBufferPointer($0), reserving: length + value.utf8.count) }
        value.withUTF8 { _ = self.store(UnsafeRawBufferPointer($0), reserving: $0.count) }
        self.append(
            HeaderField(
                name: start,
                nameSize: length,
                value: start + length,
                valueSize: value.utf8.count,
                indexing: .none,
                statics: 0..<0,
                ownsName: true
            )
        )
    }

    // MARK: Memory

    private func append(_ field: HeaderField) {
        if self.count == self.fieldCapacity {
            let larger = UnsafeMutablePointer<HeaderField>.allocate(capacity: 2 * self.fieldCapacity)
            larger.update(from: self.fields, count: self.count)
            self.fields.deallocate()
            self.fields = larger
            self.fieldCapacity *= 2
        }
        self.fields[self.count] = field
        self.count += 1
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
        let old = UnsafePointer(self.text)
        for position in 0..<self.count {
            self.fields[position].value = UnsafePointer(larger + (self.fields[position].value - old))
            guard self.fields[position].ownsName else { continue }
            self.fields[position].name = UnsafePointer(larger + (self.fields[position].name - old))
        }
        self.text.deallocate()
        self.text = larger
        self.textCapacity = capacity
    }
}

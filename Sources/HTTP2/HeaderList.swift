internal import CNghttp2

/// Header fields of one request or response, in one flat buffer that is used again and again.
///
/// A list usually has a part that stays the same for many requests; `count` marks it, and `removeAll(after:)` returns
/// to it. Names must be lower case (RFC 9113 §8.2).
package struct HeaderList: Sendable {
    /// How HPACK treats a field (RFC 7541 §6.2).
    package enum Indexing: UInt8, Sendable {
        /// May enter the dynamic table: values that repeat on a connection.
        case incremental
        /// Never enters it: values that are new in every request.
        case never
    }

    struct Field {
        var start: UInt32
        var nameLength: UInt16
        var valueLength: UInt16
        var indexing: Indexing
    }

    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    package init() {}

    /// How many fields there are.
    package var count: Int { self.fields.count }

    package mutating func append(_ name: StaticString, _ value: some Collection<UInt8>, _ indexing: Indexing) {
        self.append(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value, indexing)
    }

    package mutating func append(_ name: StaticString, _ value: String, _ indexing: Indexing) {
        self.append(name, value.utf8, indexing)
    }

    package mutating func append(
        _ name: some Collection<UInt8>,
        _ value: some Collection<UInt8>,
        _ indexing: Indexing
    ) {
        self.fields.append(
            Field(
                start: UInt32(self.bytes.count),
                nameLength: UInt16(name.count),
                valueLength: UInt16(value.count),
                indexing: indexing
            )
        )
        self.bytes.append(contentsOf: name)
        self.bytes.append(contentsOf: value)
    }

    /// Drops all fields but the first `count`.
    package mutating func removeAll(after count: Int = 0) {
        guard count < self.fields.count else { return }
        self.bytes.removeLast(self.bytes.count - Int(self.fields[count].start))
        self.fields.removeLast(self.fields.count - count)
    }

    /// The first value of a field.
    package func value(_ name: StaticString) -> ArraySlice<UInt8>? {
        for index in self.fields.indices where self.isNamed(index, name) { return self.value(at: index) }
        return nil
    }

    /// Whether a field stands more than once.
    package func hasRepetition(of name: StaticString) -> Bool {
        self.fields.indices.count { self.isNamed($0, name) } > 1
    }

    /// The name of the field at `index`.
    package func name(at index: Int) -> ArraySlice<UInt8> {
        let field = self.fields[index]
        return self.bytes[Int(field.start)..<Int(field.start) + Int(field.nameLength)]
    }

    /// The value of the field at `index`.
    package func value(at index: Int) -> ArraySlice<UInt8> {
        let field = self.fields[index]
        let start = Int(field.start) + Int(field.nameLength)
        return self.bytes[start..<start + Int(field.valueLength)]
    }

    private func isNamed(_ index: Int, _ name: StaticString) -> Bool {
        let field = self.fields[index]
        guard Int(field.nameLength) == name.utf8CodeUnitCount else { return false }
        let start = Int(field.start)
        for offset in 0..<name.utf8CodeUnitCount where self.bytes[start + offset] != name.utf8Start[offset] {
            return false
        }
        return true
    }

    /// The fields as nghttp2 takes them; it copies them before the call that they are passed to returns.
    func withNameValues<Result>(_ body: (UnsafeMutablePointer<nghttp2_nv>, Int) -> Result) -> Result {
        self.bytes.withUnsafeBufferPointer { bytes in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: max(1, self.fields.count)) { values in
                let base = UnsafeMutablePointer(mutating: bytes.baseAddress)
                for (index, field) in self.fields.enumerated() {
                    let name = base.map { $0 + Int(field.start) }
                    values.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: name,
                            value: name.map { $0 + Int(field.nameLength) },
                            namelen: Int(field.nameLength),
                            valuelen: Int(field.valueLength),
                            flags: field.indexing == .never ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : 0
                        )
                    )
                }
                return body(values.baseAddress!, self.fields.count)
            }
        }
    }
}

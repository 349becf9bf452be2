/// A complete request. Its bytes are valid only during the call that hands it over.
package struct HTTP2Request {
    struct Field: BitwiseCopyable {
        let start: UInt32
        let nameSize: UInt16
        let valueSize: UInt16
    }

    let fields: UnsafeBufferPointer<Field>
    let text: UnsafeRawBufferPointer
    /// At most `HTTP2Server.Settings.maxRequestBody` bytes; see `bodySize`.
    package let body: UnsafeRawBufferPointer
    /// The size of the body that was sent; larger than `body` when that was cut off.
    package let bodySize: Int
    let methodField: Int
    let pathField: Int

    /// The value of `:method`.
    package var method: UnsafeRawBufferPointer { self.pseudoHeader(self.methodField) }

    /// The value of `:path`.
    package var path: UnsafeRawBufferPointer { self.pseudoHeader(self.pathField) }

    private func pseudoHeader(_ index: Int) -> UnsafeRawBufferPointer {
        index < 0 ? UnsafeRawBufferPointer(start: nil, count: 0) : self.value(at: index)
    }

    /// The number of header fields, pseudo-headers included, in the order in which they came.
    package var fieldCount: Int { self.fields.count }

    /// A field's name, in lower case.
    package func name(at index: Int) -> UnsafeRawBufferPointer {
        let field = self.fields[index]
        let start = Int(field.start)
        return UnsafeRawBufferPointer(rebasing: self.text[start..<start + Int(field.nameSize)])
    }

    /// A field's value.
    package func value(at index: Int) -> UnsafeRawBufferPointer {
        let field = self.fields[index]
        let start = Int(field.start) + Int(field.nameSize)
        return UnsafeRawBufferPointer(rebasing: self.text[start..<start + Int(field.valueSize)])
    }

    /// The first value of a field; nil if it did not come.
    /// - Parameter name: in lower case.
    package func header(_ name: StaticString) -> UnsafeRawBufferPointer? {
        self.position(of: name, from: 0).map { self.value(at: $0) }
    }

    /// How often a field came.
    package func count(of name: StaticString) -> Int {
        var count = 0
        var next = 0
        while let position = self.position(of: name, from: next) {
            count += 1
            next = position + 1
        }
        return count
    }

    private func position(of name: StaticString, from start: Int) -> Int? {
        let size = name.utf8CodeUnitCount
        for index in start..<self.fields.count where Int(self.fields[index].nameSize) == size {
            let text = self.text.baseAddress! + Int(self.fields[index].start)
            let wanted = name.utf8Start
            var offset = 0
            while offset < size, text.load(fromByteOffset: offset, as: UInt8.self) == wanted[offset] { offset += 1 }
            if offset == size { return index }
        }
        return nil
    }
}

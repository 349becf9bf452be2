/// The pseudo-headers that are the same for every request of a connection, in memory that lives as long as it.
final class RequestFront {
    private let text: UnsafeMutableBufferPointer<UInt8>
    let fields: UnsafeBufferPointer<HeaderField>

    init(scheme: String, authority: String) {
        self.text = .allocate(capacity: scheme.utf8.count + authority.utf8.count)
        _ = self.text.initialize(from: Array(scheme.utf8) + Array(authority.utf8))
        let fields = UnsafeMutableBufferPointer<HeaderField>.allocate(capacity: 2)
        let start = UnsafePointer(self.text.baseAddress!)
        let end = scheme.utf8.count
        fields.initializeElement(at: 0, to: Self.field(HeaderName(":scheme"), start, end))
        fields.initializeElement(at: 1, to: Self.field(HeaderName(":authority"), start + end, authority.utf8.count))
        self.fields = UnsafeBufferPointer(fields)
    }

    deinit {
        self.text.deallocate()
        self.fields.deallocate()
    }

    private static func field(_ name: HeaderName, _ value: UnsafePointer<UInt8>, _ size: Int) -> HeaderField {
        HeaderField(
            name: name.text.utf8Start,
            nameSize: name.text.utf8CodeUnitCount,
            value: value,
            valueSize: size,
            indexing: name.indexing,
            statics: name.statics,
            ownsName: false
        )
    }
}

internal import CNghttp2

/// The pseudo-headers that are the same for every request of a connection, in memory that lives as long as it.
final class RequestFront {
    private let scheme: UnsafeMutableBufferPointer<UInt8>
    private let authority: UnsafeMutableBufferPointer<UInt8>

    init(scheme: String, authority: String) {
        self.scheme = .allocate(capacity: scheme.utf8.count)
        _ = self.scheme.initialize(from: scheme.utf8)
        self.authority = .allocate(capacity: authority.utf8.count)
        _ = self.authority.initialize(from: authority.utf8)
    }

    deinit {
        self.scheme.deallocate()
        self.authority.deallocate()
    }

    func fill(_ fields: UnsafeMutablePointer<nghttp2_nv>) {
        fields[0] = Self.field(":scheme", self.scheme)
        fields[1] = Self.field(":authority", self.authority)
    }

    private static func field(_ name: StaticString, _ value: UnsafeMutableBufferPointer<UInt8>) -> nghttp2_nv {
        nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start),
            value: value.baseAddress,
            namelen: name.utf8CodeUnitCount,
            valuelen: value.count,
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        )
    }
}

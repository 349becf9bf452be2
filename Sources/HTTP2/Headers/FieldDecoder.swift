internal import CNghttp2

/// Reads the header blocks of one connection: nghttp2's HPACK.
final class FieldDecoder {
    private var inflater: OpaquePointer?
    /// nghttp2 keeps a pointer to it, nothing else.
    private let allocator: UnsafeMutablePointer<nghttp2_mem>
    private let memory: SessionMemory?

    /// - Parameter memory: counts what is held; nil for no counting.
    init(memory: SessionMemory?) {
        self.memory = memory
        self.allocator = .allocate(capacity: 1)
        self.allocator.initialize(to: memory?.allocator ?? nghttp2_mem())
        let status =
            memory == nil
            ? nghttp2_hd_inflate_new(&self.inflater) : nghttp2_hd_inflate_new2(&self.inflater, self.allocator)
        guard status == 0 else { preconditionFailure("out of memory") }
    }

    deinit {
        nghttp2_hd_inflate_del(self.inflater)
        self.allocator.deallocate()
    }

    /// Reads one fragment of a block.
    /// - Parameters:
    ///   - isLast: the block ends with it.
    ///   - take: is given each field; its bytes are valid only during the call.
    /// - Returns: false when the bytes are no such block; then the connection is lost.
    func decode(
        _ fragment: UnsafeRawBufferPointer,
        isLast: Bool,
        _ take: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        var rest = fragment
        var field = nghttp2_nv()
        while true {
            var flags: Int32 = 0
            let start = rest.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let taken = nghttp2_hd_inflate_hd2(self.inflater, &field, &flags, start, rest.count, isLast ? 1 : 0)
            guard taken >= 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                take(
                    UnsafeRawBufferPointer(start: field.name, count: field.namelen),
                    UnsafeRawBufferPointer(start: field.value, count: field.valuelen)
                )
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(self.inflater)
                return true
            }
            if rest.isEmpty, flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0 { return !isLast }
        }
    }
}

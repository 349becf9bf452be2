internal import CNghttp2
internal import Glibc

/// Counts the memory that nghttp2 holds for one connection's HPACK.
final class SessionMemory {
    private(set) var held = 0
    private(set) var peak = 0

    /// The counting allocator.
    var allocator: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, owner in SessionMemory.of(owner).took(Glibc.malloc(size)) },
            free: { pointer, owner in
                SessionMemory.of(owner).gives(pointer)
                Glibc.free(pointer)
            },
            calloc: { count, size, owner in SessionMemory.of(owner).took(Glibc.calloc(count, size)) },
            realloc: { pointer, size, owner in
                SessionMemory.of(owner).gives(pointer)
                return SessionMemory.of(owner).took(Glibc.realloc(pointer, size))
            }
        )
    }

    private func took(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        self.held += malloc_usable_size(pointer)
        self.peak = max(self.peak, self.held)
        return pointer
    }

    private func gives(_ pointer: UnsafeMutableRawPointer?) {
        self.held -= malloc_usable_size(pointer)
    }

    private static func of(_ owner: UnsafeMutableRawPointer?) -> SessionMemory {
        Unmanaged<SessionMemory>.fromOpaque(owner!).takeUnretainedValue()
    }
}

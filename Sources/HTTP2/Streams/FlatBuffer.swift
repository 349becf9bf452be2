/// Growing raw memory that is used again and again; whoever holds it frees it.
struct FlatBuffer {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self.base, count: self.count) }

    mutating func append(_ source: UnsafeRawPointer?, _ size: Int) {
        guard size > 0, let source else { return }
        let base = self.reserve(size)
        (base + self.count).copyMemory(from: source, byteCount: size)
        self.count += size
    }

    mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        let base = self.reserve(MemoryLayout<Value>.size)
        (base + self.count).storeBytes(of: value, as: Value.self)
        self.count += MemoryLayout<Value>.size
    }

    /// Makes room for `size` more bytes, which count as there from now on and are the caller's to write.
    mutating func extend(by size: Int) -> UnsafeMutableRawPointer {
        let start = self.reserve(size) + self.count
        self.count += size
        return start
    }

    /// Overwrites bytes that are there.
    mutating func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
        precondition(offset + MemoryLayout<Value>.size <= self.count, "outside the bytes that are there")
        self.base?.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }

    /// Drops the bytes behind the first `count`.
    mutating func cut(to count: Int) {
        self.count = min(self.count, count)
    }

    /// Empties it; memory beyond `limit` bytes goes back to the system.
    mutating func removeAll(keeping limit: Int) {
        self.count = 0
        if self.capacity > limit { self.free() }
    }

    mutating func free() {
        self.base?.deallocate()
        self.base = nil
        self.capacity = 0
        self.count = 0
    }

    private mutating func reserve(_ size: Int) -> UnsafeMutableRawPointer {
        if let base = self.base, self.count + size <= self.capacity { return base }
        self.capacity = max(2 * self.capacity, self.count + size, 128)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: self.capacity, alignment: 8)
        if let base = self.base {
            larger.copyMemory(from: base, byteCount: self.count)
            base.deallocate()
        }
        self.base = larger
        return larger
    }
}

/// Records of a connection's streams, at addresses that do not move: nghttp2 keeps them as the stream's user data.
struct StreamPool<Record: StreamRecord>: ~Copyable {
    private var blocks: [UnsafeMutablePointer<Record>] = []
    private var free: [UnsafeMutablePointer<Record>] = []
    /// How many are taken.
    private(set) var count = 0

    private static var blockSize: Int { 32 }

    mutating func take() -> UnsafeMutablePointer<Record> {
        self.count += 1
        if let record = self.free.popLast() { return record }
        let block = UnsafeMutablePointer<Record>.allocate(capacity: Self.blockSize)
        for index in 0..<Self.blockSize {
            (block + index).initialize(to: Record())
            if index > 0 { self.free.append(block + index) }
        }
        self.blocks.append(block)
        return block
    }

    mutating func give(back record: UnsafeMutablePointer<Record>) {
        self.count -= 1
        self.free.append(record)
    }

    /// All records, taken or free.
    func visit(_ body: (UnsafeMutablePointer<Record>) -> Void) {
        for block in self.blocks {
            for index in 0..<Self.blockSize { body(block + index) }
        }
    }

    deinit {
        for block in self.blocks {
            for index in 0..<Self.blockSize { block[index].freeMemory() }
            block.deinitialize(count: Self.blockSize)
            block.deallocate()
        }
    }
}

protocol StreamRecord {
    init()
    mutating func freeMemory()
}

/// The open streams of a client connection by their ids: a hash table with open addresses.
///
/// Half of the slots stay free, and ids, which follow each other, are scattered over them: taking one out looks only at
/// the few that stand right behind it.
struct StreamTable: ~Copyable {
    typealias Stream = ClientStream.Pointer

    private var slots: UnsafeMutablePointer<Stream?>
    private var mask = 63
    /// 32 less the number of bits in `mask`.
    private var shift: UInt32 = 26
    private var count = 0

    init() {
        self.slots = .allocate(capacity: 64)
        self.slots.initialize(repeating: nil, count: 64)
    }

    deinit {
        self.slots.deallocate()
    }

    func find(_ id: Int32) -> Stream? {
        var slot = self.home(id)
        while let stream = self.slots[slot] {
            if stream.pointee.id == id { return stream }
            slot = (slot + 1) & self.mask
        }
        return nil
    }

    /// - Precondition: no stream of its id is there.
    mutating func insert(_ stream: Stream) {
        if 2 * self.count > self.mask { self.grow() }
        self.put(stream)
        self.count += 1
    }

    mutating func remove(_ id: Int32) {
        var hole = self.home(id)
        while let stream = self.slots[hole], stream.pointee.id != id { hole = (hole + 1) & self.mask }
        guard self.slots[hole] != nil else { return }
        self.count -= 1
        // Whoever stands behind the hole and could stand in it moves up.
        var slot = hole
        while true {
            slot = (slot + 1) & self.mask
            guard let stream = self.slots[slot] else { break }
            let distance = (slot - self.home(stream.pointee.id)) & self.mask
            guard distance >= (slot - hole) & self.mask else { continue }
            self.slots[hole] = stream
            hole = slot
        }
        self.slots[hole] = nil
    }

    /// Calls `body` with every stream; the table must not be changed meanwhile.
    func visit(_ body: (Stream) -> Void) {
        for slot in 0...self.mask {
            if let stream = self.slots[slot] { body(stream) }
        }
    }

    /// Knuth's multiplicative hash.
    private func home(_ id: Int32) -> Int { Int((UInt32(bitPattern: id >> 1) &* 2_654_435_769) >> self.shift) }

    private func put(_ stream: Stream) {
        var slot = self.home(stream.pointee.id)
        while self.slots[slot] != nil { slot = (slot + 1) & self.mask }
        self.slots[slot] = stream
    }

    private mutating func grow() {
        let old = self.slots
        let size = self.mask + 1
        self.slots = .allocate(capacity: 2 * size)
        self.slots.initialize(repeating: nil, count: 2 * size)
        self.mask = 2 * size - 1
        self.shift -= 1
        for slot in 0..<size {
            if let stream = old[slot] { self.put(stream) }
        }
        old.deallocate()
    }
}

/// Where the different tokens of a body lie, in the order of their first appearance. One token needs no heap.
struct TokenList: Sendable {
    private var first = ByteSlice.empty
    private var all: [ByteSlice] = []

    private(set) var count = 0

    subscript(index: Int) -> ByteSlice {
        precondition(index >= 0 && index < self.count, "token \(index) of \(self.count)")
        return self.count == 1 ? self.first : self.all[index]
    }

    mutating func append(_ token: ByteSlice) {
        if self.count == 0 {
            self.first = token
        } else {
            if self.count == 1 {
                self.all.reserveCapacity(16)
                self.all.append(self.first)
            }
            self.all.append(token)
        }
        self.count += 1
    }

    /// Drops repetitions, which may differ in letter case; tells how many there were.
    ///
    /// An open-addressing table of 16-bit indices on the stack: at most 4096 entries for a thousand tokens.
    mutating func removeRepetitions(in base: UnsafeRawPointer) -> Int {
        guard self.count > 1 else { return 0 }
        let capacity = max(16, 1 << (Int.bitWidth - (self.count * 2 - 1).leadingZeroBitCount))
        let unique = withUnsafeTemporaryAllocation(of: UInt16.self, capacity: capacity) { table in
            table.initialize(repeating: .max)
            var kept = 0
            next: for index in self.all.indices {
                let token = self.all[index]
                var at = Self.hash(token, in: base) & (capacity - 1)
                while table[at] != .max {
                    if Self.same(self.all[Int(table[at])], token, in: base) { continue next }
                    at = (at + 1) & (capacity - 1)
                }
                table[at] = UInt16(truncatingIfNeeded: kept)
                self.all[kept] = token
                kept += 1
            }
            return kept
        }
        let repetitions = self.count - unique
        if repetitions > 0 {
            self.all.removeSubrange(unique...)
            self.count = unique
            if unique == 1 { self.all = [] }
        }
        return repetitions
    }

    private static func hash(_ token: ByteSlice, in base: UnsafeRawPointer) -> Int {
        let start = base + Int(token.start)
        let count = Int(token.count)
        var hash = UInt64(token.count)
        if count >= 8 {
            var at = 0
            while at < count {
                // The last word overlaps the one before, so that all bytes count without a tail loop.
                let word = start.loadUnaligned(fromByteOffset: min(at, count - 8), as: UInt64.self)
                // Both halves of the product, so that every digit reaches the bits that choose a place.
                let product = (hash ^ (word | 0x2020_2020_2020_2020)).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
                hash = product.high ^ product.low
                at += 8
            }
        } else {
            for offset in 0..<count {
                hash = (hash ^ UInt64(Hex.lowercased(start.load(fromByteOffset: offset, as: UInt8.self)))) &* 0x100_0193
            }
        }
        return Int(truncatingIfNeeded: hash ^ hash >> 32)
    }

    private static func same(_ left: ByteSlice, _ right: ByteSlice, in base: UnsafeRawPointer) -> Bool {
        guard left.count == right.count else { return false }
        let left = base + Int(left.start)
        let other = base + Int(right.start)
        for offset in 0..<Int(right.count) {
            let one = left.load(fromByteOffset: offset, as: UInt8.self)
            let two = other.load(fromByteOffset: offset, as: UInt8.self)
            if Hex.lowercased(one) != Hex.lowercased(two) { return false }
        }
        return true
    }
}

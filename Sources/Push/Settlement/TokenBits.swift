/// A set of token numbers, one bit each. Up to 64 tokens need no heap.
package struct TokenBits: Equatable, Sendable {
    /// How many tokens the message has.
    package let capacity: Int

    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    /// How many bits are set.
    package private(set) var count = 0

    /// An empty set for a message of so many tokens.
    package init(capacity: Int) {
        precondition(capacity >= 0, "a message has no negative number of tokens")
        self.capacity = capacity
        if capacity > 64 { self.rest = [UInt64](repeating: 0, count: (capacity - 1) / 64) }
    }

    /// Reads what Redis gives for a string written by SETBIT: token 0 is the top bit of the first byte. Bits past the
    /// message's tokens are ignored, missing ones are zero.
    package init(capacity: Int, redisBitmap bytes: some Sequence<UInt8>) {
        self.init(capacity: capacity)
        var start = 0
        for byte in bytes {
            for offset in 0..<8 where byte & (0x80 >> offset) != 0 && start + offset < capacity {
                self.insert(start + offset)
            }
            start += 8
            if start >= capacity { break }
        }
    }

    package func contains(_ token: Int) -> Bool {
        precondition(token >= 0 && token < self.capacity, "token \(token) of \(self.capacity)")
        let word = token < 64 ? self.first : self.rest[token / 64 - 1]
        return word & (1 << UInt64(token & 63)) != 0
    }

    /// False if it was in the set before.
    @discardableResult
    package mutating func insert(_ token: Int) -> Bool {
        guard !self.contains(token) else { return false }
        if token < 64 {
            self.first |= 1 << UInt64(token)
        } else {
            self.rest[token / 64 - 1] |= 1 << UInt64(token & 63)
        }
        self.count += 1
        return true
    }

    package mutating func removeAll() {
        guard self.count > 0 else { return }
        self.first = 0
        for index in self.rest.indices { self.rest[index] = 0 }
        self.count = 0
    }

    /// The numbers in the set, ascending. They are the offsets that SETBIT takes.
    package var tokens: [Int] {
        guard self.count > 0 else { return [] }
        return (0..<self.capacity).filter(self.contains)
    }

    /// The numbers not in the set, ascending.
    package var missing: [Int] {
        (0..<self.capacity).filter { !self.contains($0) }
    }
}

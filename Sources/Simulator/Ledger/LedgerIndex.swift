/// Leads from a token or an `apns-id` to its newest entry; older ones are reached from there.
///
/// It knows digests only. Two things with one digest would be counted as one, which at 2⁻⁶⁴ is left to chance; what is
/// listed is compared in full.
struct LedgerIndex: Sendable {
    struct Chain: Sendable {
        var newest: UInt64
        var sent: UInt32
        var accepted: UInt32
    }

    private(set) var chains: [UInt64: Chain] = [:]

    /// Adds an entry at the head of its chain.
    /// - Returns: the chain before; nil when this is its first entry.
    mutating func add(_ sequence: UInt64, under key: UInt64, accepted: Bool) -> Chain? {
        let gain: UInt32 = accepted ? 1 : 0
        guard let old = self.chains.updateValue(Chain(newest: sequence, sent: 1, accepted: gain), forKey: key) else {
            return nil
        }
        // Rare in a healthy fleet: the second search is for those that came before.
        self.chains[key] = Chain(newest: sequence, sent: old.sent &+ 1, accepted: old.accepted &+ gain)
        return old
    }

    /// Takes one acceptance back.
    /// - Returns: how many are left.
    mutating func withdraw(under key: UInt64) -> UInt32 {
        guard var chain = self.chains[key], chain.accepted > 0 else { return 0 }
        chain.accepted -= 1
        self.chains[key] = chain
        return chain.accepted
    }

    /// Forgets a chain whose newest entry is dropped.
    mutating func drop(_ sequence: UInt64, under key: UInt64) {
        guard let chain = self.chains[key], chain.newest == sequence else { return }
        self.chains[key] = nil
    }

    /// Roughly the bytes of memory that it holds.
    var footprint: Int {
        self.chains.capacity * 4 / 3 * (MemoryLayout<UInt64>.stride + MemoryLayout<Chain>.stride)
    }
}

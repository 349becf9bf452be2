/// The order in which the addresses of a name are tried: each connection begins one address further than the one
/// before, so that a few connections do not land on one machine by chance.
struct AddressTurn {
    private var turns: [String: Int] = [:]
    private let first: Int

    /// - Parameter first: where this process begins; random, so that replicas do not all begin at the same address.
    init(first: Int) {
        self.first = first
    }

    mutating func order(_ addresses: [SocketAddress], of host: String) -> [SocketAddress] {
        // Servers rotate their answers too; ours has to begin from an order that stays the same.
        let sorted = Array(Set(addresses)).sorted()
        guard sorted.count > 1 else { return sorted }
        let turn = self.turns[host] ?? self.first
        self.turns[host] = turn &+ 1
        let start = Int(UInt(bitPattern: turn) % UInt(sorted.count))
        return Self.alternating(Array(sorted[start...] + sorted[..<start]))
    }

    /// One family that leads nowhere must not hold up the other (RFC 8305 §4).
    private static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        let own = addresses.filter { $0.family == addresses[0].family }
        let others = addresses.filter { $0.family != addresses[0].family }
        return (0..<max(own.count, others.count)).flatMap { index in
            [own, others].compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}

/// Divides what a worker may hold between the queues that it consumes with one credential.
///
/// Weighted max-min: who needs less than its part leaves the rest to the others, by weight. So one busy app among a
/// hundred gets nearly all, and a hundred busy ones get a hundredth each.
enum PrefetchShares {
    struct Claim {
        let weight: Int
        /// Pushes that it could hold.
        let demand: Int
    }

    /// What consumers may hold; each has something, however little it had to do of late.
    /// - Parameter capacity: pushes that the worker's connections carry. An app's two lanes are seldom busy at once, hence
    ///   twice as much is divided.
    /// - Returns: how many pushes each may hold, in the order of the claims.
    static func divide(capacity: Int, among claims: [Claim]) -> [Int] {
        let total = capacity * 2
        // An app alone gets all, and has no need to find out how much it needs.
        let least = claims.count <= 2 ? capacity : total / (4 * claims.count)
        return self.divide(total, among: claims.map { Claim(weight: $0.weight, demand: max($0.demand, least)) })
    }

    /// - Returns: how many of `total` each may hold, in the order of the claims.
    static func divide(_ total: Int, among claims: [Claim]) -> [Int] {
        var shares = claims.map { _ in 0 }
        // Who is satisfied first for its weight comes first.
        let order = claims.indices.sorted {
            claims[$0].demand * claims[$1].weight < claims[$1].demand * claims[$0].weight
        }
        var (rest, weights) = (total, claims.reduce(0) { $0 + $1.weight })
        for index in order {
            let claim = claims[index]
            guard weights > 0 else { break }
            shares[index] = min(claim.demand, rest * claim.weight / weights)
            rest -= shares[index]
            weights -= claim.weight
        }
        return shares
    }
}

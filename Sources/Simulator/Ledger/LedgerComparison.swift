internal import Push

/// A producer's list against what arrived: what was lost, and what came too often.
package struct LedgerComparison: Codable, Equatable, Sendable {
    /// How many different ones were asked for.
    package var asked: Int
    /// How many of them arrived at all, and were accepted at least once.
    package var arrived: Int
    package var accepted: Int
    /// Those that never arrived.
    package var missing: [String]
    /// Those that arrived and never were accepted.
    package var refused: [String]
    /// Those that were accepted more than once.
    package var duplicated: [String]
    /// How many there are of each, when the lists are cut off.
    package var missingCount: Int
    package var refusedCount: Int
    package var duplicatedCount: Int

    /// At most so many are listed of each.
    package static let limit = 1000

    fileprivate init() {
        self.asked = 0
        self.arrived = 0
        self.accepted = 0
        self.missing = []
        self.refused = []
        self.duplicated = []
        self.missingCount = 0
        self.refusedCount = 0
        self.duplicatedCount = 0
    }

    fileprivate mutating func add(_ text: String, _ chain: LedgerIndex.Chain?) {
        self.asked += 1
        guard let chain else {
            self.missingCount += 1
            if self.missing.count < Self.limit { self.missing.append(text) }
            return
        }
        self.arrived += 1
        guard chain.accepted > 0 else {
            self.refusedCount += 1
            if self.refused.count < Self.limit { self.refused.append(text) }
            return
        }
        self.accepted += 1
        guard chain.accepted > 1 else { return }
        self.duplicatedCount += 1
        if self.duplicated.count < Self.limit { self.duplicated.append(text) }
    }
}

extension Ledger {
    /// Compares a list of `apns-id`s with the entries that are kept.
    func compare(ids: [MessageID]) -> LedgerComparison {
        var seen: Set<MessageID> = []
        var comparison = LedgerComparison()
        for id in ids where seen.insert(id).inserted {
            comparison.add(id.text(), self.ids.chains[Digest.of(id)])
        }
        return comparison
    }

    /// Compares a list of device tokens with the entries that are kept. One that gets two different pushes counts as
    /// duplicated.
    func compare(tokens: [[UInt8]]) -> LedgerComparison {
        var seen: Set<[UInt8]> = []
        var comparison = LedgerComparison()
        for token in tokens where seen.insert(token).inserted {
            comparison.add(Hex.encode(token), self.tokens.chains[Digest.of(token)])
        }
        return comparison
    }
}

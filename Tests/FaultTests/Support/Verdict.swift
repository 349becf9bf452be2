import Testing

/// What became of everything that the broker confirmed.
struct Verdict: Sendable {
    /// Connections that the fleet may have with one credential.
    var budget = Fleet.budget
    var published = 0
    var delivered = 0
    var duplicates = 0
    var deadLettered = 0
    var lost = 0
    var stillQueued = 0
    var peak = 0

    /// One line per test.
    func show(_ test: String, _ hit: String) {
        print(
            "FAULT \(test): published \(self.published), delivered \(self.delivered), duplicates \(self.duplicates), "
                + "dead-lettered \(self.deadLettered), lost \(self.lost); peak \(self.peak) of \(self.budget)"
                + (self.stillQueued > 0 ? ", still queued \(self.stillQueued)" : "") + "; hit: \(hit)"
        )
    }

    /// What holds after every fault.
    /// - Parameters:
    ///   - budgets: with how many credentials the fleet may hold connections.
    ///   - frozen: connections that workers have given up and whose other end has not heard of it.
    func expectNothingLost(
        duplicates most: Int = 0,
        budgets: Int = 1,
        frozen: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.published > 0, sourceLocation: sourceLocation)
        #expect(self.lost == 0, sourceLocation: sourceLocation)
        #expect(self.duplicates <= most, sourceLocation: sourceLocation)
        #expect(self.stillQueued == 0, sourceLocation: sourceLocation)
        #expect(self.peak > 0 && self.peak <= budgets * self.budget + frozen, sourceLocation: sourceLocation)
    }
}

/// Both simulations under one seed: the fleet at work, with every eighth seed also hours of its provider token, and
/// with every eightieth a fleet that only grows and shrinks.
package enum Histories {
    /// What happened.
    package struct Tally: Sendable, CustomStringConvertible {
        package var fleet = FleetSimulation.Tally()
        package var token = TokenSimulation.Tally()

        package init() {}

        package mutating func add(_ other: Tally) {
            self.fleet.add(other.fleet)
            self.token.add(other.token)
        }

        package var description: String {
            let (fleet, token) = (self.fleet, self.token)
            return """
                \(fleet.steps) steps, \(fleet.virtualSeconds) virtual seconds, \(fleet.tokens) pushes: \
                \(fleet.accepted) accepted, \(fleet.duplicates) of these twice, \(fleet.dead) dead, \(fleet.gone) gone
                \(fleet.redelivered) redelivered, \(fleet.alreadyDone) pushes known to be done, \
                \(fleet.nacked) publishes refused, \(fleet.held) held, \(fleet.rested) throttled, \
                \(fleet.rateLimited) waits for a rate, \(fleet.pauses) pauses, \(fleet.outages) outages, \
                \(fleet.leasesEnded) leases ended
                most open beyond the budget by processes stopped past their lease: \(fleet.overage); \
                because of clones: \(fleet.twinOverage), \(fleet.twinsNoticed) of which were noticed; \
                longest wait for a turn: \(Double(fleet.longestTurn) / 1000) s, \
                \(fleet.longestTurnPercentage) % of what is allowed
                faults: \(Self.text(fleet.faults))
                provider token: \(token.virtualHours) virtual hours, \(token.workers) workers, \(token.tokens) tokens, \
                \(token.early) of these early after a loss; \(token.sent) pushes, \(token.refused) refused
                faults: \(Self.text(token.faults))
                """
        }

        private static func text<Fault: RawRepresentable<String>>(_ faults: [Fault: Int]) -> String {
            faults.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
    }

    /// - Parameters:
    ///   - bug: a mistake to build in.
    ///   - isTracing: whether a violation comes with the events before it.
    ///   - onNote: is given every event as it happens, if traced.
    package static func live(
        seed: UInt64,
        bug: SeededBug? = nil,
        isTracing: Bool = false,
        onNote: ((String) -> Void)? = nil
    ) -> (tally: Tally, violation: FleetSimulation.Violation?) {
        var tally = Tally()
        var violation: FleetSimulation.Violation?
        if bug?.isOfProviderToken != true {
            (tally.fleet, violation) = FleetSimulation.live(seed: seed, bug: bug, isTracing: isTracing, onNote: onNote)
        }
        if violation == nil, bug?.isOfProviderToken ?? (seed % 8 == 0) {
            (tally.token, violation) = TokenSimulation.live(seed: seed, bug: bug, isTracing: isTracing, onNote: onNote)
        }
        if violation == nil, bug?.isOfProviderToken != true, seed % 80 == 0 {
            let simulation = FleetSimulation.scaling(seed: seed, bug: bug, isTracing: isTracing)
            simulation.onNote = onNote
            let evenness = simulation.scale()
            if isTracing { onNote?("\(evenness)") }
            violation = simulation.violation
        }
        return (tally, violation)
    }
}

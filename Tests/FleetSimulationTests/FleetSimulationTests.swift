import Foundation
import Testing

@Suite struct FleetSimulationTests {
    /// `FLEET_SIMULATION_SEEDS` asks for more than the 2,000 of every run.
    private static let chunks =
        (ProcessInfo.processInfo.environment["FLEET_SIMULATION_SEEDS"].flatMap { Int($0) } ?? 2000) / 100

    /// A failure prints its seed and the last events.
    @Test(arguments: 0..<chunks)
    func `Whatever goes wrong, nothing is lost and neither budget nor rate is exceeded`(chunk: Int) {
        var tally = FleetSimulation.Tally()
        for seed in UInt64(chunk * 100)..<UInt64(chunk * 100 + 100) {
            let (one, violation) = FleetSimulation.live(seed: seed)
            tally.add(one)
            guard violation != nil else { continue }
            let (_, traced) = FleetSimulation.live(seed: seed, isTracing: true)
            Issue.record("\(traced?.description ?? "seed \(seed) fails only without a trace")")
            return
        }
        // A hundred histories in which nothing happened would prove nothing.
        #expect(Set(tally.faults.keys) == Set(Fault.allCases), "faults that never happened")
        #expect(tally.tokens > 2_000 && tally.accepted > tally.tokens / 2)
        #expect(tally.duplicates > 0 && tally.redelivered > 0 && tally.alreadyDone > 0, "no message came twice")
        #expect(tally.nacked > 0 && tally.held > 0 && tally.rested > 0 && tally.pauses > 0)
        #expect(tally.leasesEnded > 0 && tally.twinsNoticed > 0 && tally.rateLimited > 0)
    }

    /// Hours instead of seconds, and only what concerns the token.
    @Test(arguments: 0..<10)
    func `The fleet has one provider token, no two within 20 minutes and none older than 60`(chunk: Int) {
        var tally = TokenSimulation.Tally()
        for seed in UInt64(chunk * 30)..<UInt64(chunk * 30 + 30) {
            let (one, violation) = TokenSimulation.live(seed: seed)
            tally.add(one)
            guard violation != nil else { continue }
            let (_, traced) = TokenSimulation.live(seed: seed, isTracing: true)
            Issue.record("\(traced?.description ?? "seed \(seed) fails only without a trace")")
            return
        }
        #expect(Set(tally.faults.keys) == Set(TokenSimulation.Fault.allCases), "faults that never happened")
        #expect(tally.tokens > 50 && tally.workers > tally.tokens && tally.refused > 0)
        #expect(tally.early > 0, "no loss ever brought on a token too early")
    }

    /// The one exception: whoever is stopped past its lease cannot close, and others get its share.
    @Test func `More is open than the budget only while a process is stopped past its lease`() {
        let found = (UInt64(0)..<300).contains { FleetSimulation.live(seed: $0).tally.overage > 0 }
        #expect(found, "no process was stopped past its lease while another one took its place")
    }

    /// Without it some history must go wrong, or the invariants could not fail.
    @Test(arguments: SeededBug.allCases)
    func `A mistake is found within a few hundred histories`(bug: SeededBug) {
        let found = (UInt64(0)..<600).first { Histories.live(seed: $0, bug: bug).violation != nil }
        #expect(found != nil, "600 histories went well with \(bug)")
    }

    /// As the first test, under the faults that show the rarer mistakes.
    @Test(arguments: [SeededBug.jumpEndsQuarantine, .copiesShareMemory, .waitsForNothing, .twinsShareLease])
    func `Nothing goes wrong under the faults that show a mistake`(bug: SeededBug) {
        for seed in UInt64(0)..<100 {
            let simulation = FleetSimulation(seed: seed, faults: bug.faults)
            simulation.live()
            if let violation = simulation.violation { return #expect(Bool(false), "\(violation)") }
        }
    }

    @Test(arguments: UInt64(0)..<12)
    func `From 1 worker to 8 and back shares are even two heartbeats after each change`(seed: UInt64) {
        let simulation = FleetSimulation.scaling(seed: seed)
        let evenness = simulation.scale()
        if let violation = simulation.violation { return #expect(Bool(false), "\(violation)") }
        // It takes time, so it was not even by itself.
        #expect(evenness.up.allSatisfy { $0 > 0 } && evenness.back > 0)
        #expect(simulation.tally.accepted > 500)
    }

    @Test func `Without faults nothing is sent twice and nobody loses a lease`() {
        for seed in UInt64(0)..<50 {
            let simulation = FleetSimulation(seed: seed, isCalm: true)
            simulation.live()
            #expect(simulation.violation == nil)
            #expect(simulation.tally.duplicates == 0 && simulation.tally.leasesEnded == 0)
            #expect(simulation.tally.accepted > 0 && simulation.tally.faults.isEmpty)
        }
    }

    @Test func `A seed is one history`() throws {
        for seed in UInt64(0)..<5 {
            var histories: [[String]] = [[], []]
            for index in histories.indices {
                _ = FleetSimulation.live(seed: seed, isTracing: true) { histories[index].append($0) }
            }
            #expect(histories[0].count > 50)
            #expect(histories[0] == histories[1])
        }
    }

    @Test func `A violation comes with its seed and the events before it`() throws {
        let bug = SeededBug.ackBeforeConfirm
        let seed = try #require((UInt64(0)..<100).first { FleetSimulation.live(seed: $0, bug: bug).violation != nil })
        let violation = try #require(FleetSimulation.live(seed: seed, bug: bug, isTracing: true).violation)
        let lines = violation.description.split(separator: "\n")
        #expect(lines.count > 10 && lines.last?.hasPrefix("seed \(seed), at ") == true)
    }
}

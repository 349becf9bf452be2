import Testing

@testable import Store

@Suite struct FleetSimulationTests {
    @Test func `One seed`() {
        let (tally, violation) = FleetSimulation.live(seed: 1)
        #expect(violation == nil)
        print(tally)
    }
}

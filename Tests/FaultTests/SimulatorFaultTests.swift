import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("APNs")
    struct SimulatorFaults {
        @Test("The simulator stops under load and starts again on the same port")
        func restarted() async throws {
            try await Fleet.run(latency: .milliseconds(300)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(4000)
                try await fleet.waitForInFlight(300)
                let unanswered = try await fleet.restartSimulator(latency: .milliseconds(100))
                try await worker.logs("Connection to APNs closed")
                let verdict = try await fleet.finish()
                verdict.show("simulator restart", "\(unanswered) requests without an answer")
                verdict.expectNothingLost(duplicates: unanswered)
                #expect(unanswered > 0)
                #expect(worker.end == .exit(0))
            }
        }
    }
}

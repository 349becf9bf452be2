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

        @Test("F64: a server that cannot be trusted or does not speak HTTP/2 is sent nothing, and the log says why")
        func untrusted() async throws {
            let expired = FaultRule.HandshakeForm(certificate: "expired")
            for (form, problem) in [(expired, "certificate has expired"), (.init(alpn: .none), "ALPN h2")] {
                try await Fleet.run(latency: .zero) { fleet in
                    try await fleet.simulator.addRule(.init(id: "server", on: .connect, action: .handshake(form)))
                    try await fleet.publish(200)
                    let worker = try fleet.startWorker()
                    try await worker.logs(problem, count: 2)
                    #expect(try await fleet.simulator.summary().requests == 0)
                    let refused = try await fleet.simulator.rules().reduce(0) { $0 + $1.hits }
                    try await fleet.simulator.removeRules()
                    let verdict = try await fleet.finish()
                    verdict.show("F64 \(problem)", "\(refused) handshakes broken off")
                    verdict.expectNothingLost()
                    #expect(verdict.delivered == 200 && refused >= 2)
                    #expect(try fleet.counters()["retried"] ?? 0 == 0)
                }
            }
        }
    }
}

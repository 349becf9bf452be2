import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// What leaves in good order, on request, tells the truth about itself until it is gone.
    @Suite("A worker that is asked to leave")
    struct Drains {
        /// What somebody reads at an address, and the status; nil if nobody answers.
        private static func ask(_ port: Int, _ path: String) async -> (status: Int, text: String)? {
            let url = "http://127.0.0.1:\(port)\(path)"
            let output = try? Repository.run(["curl", "-s", "-m", "5", "-w", "\n%{http_code}", url])
            guard let output else { return nil }
            let lines = output.split(separator: "\n", omittingEmptySubsequences: true)
            guard let last = lines.last, let status = Int(last), status > 0 else { return nil }
            return (status, lines.dropLast().map { "\($0)\n" }.joined())
        }

        private static func adminPort(_ worker: WorkerProcess) async throws -> Int {
            try await worker.logs("probes and metrics")
            let line = try #require(worker.lines("probes and metrics").first)
            let digits = try #require(
                line.firstRange(of: "port=").map { line[$0.upperBound...].prefix { $0.isNumber } }
            )
            return try #require(Int(digits))
        }

        @Test("pushfleet drain ends it with 0 after 1,000 answers; probes and metrics follow, and nothing is lost")
        func ordered() async throws {
            let settings = ["admin_port: 0"]
            try await Fleet.run(latency: .milliseconds(500), worker: settings) { fleet in
                let worker = try fleet.startWorker()
                try await worker.isReady()
                let port = try await Self.adminPort(worker)
                try await eventually("it is ready") { await Self.ask(port, "/readyz")?.status == 200 }
                #expect(await Self.ask(port, "/livez")?.status == 200)
                let metrics = try #require(await Self.ask(port, "/metrics")).text
                #expect(metrics.contains("pushfleet_worker_ready 1\n"))
                #expect(await Self.ask(port, "/secrets")?.status == 404)

                try await fleet.publish(3000)
                try await fleet.waitForInFlight(1000)
                try await eventually("its metrics tell of its connection") {
                    await Self.ask(port, "/metrics")?.text.contains(#"result="ok"} 1"#) ?? false
                }
                let unknown = try Self.run("drain", "ffffffff", fleet)
                #expect(unknown.contains("no worker is"))
                let said = try Self.run("drain", "--all", fleet)
                #expect(said.contains("is to drain"))
                let (end, _) = try await worker.waitForEnd()
                #expect(end == .exit(0))
                #expect(worker.lines("Ordered to drain").count == 1)
                let drained = try #require(worker.lines("Drained: everything").first)
                #expect(drained.contains("handed_back_unsent="))
                #expect(await Self.ask(port, "/livez") == nil)
                _ = try fleet.startWorker(["--loops", "2"])
                let verdict = try await fleet.finish()
                verdict.show("pushfleet drain", "exit 0")
                verdict.expectNothingLost()
            }
        }

        @Test("SIGTERM with 1,000 in flight and slow Apple ends within the grace time and says what went back")
        func slowApple() async throws {
            try await Fleet.run(latency: .seconds(15), drainTimeout: .seconds(3)) { fleet in
                let worker = try fleet.startWorker()
                try await worker.isReady()
                try await fleet.publish(2000)
                try await fleet.waitForInFlight(1000)
                worker.signal(SIGTERM)
                let (end, drain) = try await worker.waitForEnd()
                #expect(end == .exit(0))
                #expect(drain >= .seconds(3))
                let line = try #require(worker.lines("The drain timeout is over").first)
                #expect(line.contains("count=") && line.contains("handed_back_unsent="))
                let inFlight = try await fleet.cutOff(connections: 0)
                #expect(inFlight > 0, "Apple answered before the grace was over")
                try await fleet.simulator.setLatency(.milliseconds(100))
                _ = try fleet.startWorker()
                let verdict = try await fleet.finish()
                verdict.show("SIGTERM, slow Apple", "\(inFlight) in flight, exit 0 after \(drain.seconds)")
                verdict.expectNothingLost(duplicates: inFlight)
            }
        }

        /// What a verb says, on either stream.
        private static func run(_ verb: String, _ argument: String, _ fleet: Fleet) throws -> String {
            try Repository.run([
                "/bin/sh", "-c", "\"$0\" \"$1\" \"$2\" --config \"$3\" 2>&1 || true", Repository.binary, verb, argument,
                fleet.configuration,
            ])
        }
    }
}

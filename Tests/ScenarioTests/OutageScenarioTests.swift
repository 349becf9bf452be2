import Push
import Simulator
import Testing

/// Every shipped scenario, played against the real worker and judged from the ledger.
@Suite struct OutageScenarioTests {
    @Test func `Outage: messages wait, and all arrive once it is over`() async throws {
        try await Stage.play("outage-503") { stage in
            try await stage.startWorker()
            try await stage.publish(300)
            // The timeline begins with the first request; the outage must find something to hit.
            try await eventually("the outage begins") { try await stage.simulator.rules().count == 1 }
            try await stage.publish((300..<600).map(Stage.token))
            try await eventually("the outage hits") {
                try await stage.simulator.summary().verdicts.contains { $0.status == 503 }
            }
            let outcome = try await stage.finish()
            let refused = outcome.summary?.verdicts.first { $0.status == 503 }?.count ?? 0
            outcome.expectHonest("outage-503", "\(refused) refused")
            #expect(refused > 0)
            #expect(outcome.accepted.count == 600 && outcome.duplicates == 0 && outcome.deadCount == 0)
            // Each message is tried a few times in four seconds, by a schedule of 1 and 2 seconds; never in a loop.
            #expect(refused < 300 * 6)
        }
    }

    @Test func `GOAWAY storm: what was not processed is sent elsewhere, and costs no attempt`() async throws {
        try await Stage.play("goaway-storm") { stage in
            try await stage.simulator.setLatency(.milliseconds(50))
            try await stage.startWorker()
            var next = 0
            // Something is under way all the time.
            try await eventually("the storm is over") {
                if try await stage.waiting() < 300, next < 6000 {
                    try await stage.publish((next..<next + 300).map(Stage.token))
                    next += 300
                }
                return try await stage.simulator.rules().isEmpty
            }
            let outcome = try await stage.finish()
            outcome.expectHonest("goaway-storm", "\(outcome["resent"]) resent")
            #expect(outcome.summary?.connectionsOpened ?? 0 > 6)
            #expect(outcome["resent"] > 0)
            #expect(outcome.deadCount == 0 && outcome.accepted.count == outcome.published)
        }
    }

    @Test func `Stream limit: never more streams than the newest SETTINGS allow`() async throws {
        try await Stage.play("stream-limit") { stage in
            try await stage.startWorker()
            var next = 0
            var sawOne = false
            try await eventually("the limit went to one and back") {
                if try await stage.waiting() < 500, next < 20_000 {
                    try await stage.publish((next..<next + 500).map(Stage.token))
                    next += 500
                }
                let limits = try await stage.simulator.connections().filter { $0.closedAt == nil }.map(\.streamLimit)
                let accepted = try await stage.simulator.summary().accepted
                if accepted > 0, !limits.isEmpty, limits.allSatisfy({ $0 == 1 }) { sawOne = true }
                return sawOne && limits.contains(1000)
            }
            let outcome = try await stage.finish()
            outcome.expectHonest("stream-limit", "\(outcome.summary?.traffic.refusedStreams ?? 0) streams refused")
            // What was on its way when the limit fell may be refused; it is sent again at no cost.
            #expect(outcome.duplicates == 0 && outcome.deadCount == 0)
            #expect(outcome.accepted.count == outcome.published)
        }
    }

    @Test func `Reset after acceptance: nothing is lost, and every possible duplicate is counted`() async throws {
        try await Stage.play("reset-after-acceptance") { stage in
            try await stage.startWorker()
            try await stage.publish(1500)
            let outcome = try await stage.finish()
            outcome.expectHonest("reset-after-acceptance", "\(outcome.hits("lost-answers")) connections dropped")
            #expect(outcome.hits("lost-answers") > 0)
            #expect(outcome.duplicates >= 1 && outcome.deadCount == 0)
        }
    }
}

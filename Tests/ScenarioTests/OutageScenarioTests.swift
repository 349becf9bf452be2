import Push
import Simulator
import TestServers
import Testing
import Worker

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
            try await stage.simulator.setLatency(.milliseconds(200))
            try await stage.startWorker()
            var next = 0
            // Something is under way all the time.
            try await eventually("the storm is over") {
                if try await stage.waiting() < 300, next < 20_000 {
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

    @Test func `Black hole: found within the PING deadline, and its messages go elsewhere`() async throws {
        let limits = (interval: Duration.milliseconds(500), timeout: Duration.seconds(1))
        try await Stage.play("black-hole") { settings in
            settings.worker.pingInterval = limits.interval
            settings.worker.pingTimeout = limits.timeout
            settings.worker.requestTimeout = .seconds(30)
        } _: { stage in
            try await stage.startWorker()
            try await stage.publish(600)
            let outcome = try await stage.finish()
            let connections = try await stage.simulator.connections()
            outcome.expectHonest("black-hole", "\(outcome.hits("hole")) connection silent")
            #expect(outcome.hits("hole") == 1)
            #expect(outcome.accepted.count == 600 && outcome.deadCount == 0)
            // The request timeout is far away: only the PING can have found it.
            #expect(connections.count >= 2)
            let first = try #require(connections.first { $0.closedAt != nil })
            let hole = try #require(
                try await stage.simulator.requests(LedgerFilter(rule: "hole", limit: 1)).first
            )
            let found = try #require(first.closedAt) - hole.arrival
            #expect(found < 15_000, "found after \(found) ms")
        }
    }

    @Test func `Slow answers: the others go on, and nothing waits past its deadline`() async throws {
        try await Stage.play("slow-answers") {
            $0.worker.requestTimeout = .seconds(2)
        } _: { stage in
            try await stage.startWorker()
            try await stage.publish(800)
            // Most are there long before the slow ones.
            try await eventually("the others went on") {
                let summary = try await stage.simulator.summary()
                return summary.answered >= 700
            }
            let outcome = try await stage.finish()
            outcome.expectHonest("slow-answers", "\(outcome.hits("slow")) slow")
            #expect(outcome.hits("slow") >= 50)
            #expect(outcome.accepted.count == 800 && outcome.deadCount == 0)
            #expect(outcome["possible_duplicates"] > 0)
        }
    }

    @Test func `Connect storm: the worker slows down by itself, and is never blocked`() async throws {
        try await Stage.play("connect-storm-block") { stage in
            try await stage.simulator.setLatency(.milliseconds(20))
            try await stage.startWorker()
            var next = 0
            try await eventually("the storm is over") {
                if try await stage.waiting() < 100, next < 4000 {
                    try await stage.publish((next..<next + 100).map(Stage.token))
                    next += 100
                }
                return try await stage.simulator.isScenarioOver()
            }
            let outcome = try await stage.finish()
            let summary = try #require(outcome.summary)
            outcome.expectHonest("connect-storm-block", "\(summary.connectionsRefused) connects refused")
            #expect(summary.connectionsOpened > 4)
            #expect(summary.connectionsRefused == 0)
            #expect(outcome.deadCount == 0 && outcome.accepted.count == outcome.published)
        }
    }
}

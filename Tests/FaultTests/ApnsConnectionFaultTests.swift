import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    /// What happens to a connection to Apple, and to the requests that are open on it.
    @Suite("APNs connections")
    struct ApnsConnectionFaults {
        @Test("F49: a GOAWAY that names a stream in the middle: what is above it goes elsewhere and costs no attempt")
        func goAwayMidStream() async throws {
            try await Fleet.run(latency: .milliseconds(200)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                var match = FaultRule.Match()
                match.every = 400
                match.limit = 6
                let shutdown = #"{"reason":"Shutdown"}"#
                let goAway = FaultRule.Action.goAway(code: 0, debugData: shutdown, lastStream: .current)
                try await fleet.simulator.addRule(.init(id: "goaway", match: match, action: goAway))
                try await fleet.publish(5000)
                let verdict = try await fleet.finish()
                let summary = try await fleet.simulator.summary()
                let counters = try fleet.counters()
                verdict.show(
                    "F49 GOAWAY mid-stream",
                    "\(worker.lines("Apple ends a connection").count) GOAWAYs, \(summary.withdrawn) requests above them, "
                        + "\(counters["resent"] ?? 0) resent, \(summary.connectionsOpened) connections, "
                        + "unanswered \(counters.filter { $0.key.hasPrefix("unanswered.") })"
                )
                verdict.expectNothingLost(duplicates: 0)
                #expect(summary.withdrawn > 0)
                // Beside those, requests that reached the simulator after its GOAWAY, or never left the worker.
                #expect(counters["resent"] ?? 0 >= summary.withdrawn)
                // None took the long way round over a delay queue, which is what costs an attempt.
                #expect(counters["retried"] ?? 0 == 0)
                #expect(counters.possibleDuplicates <= 0)
                #expect(verdict.delivered == 5010)
                #expect(summary.connectionsOpened > Fleet.budget)
            }
        }

        @Test("F50: a GOAWAY and an immediate end, then a TCP reset: what was open is retried and counted")
        func cut() async throws {
            try await Fleet.run(latency: .milliseconds(400)) { fleet in
                _ = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.publish(4000)
                try await fleet.waitForInFlight(300)
                try await fleet.simulator.goAwayAll()
                try await fleet.simulator.dropAllConnections()
                let first = try await fleet.cutOff()
                try await fleet.publish(3000)
                try await fleet.waitForInFlight(first + 300)
                try await fleet.simulator.dropAllConnections()
                let both = try await fleet.cutOff()
                let verdict = try await fleet.finish()
                let possible = try fleet.counters()["possible_duplicates"] ?? 0
                verdict.show(
                    "F50 cut off",
                    "\(first) open at GOAWAY and end, \(both - first) at the reset, \(possible) possible duplicates reported"
                )
                // A reset takes answers with it that the worker had not read: more than what had no answer.
                verdict.expectNothingLost(duplicates: possible)
                #expect(first > 0 && both > first)
            }
        }

        @Test("F51: REFUSED_STREAM costs no attempt and doubles nothing")
        func refusedStreams() async throws {
            try await Fleet.run(latency: .milliseconds(50)) { fleet in
                _ = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.simulator.addRule(.reset(7, probability: 0.05))
                try await fleet.publish(4000)
                let verdict = try await fleet.finish()
                let hits = try await fleet.simulator.rules().reduce(0) { $0 + $1.hits }
                let counters = try fleet.counters()
                verdict.show("F51 REFUSED_STREAM", "\(hits) streams refused, \(counters["resent"] ?? 0) resent")
                verdict.expectNothingLost()
                #expect(hits > 0)
                #expect(counters["resent"] == hits)
                #expect(counters["retried"] ?? 0 == 0)
                #expect(counters.possibleDuplicates <= 0)
            }
        }

        @Test("F51: INTERNAL_ERROR may have been processed: it is retried and reported", arguments: [true, false])
        func internalErrors(wasProcessed: Bool) async throws {
            try await Fleet.run(latency: .milliseconds(50)) { fleet in
                _ = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.simulator.addRule(.reset(2, probability: 0.02, processes: wasProcessed))
                try await fleet.publish(4000)
                let verdict = try await fleet.finish()
                let hits = try await fleet.simulator.rules().reduce(0) { $0 + $1.hits }
                let possible = try fleet.counters()["possible_duplicates"] ?? 0
                verdict.show(
                    "F51 INTERNAL_ERROR \(wasProcessed ? "after" : "before") processing",
                    "\(hits) streams reset, \(possible) possible duplicates reported"
                )
                verdict.expectNothingLost(duplicates: wasProcessed ? possible : 0)
                #expect(hits > 0)
                #expect(possible >= hits)
                #expect((verdict.duplicates > 0) == wasProcessed)
            }
        }

        @Test("F51: ENHANCE_YOUR_CALM lowers the streams of the connection")
        func calmDown() async throws {
            try await Fleet.run(latency: .milliseconds(500)) { fleet in
                _ = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.publish(6000)
                try await fleet.waitForInFlight(800)
                let before = try await fleet.inFlight()
                // The next request of every connection is told off, again and again for a while.
                try await fleet.simulator.addRule(.reset(11, probability: 0.05))
                var least = before
                try await eventually("fewer requests in flight although more wait") {
                    try await fleet.topUp()
                    // What was reset is never answered and does not count as in flight.
                    let hits = try await fleet.simulator.rules().reduce(0) { $0 + $1.hits }
                    least = min(least, try await fleet.inFlight() - hits)
                    return least * 4 < before
                }
                let hits = try await fleet.simulator.rules().reduce(0) { $0 + $1.hits }
                try await fleet.simulator.removeRules()
                let verdict = try await fleet.finish()
                let possible = try fleet.counters()["possible_duplicates"] ?? 0
                verdict.show(
                    "F51 ENHANCE_YOUR_CALM",
                    "\(hits) streams reset, \(before) in flight before and \(least) after"
                )
                verdict.expectNothingLost(duplicates: possible)
                #expect(hits > 0)
            }
        }

        @Test("F52: a connection that goes silent is found by PING and given up, the others go on")
        func blackHole() async throws {
            let settings = ["ping_interval: 1s", "ping_timeout: 1s", "request_timeout: 20s"]
            try await Fleet.run(latency: .milliseconds(100), worker: settings, isProxied: true) { fleet in
                let proxy = try #require(fleet.proxy)
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.publish(6000)
                try await eventually("all connections") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget
                }
                proxy.freezeOldest(1)
                let accepted = try await fleet.simulator.summary().accepted
                let found = try await eventually("the silence is noticed") {
                    try await fleet.topUp()
                    return worker.lines("no answer to PING in time").count == 1
                }
                let meanwhile = try await fleet.simulator.summary().accepted - accepted
                #expect(proxy.counters.open > 0)
                proxy.pass()
                let verdict = try await fleet.finish()
                let counters = try fleet.counters()
                let (possible, cut) = (
                    counters["possible_duplicates"] ?? 0, counters["unanswered.connection_lost"] ?? 0
                )
                verdict.show(
                    "F52 black hole",
                    "found after \(found.seconds), \(cut) requests on it, \(meanwhile) accepted on the others meanwhile"
                )
                verdict.expectNothingLost(duplicates: possible, frozen: 1)
                // One interval of silence and one timeout; the rest is the machine's.
                #expect(found < .seconds(10), "the request timeout would be 20 s")
                #expect(cut > 0)
                #expect(meanwhile > 0)
                #expect(worker.lines("no answer to PING in time").count == 1)
            }
        }

        /// How much of an answer comes.
        enum Silence: String, CaseIterable {
            case noHeaders, noBody, halfABody

            var action: FaultRule.Action {
                let reason = "InternalServerError"
                switch self {
                case .noHeaders: return .stall
                case .noBody:
                    return .answer(status: 500, reason: reason, body: nil, form: .init(extent: .headers))
                case .halfABody:
                    return .answer(status: 500, reason: reason, body: nil, form: .init(extent: .half))
                }
            }
        }

        @Test(
            "F53: an answer that never comes whole ends at the request timeout and is no success",
            arguments: Silence.allCases
        )
        func silentStreams(silence: Silence) async throws {
            try await Fleet.run(latency: .milliseconds(20), worker: ["request_timeout: 1s"]) { fleet in
                _ = try fleet.startWorker()
                try await fleet.warmUp()
                var match = FaultRule.Match()
                match.every = 50
                match.limit = 40
                let rule = FaultRule(id: "silence", match: match, action: silence.action, processes: true)
                try await fleet.simulator.addRule(rule)
                try await fleet.publish(2000)
                let verdict = try await fleet.finish()
                let counters = try fleet.counters()
                verdict.show("F53 \(silence)", "\(counters["unanswered.timeout"] ?? 0) requests timed out")
                verdict.expectNothingLost(duplicates: counters["possible_duplicates"] ?? 0)
                #expect(counters["unanswered.timeout"] == 40)
                #expect(counters["possible_duplicates"] ?? 0 >= 40)
                #expect(verdict.duplicates == 40)
                // Each was told as delivered once, when its second request was answered.
                #expect(counters["delivered"] == verdict.published)
            }
        }

        @Test("F54: the stream limit goes 1, 1000, 0, 1000, and is obeyed without spinning")
        func streamLimits() async throws {
            try await Fleet.run(latency: .milliseconds(50)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.simulator.setStreams(full: 1)
                try await fleet.publish(3000)
                try await fleet.waitForAccepted(20)
                try await eventually("all connections") { try await fleet.connections() == Fleet.budget }
                let single = try await fleet.simulator.connections().map(\.peakOpenRequests).max() ?? 0
                try await fleet.simulator.setStreams(full: 1000)
                try await fleet.waitForInFlight(50)
                try await fleet.simulator.setStreams(initial: 0, full: 0)
                try await fleet.publish(1000)
                // What was on its way has arrived.
                var requests = 0
                try await eventually("nothing is in flight or comes") {
                    let summary = try await fleet.simulator.summary()
                    defer { requests = summary.requests }
                    try await Task.sleep(for: .milliseconds(200))
                    return summary.requests == requests && summary.answered == requests
                }
                let before = try worker.cpuTime()
                try await Task.sleep(for: .seconds(2))
                let used = try worker.cpuTime() - before
                #expect(try await fleet.simulator.summary().requests == requests, "0 means none")
                #expect(requests < 4000)
                #expect(used < .seconds(1), "waiting costs nothing")
                try await fleet.simulator.setStreams(initial: 1, full: 1000)
                let verdict = try await fleet.finish()
                let possible = try fleet.counters().possibleDuplicates
                verdict.show("F54 stream limits", "limit 1: \(single) at most; limit 0: \(used.seconds) of CPU in 2 s")
                verdict.expectNothingLost()
                #expect(single == 1)
                #expect(possible <= 0)
            }
        }

        @Test("Connections that have their age are replaced one by one, inside the budget, without losing a push")
        func aged() async throws {
            try await Fleet.run(latency: .milliseconds(100), worker: ["max_connection_age: 3s"]) { fleet in
                _ = try fleet.startWorker()
                try await fleet.warmUp()
                try await eventually("connections are replaced", within: .seconds(90)) {
                    try await fleet.topUp()
                    return try await fleet.simulator.summary().connectionsOpened >= 3 * Fleet.budget
                }
                let verdict = try await fleet.finish()
                let summary = try await fleet.simulator.summary()
                let counters = try fleet.counters()
                verdict.show("Aged connections", "\(summary.connectionsOpened) connections in all")
                verdict.expectNothingLost()
                #expect(counters["retried"] ?? 0 == 0)
                #expect(counters.possibleDuplicates <= 0)
            }
        }

        @Test("A GOAWAY on every connection at once leaves only a short gap")
        func everyConnectionAtOnce() async throws {
            try await Fleet.run(latency: .milliseconds(50)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.warmUp()
                try await fleet.publish(4000)
                var gaps: [Int64] = []
                for _ in 0..<4 {
                    try await eventually("all connections, and work") {
                        try await fleet.topUp()
                        return try await fleet.connections() == Fleet.budget
                    }
                    let before = try await fleet.simulator.summary().requests
                    try await fleet.simulator.goAwayAll()
                    try await eventually("pushes flow again") {
                        try await fleet.topUp()
                        return try await fleet.simulator.summary().requests > before + 500
                    }
                    let arrivals = try await fleet.simulator.requests(LedgerFilter(limit: 5000)).map(\.arrival).sorted()
                    gaps.append(zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? 0)
                }
                let verdict = try await fleet.finish()
                verdict.show(
                    "GOAWAY on all connections",
                    "\(worker.lines("Apple ends a connection").count) GOAWAYs; longest pauses \(gaps) ms"
                )
                verdict.expectNothingLost()
                #expect(worker.lines("Apple ends a connection").count >= 4 * Fleet.budget)
            }
        }
    }
}

extension Fleet {
    /// A first push on each connection opens it up.
    func warmUp() async throws {
        try await self.publish(10)
        try await self.waitForAccepted(10)
    }
}

extension [String: Int] {
    /// Pushes that may have arrived twice because an answer never came. Of those that the broker handed out again the
    /// worker counts each as possible as well, which says nothing about connections.
    var possibleDuplicates: Int { (self["possible_duplicates"] ?? 0) - (self["redelivered"] ?? 0) }
}

extension FaultRule {
    /// Resets some of the requests' streams, evenly spread by the simulator's seed.
    static func reset(_ code: UInt32, probability: Double, processes: Bool = false) -> FaultRule {
        var match = Match()
        match.probability = probability
        return FaultRule(
            id: "reset-\(code)-\(processes)",
            match: match,
            action: .reset(code: code),
            processes: processes
        )
    }
}

extension WorkerProcess {
    /// What it has used of the processors so far.
    func cpuTime() throws -> Duration {
        let text = try String(contentsOfFile: "/proc/\(self.pid)/stat", encoding: .utf8)
        // The second field is the name in parentheses, which may hold anything; proc(5) counts utime as the 14th.
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else {
            throw NeverHappened(description: "no processor times of the worker")
        }
        return .milliseconds((user + system) * 1000 / sysconf(Int32(_SC_CLK_TCK)))
    }
}

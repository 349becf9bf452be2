import HTTP2
import Push
import TestServers
import Testing
import Wire

@testable import Simulator

/// What can go wrong on a connection that stands, on real TLS and HTTP/2.
@Suite struct ConnectionFaultTests {
    private static let unavailable = #"{"reason":"ServiceUnavailable"}"#

    private static func once(_ action: FaultRule.Action, processes: Bool = false) -> FaultRule {
        var rule = FaultRule(action: action, processes: processes)
        rule.match.tokenPrefix = "ee"
        rule.match.limit = 1
        return rule
    }

    @Test(arguments: [true, false]) func `A black hole says nothing any more, not even to a PING`(reads: Bool)
        async throws
    {
        try await Bench.with { simulator in
            try await simulator.addRule(Self.once(.blackHole(reads: reads), processes: true))
            try await Bench.line(simulator) {
                $0.pingInterval = .milliseconds(200)
                $0.pingTimeout = .milliseconds(200)
            } _: { line in
                #expect(await line.send(Bench.draft(0)).status == 200)
                async let lost = line.send(Bench.draft(1).to("ee"))
                #expect(await line.history().closeReason == .pingTimeout)
                #expect(await lost == .failure(.unknown(.connectionLost)))
            }
            let record = try #require(try await simulator.requests().first)
            #expect(record.accepted && !record.answered)
            #expect(try await Bench.hits(simulator) == [1])
        }
    }

    @Test func `PINGs may be the only thing that is not answered`() async throws {
        try await Bench.with { simulator in
            try await simulator.addRule(FaultRule(on: .connect, action: .ignorePings))
            try await Bench.line(simulator) {
                $0.pingInterval = .milliseconds(200)
                $0.pingTimeout = .milliseconds(200)
            } _: { line in
                #expect(await line.send(Bench.draft).status == 200)
                #expect(await line.history().closeReason == .pingTimeout)
            }
            #expect(try await simulator.summary().traffic.pings > 0)
        }
    }

    @Test func `The stream limit goes to 1 and back under load`() async throws {
        try await Bench.with { simulator in
            let form = FaultRule.SettingsForm(streams: 1, lasts: .seconds(60))
            try await simulator.addRule(Self.once(.settings(form)))
            try await Bench.line(simulator) { line in
                _ = await line.send(Bench.draft(0))
                let drafts = (1...50).map { Bench.draft($0).to($0 == 20 ? "ee" : "aa") }
                // A request that was under way when the limit fell is refused, or served as the last ones below it.
                let outcomes = await line.send(drafts)
                #expect(outcomes.allSatisfy { $0.status == 200 || $0 == .failure(.notProcessed(.refused)) })
                #expect(await line.history(untilClosed: false).limits == [1, 1000, 1])
                try await simulator.advanceClock(by: .seconds(60))
                #expect(await line.send(Bench.draft(51)).status == 200)
                #expect(await line.history(untilClosed: false).limits == [1, 1000, 1, 1000])
                let connection = try #require(try await simulator.connections().first)
                #expect(connection.peakOpenRequests > 1 && connection.highestStreamLimit == 1000)
            }
        }
    }

    @Test func `A window that is closed on an open connection starves what comes after`() async throws {
        try await Bench.with { simulator in
            try await simulator.addRule(Self.once(.settings(FaultRule.SettingsForm(window: 0))))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft(0).to("ee")).status == 200)
                let starved = line.begin(Bench.draft(1))
                // A push without a body needs no window: its answer shows that the other one's headers are there.
                #expect(await line.send(Bench.bodiless).status == 400)
                let dropped = try await simulator.dropAllConnections()
                #expect(dropped == 1)
                #expect(await starved.value == .failure(.unknown(.connectionLost)))
                #expect(try await simulator.requests().map(\.bodyBytes) == [0, Bench.draft.body.count])
            }
        }
    }

    @Test func `Two RST_STREAM for one stream do not end the connection`() async throws {
        try await Bench.with { simulator in
            try await simulator.addRule(Self.once(.reset(code: 7, then: 5)))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft(0).to("ee")) == .failure(.notProcessed(.refused)))
                #expect(await line.send(Bench.draft(1)).status == 200)
                #expect(await line.history(untilClosed: false).closeReason == nil)
            }
        }
    }

    @Test(arguments: [FaultRule.AnswerForm.Extent.headers, .half])
    func `An answer that stops half-way is never complete`(extent: FaultRule.AnswerForm.Extent) async throws {
        try await Bench.with { simulator in
            let form = FaultRule.AnswerForm(extent: extent)
            try await simulator.addRule(Self.once(.answer(status: 503, reason: "Shutdown", body: nil, form: form)))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft(2)).status == 200)
                async let stuck = line.send(Bench.draft(0).to("ee"))
                try await Bench.eventually(simulator) { $0.requests == 2 }
                #expect(await line.send(Bench.draft(1)).status == 200)
                _ = try await simulator.dropAllConnections()
                #expect(await stuck == .failure(.unknown(.connectionLost)))
                #expect(try await simulator.requests(LedgerFilter(status: 503)).map(\.answered) == [false])
            }
        }
    }

    @Test func `The body may come long after the headers`() async throws {
        try await Bench.with { simulator in
            let form = FaultRule.AnswerForm(pause: .seconds(600), retryAfter: "120")
            let action = FaultRule.Action.answer(status: 503, reason: "ServiceUnavailable", body: nil, form: form)
            try await simulator.addRule(Self.once(action))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft(2)).status == 200)
                async let late = line.send(Bench.draft(0).to("ee"))
                try await Bench.eventually(simulator) { $0.requests == 2 }
                // Out of order: the later one is answered first.
                #expect(await line.send(Bench.draft(1)).status == 200)
                try await simulator.advanceClock(by: .seconds(600))
                let id = MessageID(high: 7, low: 0).text()
                #expect(await late == .answer(status: 503, id: id, uniqueID: nil, body: Self.unavailable))
                #expect(await line.history(untilClosed: false).retryAfter == "120")
                try await Bench.eventually(simulator) { $0.answered == 3 }
            }
        }
    }

    @Test func `Nobody is told to retry after some time unless a rule says so`() async throws {
        try await Bench.with { simulator in
            try await simulator.addRule(Self.once(.answer(status: 503, reason: "Shutdown", body: nil)))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft.to("ee")).status == 503)
                #expect(await line.history(untilClosed: false).retryAfter == nil)
            }
        }
    }

    @Test func `A warning goes before the GOAWAY, whose last stream is lower`() async throws {
        try await Bench.with { simulator in
            let form = FaultRule.GoAwayForm(warning: .seconds(10))
            try await simulator.addRule(Self.once(.goAway(code: 0, debugData: "", lastStream: .current, form: form)))
            var slow = FaultRule(action: .pass, delay: .seconds(20) ... .seconds(20))
            slow.match.tokenPrefix = "dd"
            try await simulator.addRule(slow)
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft(0)).status == 200)
                async let late = line.send(Bench.draft(1).to("dd"))
                try await Bench.eventually(simulator) { $0.requests == 2 }
                #expect(await line.send(Bench.draft(2).to("ee")).status == 200)
                try await simulator.advanceClock(by: .seconds(10))
                try await simulator.advanceClock(by: .seconds(10))
                #expect(await late.status == 200)
                #expect(await line.history().goAways.map(\.lastStreamID) == [.max, 5])
            }
        }
    }

    @Test func `GOAWAY and then silence: nothing is answered until the connection closes`() async throws {
        try await Bench.with { simulator in
            let form = FaultRule.GoAwayForm(then: .silence)
            let action = FaultRule.Action.goAway(code: 0, debugData: "gone", lastStream: .current, form: form)
            try await simulator.addRule(Self.once(action, processes: true))
            try await Bench.line(simulator) { line in
                async let lost = line.send(Bench.draft(0).to("ee"))
                try await Bench.eventually(simulator) { $0.requests == 1 }
                #expect(try await simulator.summary().connectionsOpen == 1)
                try await simulator.advanceClock(by: .seconds(29))
                #expect(try await simulator.summary().connectionsOpen == 1)
                try await simulator.advanceClock(by: .seconds(1))
                #expect(await lost == .failure(.unknown(.connectionLost)))
                let history = await line.history()
                #expect(history.goAways.map(\.lastStreamID) == [1])
                #expect(history.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == ["gone"])
            }
            let record = try #require(try await simulator.requests().first)
            #expect(record.accepted && !record.answered && !record.withdrawn)
        }
    }

    @Test func `GOAWAY and a TCP reset right behind it`() async throws {
        try await Bench.with { simulator in
            let form = FaultRule.GoAwayForm(then: .drop)
            let action = FaultRule.Action.goAway(code: 2, debugData: "", lastStream: .zero, form: form)
            try await simulator.addRule(Self.once(action))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft(0)).status == 200)
                guard case .failure = await line.send(Bench.draft(1).to("ee")) else {
                    Issue.record("it was answered")
                    return
                }
            }
            try await Bench.eventually(simulator) { $0.connectionsOpen == 0 }
            #expect(try await simulator.connections().map(\.ending) == ["GOAWAY, and dropped"])
            #expect(try await simulator.requests().first?.withdrawn == true)
        }
    }

    @Test func `A rule may wait for a request that comes after a long silence`() async throws {
        try await Bench.with { simulator in
            var rule = FaultRule(action: .answer(status: 500, reason: "InternalServerError", body: nil))
            rule.match.idle = .seconds(600)
            try await simulator.addRule(rule)
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                try await simulator.advanceClock(by: .seconds(599))
                #expect(await line.send(Bench.draft).status == 200)
                try await simulator.advanceClock(by: .seconds(600))
                #expect(await line.send(Bench.draft).status == 500)
                #expect(await line.send(Bench.draft).status == 200)
            }
        }
    }

    @Test func `A key is revoked in mid-run`() async throws {
        try await Bench.with { simulator in
            var rule = FaultRule(action: .revokeKey(TestKey.shared.id))
            rule.match.nth = 2
            try await simulator.addRule(rule)
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                #expect(await line.send(Bench.draft).status == 403)
                #expect(await line.send(Bench.draft).status == 403)
            }
            #expect(
                try await simulator.requests().map(\.reason) == ["InvalidProviderToken", "InvalidProviderToken", nil]
            )
        }
    }

    @Test func `An app that is added is known to new connections only`() async throws {
        try await Bench.with {
            $0.bundleIDs = ["com.example.shop"]
        } _: { simulator in
            var rule = FaultRule(action: .addBundleID("com.example.new"))
            rule.match.tokenPrefix = "ee"
            try await simulator.addRule(rule)
            let new = Bench.draft.with("apns-topic", "com.example.new")
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                #expect(await line.send(Bench.draft.to("ee")).status == 200)
                #expect(await line.send(new).status == 400)
            }
            let status = try await Bench.line(simulator) { await $0.send(new).status }
            #expect(status == 200)
            #expect(try await simulator.requests(LedgerFilter(status: 400)).map(\.reason) == ["TopicDisallowed"])
        }
    }

    @Test func `The other environment refuses a key that is not for it`() async throws {
        try await Bench.with {
            var key = TestKey.shared.key
            key.environment = .production
            $0.keys = [key]
            $0.environmentKeySpelling = .page
        } _: { simulator in
            var rule = FaultRule(action: .setEnvironment(.sandbox))
            rule.match.nth = 2
            try await simulator.addRule(rule)
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                #expect(await line.send(Bench.draft).status == 403)
            }
            #expect(try await simulator.requests().first?.reason == "BadEnvironmentKeyIdInToken")
        }
    }

    @Test func `A rule blocks new connections for a while`() async throws {
        try await Bench.with { simulator in
            try await simulator.addRule(Self.once(.blockConnects(.seconds(60))))
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft.to("ee")).status == 200)
                let refused = try await Bench.line(simulator) { await $0.send(Bench.draft) }
                #expect(refused == .failure(.notProcessed(.neverSent)))
                // Those that are open stay so.
                #expect(await line.send(Bench.draft).status == 200)
            }
            try await simulator.advanceClock(by: .seconds(60))
            let status = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
            #expect(status == 200)
            #expect(try await simulator.summary().connectionsRefused == 1)
        }
    }
}

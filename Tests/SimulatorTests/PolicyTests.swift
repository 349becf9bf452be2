import HTTP2
import Push
import TestServers
import Testing

@testable import Simulator

/// What APNs lets a connection get away with, and its clock, on real TLS and HTTP/2.
@Suite struct PolicyTests {
    private static func reasons(_ history: PushLine.History) -> [String] {
        history.goAways.map { String(decoding: $0.debugData, as: UTF8.self) }
    }

    @Test func `An idle connection is told so and closed`() async throws {
        try await Bench.with {
            $0.policy.idleTimeout = .seconds(600)
        } _: { simulator in
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                try await simulator.advanceClock(by: .seconds(300))
                #expect(await line.send(Bench.draft).status == 200)
                try await simulator.advanceClock(by: .seconds(301))
                #expect(await line.send(Bench.draft).status == 200)
                try await simulator.advanceClock(by: .seconds(600))
                let history = await line.history()
                #expect(Self.reasons(history) == [#"{"reason":"IdleTimeout"}"#])
                #expect(history.goAways.map(\.lastStreamID) == [5])
            }
        }
    }

    @Test(arguments: ConnectionPolicy.OverBudget.allCases)
    func `A connection with too many refusals is ended, 410 not counted`(ending: ConnectionPolicy.OverBudget)
        async throws
    {
        try await Bench.with {
            $0.policy.errorBudget = 6
            $0.policy.overBudget = ending
        } _: { simulator in
            try await simulator.setToken("aa", to: .unregistered(at: UnixTime(seconds: 1)))
            try await simulator.setToken("bb", to: .otherEnvironment)
            try await Bench.line(simulator) { line in
                for _ in 0..<20 { #expect(await line.send(Bench.draft.to("aa")).status == 410) }
                #expect(await line.send(Bench.draft.to("bb")).status == 400)
                #expect(await line.send(Bench.draft.with("apns-topic", nil)).status == 400)
                #expect(await line.send(Bench.draft).status == 200)
                // A reset may overtake the answer that it follows.
                let last = await line.send(Bench.draft.with("apns-topic", nil)).status
                #expect(last == 400 || ending == .drop)
                let history = await line.history()
                #expect(history.goAways.count == (ending == .goAway ? 1 : 0))
            }
            let status = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
            #expect(status == 200)
        }
    }

    @Test func `Too many connections in a short time are answered with a block`() async throws {
        try await Bench.with {
            $0.policy.connectLimit = 2
            $0.policy.connectWindow = .seconds(60)
            $0.policy.connectBlock = .seconds(300)
        } _: { simulator in
            func tryOnce() async throws -> Int? {
                try await Bench.line(simulator) { await $0.send(Bench.draft).status }
            }
            #expect(try await tryOnce() == 200)
            #expect(try await tryOnce() == 200)
            #expect(try await tryOnce() == nil)
            try await simulator.advanceClock(by: .seconds(299))
            #expect(try await tryOnce() == nil)
            try await simulator.advanceClock(by: .seconds(2))
            #expect(try await tryOnce() == 200)
            let summary = try await simulator.summary()
            #expect(summary.connectionsRefused == 2 && summary.connectionsArrived == 5)
        }
    }

    @Test func `One connection too many is turned away`() async throws {
        try await Bench.with {
            $0.policy.maxConnections = 1
        } _: { simulator in
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                let other = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
                #expect(other == nil)
                try await simulator.setPolicy { $0.maxConnections = 2 }
                let third = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
                #expect(third == 200)
            }
        }
    }

    @Test func `A connection that was told of an expired token serves nothing any more`() async throws {
        try await Bench.with { simulator in
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                // The sender's clock is an hour behind.
                try await simulator.setClock(to: UnixTime(seconds: Bench.now + 3700))
                #expect(await line.send(Bench.draft).status == 403)
                let fresh = PushDraft(issuedAt: Bench.now + 3700)
                #expect(await line.send(fresh) == .failure(.notProcessed(.refused)))
                #expect(await line.history(untilClosed: false).limits == [1, 1000, 1])
                let status = try await Bench.line(simulator) { await $0.send(fresh).status }
                #expect(status == 200)
                try await simulator.setClock(to: UnixTime(seconds: Bench.now - 3700))
                let early = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
                #expect(early == 403)
            }
            #expect(
                try await simulator.requests(LedgerFilter(status: 403)).map(\.reason).allSatisfy {
                    $0 == "ExpiredProviderToken"
                }
            )
        }
    }

    @Test func `A new provider token too soon is refused, by the simulator's clock`() async throws {
        try await Bench.with { simulator in
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft).status == 200)
                let other = PushDraft(issuedAt: Bench.now + 1)
                try await simulator.advanceClock(by: .seconds(1190))
                #expect(await line.send(other).status == 429)
                try await simulator.advanceClock(by: .seconds(20))
                #expect(await line.send(other).status == 200)
            }
        }
    }

    @Test func `The 20 minutes may be counted for the sender's address`() async throws {
        try await Bench.with {
            $0.providerTokenScope = .source
        } _: { simulator in
            let first = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
            let second = try await Bench.line(simulator) { await $0.send(PushDraft(issuedAt: Bench.now + 1)).status }
            #expect([first, second] == [200, 429])
        }
    }

    @Test func `One token's pushes are limited, others' are not`() async throws {
        try await Bench.with {
            $0.tokenRate = TokenRate(burst: 3, perSecond: 1)
        } _: { simulator in
            try await Bench.line(simulator) { line in
                for _ in 0..<3 { #expect(await line.send(Bench.draft.to("aa")).status == 200) }
                try await simulator.setClockScale(0)
                for _ in 0..<3 { _ = await line.send(Bench.draft.to("aa")) }
                #expect(await line.send(Bench.draft.to("aa")).status == 429)
                #expect(await line.send(Bench.draft.to("bb")).status == 200)
                try await simulator.advanceClock(by: .seconds(1))
                #expect(await line.send(Bench.draft.to("aa")).status == 200)
            }
            #expect(try await simulator.requests(LedgerFilter(reason: "TooManyRequests", limit: 1)).count == 1)
        }
    }

    @Test func `Answers of ten minutes come at once when the clock is moved, or runs fast`() async throws {
        try await Bench.with {
            $0.drawnLatency = Latency(
                .seconds(10) ... .seconds(700),
                shape: .tail(median: .seconds(20), p99: .seconds(600))
            )
        } _: { simulator in
            try await Bench.line(simulator) { line in
                async let first = line.send(Bench.draft)
                try await Bench.eventually(simulator) { $0.requests == 1 }
                try await simulator.advanceClock(by: .seconds(700))
                #expect(await first.status == 200)
                try await simulator.setClockScale(100_000, wall: false)
                let outcomes = await line.send((1...50).map(Bench.draft))
                #expect(outcomes.allSatisfy { $0.status == 200 })
                let now = try await simulator.now()
                #expect(now.wall - UnixTime(seconds: Bench.now) >= .seconds(700))
            }
        }
    }

    @Test func `A token's 410 shows only after a while`() async throws {
        try await Bench.with {
            $0.goneReportDelay = .seconds(3600)
        } _: { simulator in
            let time = UnixTime(seconds: Bench.now - 60)
            try await simulator.setToken("aa", to: .unregistered(at: time))
            try await simulator.setToken("bb", to: .unregistered(at: time), showsAfter: .zero)
            try await Bench.line(simulator) { line in
                #expect(await line.send(Bench.draft.to("aa")).status == 200)
                #expect(await line.send(Bench.draft.to("bb")).status == 410)
                // Not past the provider token's hour.
                try await simulator.advanceClock(by: .seconds(3500))
                #expect(await line.send(Bench.draft.to("aa")).status == 200)
                try await simulator.advanceClock(by: .seconds(100))
                let fresh = PushDraft(issuedAt: Bench.now + 3600).to("aa")
                #expect(await line.send(fresh).status == 410)
                try await simulator.setToken("aa", to: .reregistered(at: time + .seconds(3700)))
                #expect(await line.send(fresh).status == 200)
            }
        }
    }
}

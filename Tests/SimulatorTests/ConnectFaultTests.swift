import HTTP2
import Push
import TestServers
import Testing
import Wire

@testable import Simulator

/// What can go wrong before the first request, on real TCP and TLS.
@Suite struct ConnectFaultTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let action: FaultRule.Action
        let isExpected: @Sendable (CloseReason?) -> Bool
    }

    private static func isTLS(_ reason: CloseReason?) -> Bool {
        if case .transport(.tls)? = reason { true } else { false }
    }

    private static func isBroken(_ reason: CloseReason?) -> Bool {
        switch reason {
        case .transport(.tls)?, .transport(.broken)?, .transport(.closedByPeer)?, .transport(.connect)?: true
        default: false
        }
    }

    static let rows = [
        Row(testDescription: "refuse", action: .refuse) { Self.isBroken($0) },
        Row(testDescription: "silence", action: .silence) { $0 == .transport(.timeout(stage: .tls)) },
        Row(testDescription: "no ALPN", action: .handshake(FaultRule.HandshakeForm(alpn: .none))) { Self.isTLS($0) },
        Row(testDescription: "other ALPN", action: .handshake(FaultRule.HandshakeForm(alpn: .http1))) {
            Self.isTLS($0)
        },
        Row(testDescription: "expired", action: .handshake(FaultRule.HandshakeForm(certificate: "expired"))) {
            Self.isTLS($0)
        },
        Row(testDescription: "drop", action: .drop) { Self.isBroken($0) },
        Row(testDescription: "close", action: .close) { $0 == .transport(.closedByPeer) },
        Row(testDescription: "no SETTINGS", action: .settings(FaultRule.SettingsForm(isSent: false))) {
            $0 == .settingsTimeout
        },
        Row(testDescription: "black hole", action: .blackHole(reads: true)) { $0 == .settingsTimeout },
        Row(
            testDescription: "GOAWAY before SETTINGS",
            action: .goAway(
                code: 0,
                debugData: "x",
                lastStream: .current,
                form: FaultRule.GoAwayForm(isBeforeSettings: true)
            )
        ) { $0 != nil && $0 != .settingsTimeout },
    ]

    @Test(arguments: rows) func `A connection that meets a fault fails, the next one does not`(_ row: Row) async throws
    {
        try await Bench.with {
            $0.certificates["expired"] = CertificateFiles(
                certificate: TestCertificates.shared.expiredCertificate,
                privateKey: TestCertificates.shared.expiredKey
            )
        } _: { simulator in
            var rule = FaultRule(on: .connect, action: row.action)
            rule.match.nth = 1
            try await simulator.addRule(rule)
            try await Bench.line(simulator) {
                $0.transport.connectTimeout = .milliseconds(500)
                $0.settingsTimeout = .milliseconds(500)
            } _: { line in
                let reason = await line.history().closeReason
                #expect(row.isExpected(reason), "\(String(describing: reason))")
            }
            #expect(try await Bench.hits(simulator) == [1])
            let status = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
            #expect(status == 200)
            let summary = try await simulator.summary()
            #expect(summary.connectionsArrived == 2 && summary.requests == 1)
        }
    }

    @Test func `A handshake is as slow as told, by the simulator's clock`() async throws {
        try await Bench.with { simulator in
            let wait = Duration.seconds(5)...Duration.seconds(5)
            try await simulator.addRule(FaultRule(action: .handshake(FaultRule.HandshakeForm()), delay: wait))
            try await Bench.line(simulator) { line in
                async let outcome = line.send(Bench.draft)
                try await Bench.eventually(simulator) { $0.connectionsArrived == 1 }
                #expect(try await simulator.summary().connectionsOpened == 0)
                try await simulator.advanceClock(by: .seconds(5))
                #expect(await outcome.status == 200)
            }
        }
    }

    @Test func `SETTINGS come as late as told`() async throws {
        try await Bench.with { simulator in
            let wait = Duration.seconds(5)...Duration.seconds(5)
            let action = FaultRule.Action.settings(FaultRule.SettingsForm(streams: 7))
            try await simulator.addRule(FaultRule(on: .connect, action: action, delay: wait))
            try await Bench.line(simulator) { line in
                async let outcome = line.send(Bench.draft)
                try await Bench.eventually(simulator) { $0.connectionsOpen == 1 }
                #expect(await line.history(untilClosed: false).limits.isEmpty)
                try await simulator.advanceClock(by: .seconds(5))
                #expect(await outcome.status == 200)
                // Held, whatever the first push would have opened.
                #expect(await line.history(untilClosed: false).limits == [7])
            }
        }
    }

    @Test func `A window that is never opened again starves the body`() async throws {
        try await Bench.with {
            $0.initialStreams = 10
        } _: { simulator in
            let form = FaultRule.SettingsForm(window: 10, updatesWindows: false)
            try await simulator.addRule(FaultRule(on: .connect, action: .settings(form)))
            try await Bench.line(simulator) { line in
                async let outcome = line.send(Bench.draft)
                // A push without a body needs no window.
                #expect(await line.send(Bench.bodiless).status == 400)
                let dropped = try await simulator.dropAllConnections()
                #expect(dropped == 1)
                #expect(await outcome == .failure(.unknown(.connectionLost)))
                #expect(try await simulator.summary().requests == 1)
            }
        }
    }

    @Test func `Who does not listen is refused by the system, until it listens again`() async throws {
        try await Bench.with { simulator in
            try await simulator.setListens(false)
            try await Bench.line(simulator) { line in
                guard case .transport(.connect)? = await line.history().closeReason else {
                    Issue.record("not refused")
                    return
                }
            }
            try await simulator.setListens(true)
            let status = try await Bench.line(simulator) { await $0.send(Bench.draft).status }
            #expect(status == 200)
        }
    }

    @Test func `A rule names only certificates that were given`() async throws {
        try await Bench.with { simulator in
            let action = FaultRule.Action.handshake(FaultRule.HandshakeForm(certificate: "unknown"))
            let error = await #expect(throws: SimulatorError.self) {
                try await simulator.addRule(FaultRule(action: action))
            }
            #expect(error?.description.contains("action.certificate") == true)
        }
    }
}

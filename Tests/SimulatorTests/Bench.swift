import Foundation
import HTTP2
import Push
import TestServers
import Testing

@testable import Simulator

/// A simulator for one test, and what tests ask of it.
enum Bench {
    static let now = Int64(Date().timeIntervalSince1970)
    static let draft = PushDraft(issuedAt: now)

    static func draft(_ number: Int) -> PushDraft {
        self.draft.with("apns-id", MessageID(high: 7, low: UInt64(number)).text())
    }

    /// A push without a body.
    static var bodiless: PushDraft {
        var draft = self.draft
        draft.body = []
        return draft
    }

    static func with(
        _ change: (inout Simulator.Settings) -> Void = { _ in },
        _ body: (Simulator) async throws -> Void
    ) async throws {
        let certificates = TestCertificates.shared
        var settings = Simulator.Settings(
            certificate: certificates.serverCertificate,
            privateKey: certificates.serverKey
        )
        settings.keys = [TestKey.shared.key]
        change(&settings)
        let simulator = try await Simulator.start(settings)
        do {
            try await body(simulator)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    /// A connection to it for as long as `body` runs.
    static func line<Result>(
        _ simulator: Simulator,
        _ change: (inout HTTP2Client.Settings) -> Void = { _ in },
        _ body: (PushLine) async throws -> Result
    ) async throws -> Result {
        var settings = HTTP2Client.Settings()
        // What is to be lost is lost by the simulator, not by the client's patience.
        settings.requestTimeout = .seconds(60)
        change(&settings)
        let line = try PushLine.start(port: simulator.port, settings: settings)
        do {
            let result = try await body(line)
            line.stop()
            return result
        } catch {
            line.stop()
            throw error
        }
    }

    /// Waits until the ledger says so: what the client knows, the simulator may be about to learn.
    static func eventually(
        _ simulator: Simulator,
        _ condition: (LedgerSummary) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<2000 {
            if condition(try await simulator.summary()) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("\(try await simulator.summary())", sourceLocation: sourceLocation)
    }

    static func hits(_ simulator: Simulator) async throws -> [Int] {
        try await simulator.rules().map(\.hits)
    }
}

import Foundation
import HTTP2
import Push
import TestServers
import Testing
import Wire

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

    /// With the certificate that the tests' clients trust, and the key that drafts are signed with.
    static var settings: Simulator.Settings {
        let certificates = TestCertificates.shared
        var settings = Simulator.Settings(
            certificate: certificates.serverCertificate,
            privateKey: certificates.serverKey
        )
        settings.keys = [TestKey.shared.key]
        return settings
    }

    static func identity(_ client: TestCertificates.Client) throws -> TLSIdentity {
        let files = TestCertificates.shared
        return try TLSIdentity(
            pem: FileBytes.read(files.certificate(client)),
            privateKey: FileBytes.read(files.key(client))
        )
    }

    static func with(
        _ change: (inout Simulator.Settings) -> Void = { _ in },
        _ body: (Simulator) async throws -> Void
    ) async throws {
        var settings = self.settings
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
        identity: TLSIdentity? = nil,
        _ change: (inout HTTP2Client.Settings) -> Void = { _ in },
        _ body: (PushLine) async throws -> Result
    ) async throws -> Result {
        var settings = HTTP2Client.Settings()
        // What is to be lost is lost by the simulator, not by the client's patience.
        settings.requestTimeout = .seconds(60)
        change(&settings)
        let line = try PushLine.start(port: simulator.port, settings: settings, identity: identity)
        do {
            let result = try await body(line)
            line.stop()
            return result
        } catch {
            line.stop()
            throw error
        }
    }

    /// A simulator with one connection to it.
    static func withLine(
        identity: TLSIdentity? = nil,
        _ change: (inout Simulator.Settings) -> Void = { _ in },
        _ body: (Simulator, PushLine) async throws -> Void
    ) async throws {
        try await self.with(change) { simulator in
            try await self.line(simulator, identity: identity) { line in try await body(simulator, line) }
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

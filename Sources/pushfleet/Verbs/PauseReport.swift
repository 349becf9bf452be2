internal import Desk
internal import Foundation
internal import Push
internal import Store
internal import Worker

/// What `pause` and `resume` tell; its keys are a contract with scripts.
struct PauseReport: Encodable, Equatable {
    let app: String
    /// Whether it is paused now, by hand or by Apple's answers.
    let paused: Bool
    /// Why it is paused: `hand`, `credential` or `suspects`.
    let cause: String?
    /// Whether it was paused by hand until now; only from `resume`.
    let wasPausedByHand: Bool?
    let sinceMs: Int64?
    let untilMs: Int64?
    let by: String?
    let reason: String?

    init(paused pause: AppPause) {
        self.init(pause.app, standing: pause, wasPausedByHand: nil)
    }

    /// - Parameter pauses: those that there were before.
    init(resumed app: String, _ pauses: [AppPause]) {
        self.init(
            app,
            standing: pauses.first { $0.kind == .fault },
            wasPausedByHand: pauses.contains { $0.kind == .hand }
        )
    }

    private init(_ app: String, standing pause: AppPause?, wasPausedByHand: Bool?) {
        self.app = app
        self.paused = pause != nil
        self.cause = pause?.cause
        self.wasPausedByHand = wasPausedByHand
        self.sinceMs = pause?.since.milliseconds
        self.untilMs = pause?.kind == .hand ? pause?.until?.milliseconds : nil
        self.by = pause?.by
        self.reason = pause.flatMap { $0.reason.isEmpty ? nil : $0.reason }
    }

    /// What people read after `resume`.
    var lines: [String] {
        let ended = self.wasPausedByHand == true
        guard let cause = self.cause else {
            return [ended ? "\(self.app) goes on" : "\(self.app) was not paused"]
        }
        let first = ended ? ["the pause of \(self.app) by hand is over"] : []
        return first + ["\(self.app) is paused (\(cause)) and probed now; it goes on when a push goes through"]
    }

    /// Reads the configuration, connects and asks.
    static func ask<Answer>(
        _ app: String,
        _ verb: String,
        _ config: ConfigurationOption,
        _ question: (PauseDesk) async throws(RedisFailure) -> Answer
    ) async throws -> Answer {
        let settings = try await config.requireFleet([.servers], for: verb, lookingFor: app).settings
        guard settings.apps.contains(where: { $0.id == app }) else {
            throw VerbFailure.unknownApp(app, among: settings.apps.map(\.id))
        }
        let redis = try await settings.openRedis(for: verb)
        defer { redis.close() }
        do throws(RedisFailure) {
            return try await question(PauseDesk(redis, as: "\(NSUserName())@\(ProcessInfo.processInfo.hostName)"))
        } catch {
            throw VerbFailure("cannot \(verb) \(app): \(error)")
        }
    }
}

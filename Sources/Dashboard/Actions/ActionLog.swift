internal import Foundation
internal import Logging
internal import Loop
internal import Push
internal import Store

/// Who did what: one line of `GET /api/actions`.
struct ActionEntry: Codable, Equatable, Sendable {
    enum Action: String, Codable, Sendable {
        case login, logout, pause, resume, drain, replay, edit, purge, stop
    }

    let timeMs: Int64
    let user: String
    let action: Action
    /// An app, worker, message id or filter.
    var target: String?
    /// `ok`, or the code of the error.
    let outcome: String
    var detail: String?

    private static let longest = 256

    init(at time: UnixTime, user: String, _ action: Action, _ target: String?, outcome: String, detail: String? = nil) {
        self.timeMs = time.milliseconds
        self.user = String(user.prefix(Self.longest))
        self.action = action
        self.target = target.map { String($0.prefix(Self.longest)) }
        self.outcome = outcome
        self.detail = detail.map { String($0.prefix(Self.longest)) }
    }
}

/// Writes each action down: a line in the log, and the last 200 in Redis, where all dashboards find them.
struct ActionLog: Sendable {
    let links: ServerLinks
    let logger: Logger

    static let limit = 200

    /// Redis may be away: then the log has it alone.
    func write(_ entry: ActionEntry, from address: String) async {
        var metadata: Logger.Metadata = [
            "user": "\(Self.line(entry.user))", "action": "\(entry.action.rawValue)", "outcome": "\(entry.outcome)",
            "address": "\(Self.line(address))",
        ]
        if let target = entry.target { metadata["target"] = "\(Self.line(target))" }
        if let detail = entry.detail { metadata["detail"] = "\(Self.line(detail))" }
        self.logger.notice("action", metadata: metadata)
        let text = String(decoding: Answer.encode(entry), as: UTF8.self)
        _ = await self.links.askRedis { redis throws(RedisFailure) in
            try await redis.run(DashboardActions.add(text, limit: Self.limit))
        }
    }

    /// The newest first. What somebody else wrote there is left out.
    func read() async throws(Problem) -> [ActionEntry] {
        let result = await self.links.askRedis { redis throws(RedisFailure) in
            try await redis.send(DashboardActions.read(limit: Self.limit))
        }
        switch result {
        case .failure(let failure): throw .redisAway(failure.phrase)
        case .success(let reply):
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return (reply.elements ?? []).compactMap { element in
                element.text.flatMap { try? decoder.decode(ActionEntry.self, from: Data($0.utf8)) }
            }
        }
    }

    /// One line without what a terminal would obey.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) })
    }
}

/// What a new connection says before it may be used, and what the answers mean. One-shot.
///
/// One step at a time: after a refused AUTH Redis would run what follows as the user `default`, if that one is open.
struct RedisHandshake {
    enum Step: Equatable {
        case auth, select, name, info
    }

    enum Outcome: Equatable {
        case goOn
        case ready(RedisServer)
        /// User and password are wrong or missing.
        case authenticationFailed(String)
        /// The server cannot be used now, or not at all by this user.
        case refused(String)
    }

    private(set) var steps: [Step]
    private let address: RedisAddress
    private let clientName: String

    init(address: RedisAddress, clientName: String) {
        self.address = address
        self.clientName = clientName
        self.steps = [.name, .info]
        if address.database != 0 { self.steps.insert(.select, at: 0) }
        if address.password != nil { self.steps.insert(.auth, at: 0) }
    }

    private func command(_ step: Step) -> RedisCommand {
        switch step {
        case .auth:
            var command = RedisCommand("AUTH")
            if let user = self.address.user { command.add(user) }
            command.add(self.address.password ?? "")
            return command
        case .select: return RedisCommand("SELECT", "\(self.address.database)")
        case .name: return RedisCommand("CLIENT", "SETNAME", self.clientName)
        case .info: return RedisCommand("INFO", "server")
        }
    }

    /// What to send next.
    var next: RedisCommand? { self.steps.first.map(self.command) }

    /// The answer to the first step that has none yet.
    mutating func answered(_ reply: RedisReply) -> Outcome {
        let step = self.steps.removeFirst()
        if case .error(let error) = reply { return Self.outcome(of: error, step: step) }
        guard step == .info else { return .goOn }
        guard let server = reply.text.flatMap(RedisServer.init(info:)) else {
            return .refused("INFO server does not show a run_id: is this Redis?")
        }
        return .ready(server)
    }

    private static func outcome(of error: RedisError, step: Step) -> Outcome {
        if step == .auth || error.kind == .notAuthenticated { return .authenticationFailed(error.text) }
        // A name is only for people who list connections.
        if step == .name { return .goOn }
        return .refused(error.text)
    }
}

/// The server process behind a connection.
package struct RedisServer: Hashable, Sendable {
    /// Made anew whenever the process starts: another one means that data may have been lost.
    package let runID: String
    package let version: String
    /// How long the process has been running.
    package let uptime: Duration

    /// Reads the answer to `INFO server`.
    init?(info: String) {
        var fields: [Substring: Substring] = [:]
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        guard let runID = fields["run_id"], !runID.isEmpty else { return nil }
        self.runID = String(runID)
        self.version = fields["redis_version"].map(String.init) ?? "unknown"
        self.uptime = .seconds(fields["uptime_in_seconds"].flatMap { Int64($0) } ?? 0)
    }
}

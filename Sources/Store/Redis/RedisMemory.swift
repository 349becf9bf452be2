/// What a Redis server does when its memory is full. Source: `INFO memory`, which needs no right but `+info`.
package struct RedisMemory: Hashable, Sendable {
    /// `maxmemory-policy`: `noeviction`, or a way to throw keys away.
    package let policy: String
    /// `maxmemory` in bytes; 0 for no limit.
    package let limit: Int64

    package init(policy: String, limit: Int64) {
        self.policy = policy
        self.limit = limit
    }

    package static let question = RedisCommand("INFO", "memory")

    /// Reads the answer to ``question``; nil if it does not name the policy.
    package init?(_ reply: RedisReply) {
        var fields: [Substring: Substring] = [:]
        for line in (reply.text ?? "").split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        guard let policy = fields["maxmemory_policy"] else { return nil }
        self.policy = String(policy)
        self.limit = fields["maxmemory"].flatMap { Int64($0) } ?? 0
    }

    /// Whether it throws keys away that are still needed, now or once a limit is set.
    package var evicts: Bool { self.policy != "noeviction" }
}

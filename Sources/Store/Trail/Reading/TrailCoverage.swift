package import Push

/// What of the past the trail can tell, from its index.
package struct TrailCoverage: Hashable, Sendable {
    /// The generations there are, the newest first.
    let generations: [String]
    /// Nothing is older than this; nil if there is no trail.
    package let since: UnixTime?
    /// What went well at once is there from here on only: before, memory was short. Nil if it is as old as all.
    package let plainSince: UnixTime?
    /// The same for everything else.
    package let keptSince: UnixTime?
    /// How long it is kept, as the last worker said.
    package let keep: Duration?
    /// Bytes that it takes, by its own count, and may take.
    package let bytes: Int64
    package let limit: Int64
    /// Messages that workers could not write, and when that was told last.
    package let lost: Int64
    package let lostAt: UnixTime?

    /// From the index' fields. What cannot be read is left out.
    package init(_ fields: [String: RedisReply]) {
        func time(_ name: String) -> UnixTime? {
            fields[name]?.integer.map { UnixTime(milliseconds: max(0, $0)) }
        }
        let numbers = fields.keys.compactMap { name -> Int64? in
            guard name.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
            return Int64(name)
        }
        let generations = numbers.sorted(by: >).prefix(Self.limitOfGenerations)
        let begins = generations.compactMap { number in
            fields["\(number)"]?.text?.split(separator: " ").first.flatMap { Int64($0) }
        }
        self.generations = generations.map { "\($0)" }
        let since = begins.min().map { UnixTime(milliseconds: $0) }
        self.since = since
        func later(_ name: String) -> UnixTime? {
            guard let since, let time = time(name), time > since else { return nil }
            return time
        }
        self.plainSince = later("plain_since")
        self.keptSince = later("kept_since")
        self.keep = fields["keep"]?.integer.map { .milliseconds($0) }
        self.bytes = fields["bytes"]?.integer ?? 0
        self.limit = fields["limit"]?.integer ?? 0
        self.lost = fields["lost"]?.integer ?? 0
        self.lostAt = time("lost_at")
    }

    /// More than any trail has: by the hour for a week, and by memory.
    private static let limitOfGenerations = 1000
}

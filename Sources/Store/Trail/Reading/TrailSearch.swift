package import Push

/// Looks something up in the trail: says which commands to send, takes the answers, and goes on until there is a result.
/// Does no I/O, so that a verb and a server look up alike.
package struct TrailSearch: Sendable {
    /// What is looked for.
    package enum Question: Sendable, Hashable {
        /// A message, by its whole id.
        case message([UInt8])
        /// The newest messages to a token: its digits in lower case, or a channel's id.
        case token([UInt8], limit: Int)
    }

    /// What was found.
    package struct Findings: Sendable, Hashable {
        /// The newest first.
        package let stories: [MessageStory]
        package let coverage: TrailCoverage
        /// Whether there are older messages to the token.
        package let hasMore: Bool
        /// Parts of the trail that cannot be read: somebody else wrote there, or a newer version.
        package let unreadable: Int

        package init(stories: [MessageStory], coverage: TrailCoverage, hasMore: Bool, unreadable: Int) {
            self.stories = stories
            self.coverage = coverage
            self.hasMore = hasMore
            self.unreadable = unreadable
        }
    }

    package enum Step: Sendable {
        /// Send these, and hand over all replies in the same order.
        case ask([RedisCommand])
        case done(Findings)
    }

    private enum Phase {
        case index, links, messages, names
    }

    private let question: Question
    private var phase = Phase.index
    private var coverage = TrailCoverage([:])
    /// Fingerprints of messages that the token leads to, the newest last.
    private var tags: [UInt64] = []
    private var hasMore = false
    private var records: [TrailRecord] = []
    private var sessions: [UInt32] = []
    private var unreadable = 0

    package init(_ question: Question) {
        self.question = question
    }

    package var first: RedisCommand { RedisCommand("HGETALL", Keys.trailIndex) }

    /// - Parameter replies: to what was asked last, in order.
    package mutating func next(_ replies: [RedisReply]) -> Step {
        switch self.phase {
        case .index:
            self.coverage = TrailCoverage(replies.first?.pairs ?? [:])
            return self.askForLinks()
        case .links:
            self.readLinks(replies)
            return self.askForMessages()
        case .messages:
            self.readMessages(replies)
            return self.askForNames()
        case .names:
            return .done(self.findings(replies))
        }
    }

    // MARK: From a token to messages

    private mutating func askForLinks() -> Step {
        guard case .token(let digits, _) = self.question else {
            self.phase = .links
            return self.next([])
        }
        self.phase = .links
        let hash = Fingerprint.of(digits)
        return self.ask(self.lists { TrailFormat.tokens(hash, isPlain: $0) })
    }

    private mutating func readLinks(_ replies: [RedisReply]) {
        switch self.question {
        case .message(let id): self.tags = [TrailFormat.tag(ofMessage: Fingerprint.of(id))]
        case .token(let digits, let limit):
            let tag = TrailFormat.tag(ofToken: Fingerprint.of(digits))
            // Two lists for each generation, the newest first.
            for start in stride(from: 0, to: replies.count, by: 2) {
                var found: [UInt64] = []
                for reply in replies[start..<min(start + 2, replies.count)] {
                    for element in self.elements(reply) {
                        let (tags, isWhole) = TrailDecoder.messages(element, of: tag)
                        if !isWhole { self.unreadable += 1 }
                        found += tags
                    }
                }
                let new = Set(found).subtracting(self.tags)
                if self.tags.count >= limit, !new.isEmpty {
                    self.hasMore = true
                    break
                }
                // As written, so that the last ones are the newest.
                var seen: Set<UInt64> = []
                let ordered = found.reversed().filter { new.contains($0) && seen.insert($0).inserted }
                if ordered.count > Self.mostOfAGeneration { self.hasMore = true }
                self.tags += ordered.prefix(max(limit, Self.mostOfAGeneration))
            }
        }
    }

    /// Messages to one token within an hour that are looked at.
    private static let mostOfAGeneration = 50

    // MARK: Messages

    private mutating func askForMessages() -> Step {
        self.phase = .messages
        var commands: [RedisCommand] = []
        for bucket in Set(self.tags.map { $0 & 0xff }).sorted() {
            commands += self.lists { TrailFormat.messages(bucket, isPlain: $0) }
        }
        return self.ask(commands)
    }

    private mutating func readMessages(_ replies: [RedisReply]) {
        let wanted = Set(self.tags)
        for reply in replies {
            for element in self.elements(reply) {
                let (records, isWhole) = TrailDecoder.records(element)
                if !isWhole { self.unreadable += 1 }
                self.records += records.filter { wanted.contains(TrailFormat.tag(ofMessage: $0.id.hash)) }
            }
        }
        if case .message(let id) = self.question {
            let id = TrailID(id)
            self.records.removeAll { $0.id != id }
        }
    }

    // MARK: Names

    private mutating func askForNames() -> Step {
        self.phase = .names
        self.sessions = Set(self.records.map(\.session)).sorted()
        return self.ask(
            self.sessions.map { RedisCommand("HGETALL", Keys.trailSession(String($0, radix: 16))) }
        )
    }

    private func findings(_ replies: [RedisReply]) -> Findings {
        var names: [UInt32: SessionNames] = [:]
        for (session, reply) in zip(self.sessions, replies) { names[session] = SessionNames(reply.pairs ?? [:]) }
        var byMessage: [TrailID: [TrailRecord]] = [:]
        for record in self.records { byMessage[record.id, default: []].append(record) }
        var stories = byMessage.values.compactMap { StoryTeller.story(of: $0, names: names) }
        stories.sort { ($0.latest, $0.id.hash) > ($1.latest, $1.id.hash) }
        var hasMore = self.hasMore
        if case .token(let digits, let limit) = self.question {
            let token = TrailToken(digits)
            stories = stories.filter { story in story.tokens.contains { $0.identity == token } }
            if stories.count > limit {
                hasMore = true
                stories = Array(stories.prefix(limit))
            }
        }
        return Findings(stories: stories, coverage: self.coverage, hasMore: hasMore, unreadable: self.unreadable)
    }

    // MARK: Asking

    /// In every generation, the newest first: plain, then kept.
    private func lists(_ list: (_ isPlain: Bool) -> Int) -> [RedisCommand] {
        self.coverage.generations.flatMap { generation in
            [true, false].map { isPlain in
                let key = Keys.trail(generation, list: TrailFormat.name(list(isPlain)))
                return RedisCommand("LRANGE", key, "0", "-1")
            }
        }
    }

    private mutating func ask(_ commands: [RedisCommand]) -> Step {
        commands.isEmpty ? self.next([]) : .ask(commands)
    }

    private mutating func elements(_ reply: RedisReply) -> [[UInt8]] {
        guard let elements = reply.elements else {
            self.unreadable += 1
            return []
        }
        return elements.compactMap { if case .string(let bytes) = $0 { bytes } else { nil } }
    }
}

extension MessageStory {
    /// When it was last heard of.
    package var latest: UnixTime { self.deliveries.last?.received ?? self.published }
}

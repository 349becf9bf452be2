internal import Desk
internal import Foundation
internal import Push

/// What `pushfleet dead list` shows.
struct DeadListReport: Encodable, Equatable {
    struct Group: Encodable, Equatable {
        let app: String?
        let reason: String
        let apnsReason: String?
        let count: Int
        let tokens: Int
    }

    struct Letter: Encodable, Equatable {
        let id: String
        let messageId: String?
        let routingKey: String
        let app: String?
        let lane: String?
        let reason: String
        let apnsReason: String?
        let field: String?
        let detail: String?
        let attempts: Int
        let tokens: Int?
        let bodyBytes: Int
        let firstSeenMs: Int64?
        let diedAtMs: Int64?
        let ageMs: Int64?
    }

    /// In the queue, as RabbitMQ says.
    let messages: Int
    /// Of these, letters that were seen.
    let seen: Int
    /// Whether no other reader may hold some.
    let isComplete: Bool
    /// Letters that fit.
    let matched: Int
    let groups: [Group]
    /// The newest of them.
    let letters: [Letter]

    init(_ look: DeadLetterLook, limit: Int, now: UnixTime) {
        self.messages = look.ready
        self.seen = look.seen
        self.isComplete = look.isComplete
        self.matched = look.letters.count
        self.groups = DeadLetterGroup.of(look.letters).map { Group($0) }
        self.letters = look.letters.prefix(limit).map { Letter($0, now: now) }
    }

    // MARK: Text

    private static let fewGroups = 20

    func lines(isSummary: Bool) -> [String] {
        guard self.matched > 0 else {
            return [self.messages == 0 ? "no dead letters" : "none of \(self.messages) dead letters fits"]
        }
        let all = self.matched == self.messages ? "" : " of \(self.messages)"
        let groups = isSummary ? self.groups[...] : self.groups.prefix(Self.fewGroups)
        var lines = ["\(self.matched)\(all) dead letter\(self.messages == 1 ? "" : "s")"] + Self.table(groups)
        if groups.count < self.groups.count {
            lines.append("  and \(self.groups.count - groups.count) more groups; --summary shows them")
        }
        guard !self.letters.isEmpty else { return lines }
        var table = Table("id", "died", ">age", "app", "lane", "reason", ">tokens", "message")
        for letter in self.letters { table.add(letter.cells) }
        lines += [""] + table.lines()
        if self.letters.count < self.matched {
            lines.append("and \(self.matched - self.letters.count) older ones; see --limit")
        }
        return lines
    }

    static func table(_ groups: some Sequence<Group>) -> [String] {
        var table = Table(">letters", ">tokens", "app", "reason")
        for group in groups {
            table.add(
                "\(group.count)",
                "\(group.tokens)",
                Cell.text(group.app),
                Cell.reason(group.reason, group.apnsReason)
            )
        }
        return table.lines(indent: 2)
    }

    /// Hostile text in a table: escaped, and cut.
    enum Cell {
        static func text(_ text: String?, limit: Int = 48) -> String {
            guard let text, !text.isEmpty else { return "-" }
            let shown = Shown.text(text.utf8.prefix(limit * 4))
            return shown.count > limit ? "\(shown.prefix(limit - 3))..." : shown
        }

        static func reason(_ reason: String, _ apns: String?) -> String {
            let shown = Self.text(reason)
            return apns.map { "\(shown) (\(Self.text($0)))" } ?? shown
        }
    }
}

extension DeadListReport.Group {
    init(_ group: DeadLetterGroup) {
        self.app = group.app
        self.reason = group.reason
        self.apnsReason = group.apnsReason
        self.count = group.count
        self.tokens = group.tokens
    }
}

extension DeadListReport.Letter {
    init(_ letter: DeadLetter, now: UnixTime) {
        self.id = "\(letter.id)"
        self.messageId = letter.messageID.isEmpty ? nil : String(decoding: letter.messageID, as: UTF8.self)
        self.routingKey = letter.routingKey
        self.app = letter.app
        self.lane = letter.lane?.rawValue
        self.reason = letter.reason
        self.apnsReason = letter.apnsReason
        self.field = letter.field
        self.detail = letter.detail
        self.attempts = letter.attempts
        self.tokens = letter.tokens
        self.bodyBytes = letter.bodyBytes
        self.firstSeenMs = letter.firstSeen?.milliseconds
        self.diedAtMs = letter.diedAt?.milliseconds
        self.ageMs = letter.diedAt.map { max(0, (now - $0).milliseconds) }
    }

    fileprivate var cells: [String] {
        typealias Cell = DeadListReport.Cell
        return [
            self.id, self.diedAtMs.map { String(Moment.full($0).prefix(19)) } ?? "-",
            self.ageMs.map { Self.age($0) } ?? "-", Cell.text(self.app), self.lane ?? "-",
            Cell.reason(self.reason, self.apnsReason), self.tokens.map(String.init) ?? "-", Cell.text(self.messageId),
        ]
    }

    /// To the largest two units.
    static func age(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let unit: Int64 = seconds >= 86_400 ? 3600 : seconds >= 3600 ? 60 : 1
        return DurationText.spoken(.seconds(seconds / unit * unit))
    }
}

extension Terminal {
    /// JSON that a terminal cannot take for orders: whatever is no ASCII is escaped.
    static func print(ascii value: some Encodable) throws {
        Self.print(DeadLetterFile.ascii(String(decoding: try Self.encode(value), as: UTF8.self)))
    }
}

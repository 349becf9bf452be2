package import Push

/// Which dead letters are meant. What is nil or empty restricts nothing; everything else must fit.
package struct DeadLetterFilter: Equatable, Sendable {
    package var app: String?
    package var lane: Lane?
    /// A dead letter's reason.
    package var reason: String?
    /// Apple's reason.
    package var apnsReason: String?
    /// Died before this time.
    package var diedBefore: UnixTime?
    /// Died at this time or later.
    package var diedSince: UnixTime?
    /// The whole message id.
    package var messageID: [UInt8]?
    /// A part of the message id, of the field or of the detail.
    package var text: String?
    package var ids: Set<DeadLetterID>?

    package init() {}

    package static let all = DeadLetterFilter()

    package func matches(_ letter: DeadLetter) -> Bool {
        if let ids, !ids.contains(letter.id) { return false }
        if let app, letter.app != app { return false }
        if let lane, letter.lane != lane { return false }
        if let messageID, letter.messageID != messageID { return false }
        if let diedBefore {
            guard let time = letter.diedAt, time < diedBefore else { return false }
        }
        if let diedSince {
            guard let time = letter.diedAt, time >= diedSince else { return false }
        }
        if let text, !text.isEmpty, !Self.contains(text, letter) { return false }
        return self.matchesReasons(letter)
    }

    private func matchesReasons(_ letter: DeadLetter) -> Bool {
        if let reason, letter.reason != reason { return false }
        if let apnsReason, letter.apnsReason != apnsReason { return false }
        return true
    }

    /// The same but for the reasons: what a list may be narrowed down from.
    package var withoutReasons: DeadLetterFilter {
        var filter = self
        filter.reason = nil
        filter.apnsReason = nil
        return filter
    }

    /// By bytes: a search among characters takes ten times as long, and there may be a hundred thousand letters.
    private static func contains(_ text: String, _ letter: DeadLetter) -> Bool {
        let part = Array(text.utf8)
        return Self.contains(part, in: letter.messageID)
            || Self.contains(part, in: Array((letter.field ?? "").utf8))
            || Self.contains(part, in: Array((letter.detail ?? "").utf8))
    }

    private static func contains(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
        guard let first = part.first, bytes.count >= part.count else { return false }
        return (0...(bytes.count - part.count)).contains { start in
            bytes[start] == first && bytes[start..<(start + part.count)].elementsEqual(part)
        }
    }
}

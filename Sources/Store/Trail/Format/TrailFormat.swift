internal import Push

/// How the trail lies in Redis: where a message or token is looked for, and the codes of its records.
///
/// The trail is kept in generations: spans of time, or of memory if that is less. In each, a record lies in one of 256
/// lists by the message's ``Fingerprint``, and what leads from a token to its messages in one of 256 by the token's. Both
/// exist twice: what went well at once is thrown away first when memory is short.
enum TrailFormat {
    static let version: UInt8 = 1
    /// The first bytes of each element of a message list: version, session, time.
    static let headLength = 11
    /// One step from a token to a message.
    static let linkLength = 10
    /// Message ids longer than this are cut and told apart by their fingerprint.
    static let longestID = 48
    static let keptOfLongID = 40

    /// A list's number: which of the four kinds, and which bucket.
    static let lists = 1024
    static func messages(_ hash: UInt64, isPlain: Bool) -> Int { (isPlain ? 0 : 512) + Int(hash & 0xff) }
    static func tokens(_ hash: UInt64, isPlain: Bool) -> Int { (isPlain ? 256 : 768) + Int(hash >> 56) }

    /// The end of a list's key: `p` for plain or `k` for kept, `m` for messages or `t` for tokens, bucket in two
    /// hexadecimal digits.
    static func nameBytes(_ list: Int) -> InlineArray<4, UInt8> {
        func digit(_ value: Int) -> UInt8 { UInt8(truncatingIfNeeded: value < 10 ? 0x30 + value : 0x57 + value) }
        return [
            UInt8(ascii: list < 512 ? "p" : "k"), UInt8(ascii: list & 0x100 == 0 ? "m" : "t"), digit(list >> 4 & 15),
            digit(list & 15),
        ]
    }

    static func name(_ list: Int) -> String {
        withUnsafeBytes(of: self.nameBytes(list)) { String(decoding: $0, as: UTF8.self) }
    }

    /// What of a token's fingerprint stands in the lists.
    static func tag(ofToken hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash) }
    /// What of a message's fingerprint leads to it; the lowest byte is its bucket.
    static func tag(ofMessage hash: UInt64) -> UInt64 { hash & 0xffff_ffff_ffff }

    // MARK: Flags of a record

    static let historyFollows: UInt8 = 0x10
    static let isRedelivered: UInt8 = 0x20
    static let isRefused: UInt8 = 0x40
    static let isBroadcast: UInt8 = 0x80

    // MARK: Flags of a token

    static let isAnswered: UInt8 = 0x10
    static let isNamed: UInt8 = 0x20
    static let earlierFollow: UInt8 = 0x40
    static let wasResent: UInt8 = 0x80
}

/// How a message id is written.
enum TrailIDKind: UInt8 {
    case text, uuid, body, long
}

/// What became of a delivery at the worker that had it.
package enum TrailEnd: UInt8, Sendable, Hashable {
    /// Still with the worker when this was written.
    case open
    /// Acknowledged: every token was settled, and what goes on was confirmed by the broker.
    case acknowledged
    /// Handed back to the broker, which hands it out again.
    case returned
    /// The connection to the broker broke: the broker hands it out again.
    case lost
}

/// What became of a token while the worker had its message.
package enum TrailState: UInt8, Sendable, Hashable, CaseIterable {
    /// Not sent yet, or to be sent once more.
    case waiting
    /// Sent, and without an answer so far.
    case sent
    case delivered
    /// To be tried again after a failed attempt.
    case retry
    /// To be tried again; nothing of it counts as an attempt.
    case postponed
    /// Its `not_before` lies ahead.
    case held
    case deadLetter
    case gone
    /// Given back untried.
    case returned
    /// Done in an earlier delivery; never written.
    case done
    /// Called off before it was due.
    case cancelled
}

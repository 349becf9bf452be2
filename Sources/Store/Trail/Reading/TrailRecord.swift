package import Push

/// What one worker wrote of one message while it had it: a delivery, or a part of its tokens.
package struct TrailRecord: Hashable, Sendable {
    package let id: TrailID
    /// The worker's run.
    package let session: UInt32
    /// The name of app and lane.
    package let line: Int
    package let received: UnixTime
    package let published: UnixTime
    package let ended: UnixTime
    package let end: TrailEnd
    package let isRedelivered: Bool
    package let isBroadcast: Bool
    package let attempts: Int
    package let copies: Int
    package let deliveries: Int
    /// The name of the reason why it was no job; 0 if it was.
    package let refusal: Int
    /// Tokens of the whole message.
    package let total: Int
    package let tokens: [Token]

    package struct Token: Hashable, Sendable {
        package let identity: TrailToken
        package let state: TrailState
        package let answer: Answer?
        package let earlier: [Answer]
        /// The name of an answer other than 200, or of why it was put off; 0 for none.
        package let name: Int
        package let sends: Int
        /// See ``TokenTrace/detail``; for a token without an answer milliseconds until it was sent.
        package let detail: Int
    }

    package struct Answer: Hashable, Sendable {
        package let time: UnixTime
        package let latency: Duration
        package let connection: Int
        package let name: Int
    }
}

/// Which token a record speaks of: enough to recognise it, not to send to it.
package struct TrailToken: Hashable, Comparable, Sendable {
    /// The first and last two bytes; 0 if it is no token of 16 digits or more.
    package let ends: UInt32
    package let tag: UInt32

    init(ends: UInt32, tag: UInt32) {
        self.ends = ends
        self.tag = tag
    }

    /// - Parameter digits: in lower case; or a channel's id.
    package init(_ digits: [UInt8]) {
        var trace = TokenTrace()
        digits.withUnsafeBytes { trace.identify($0, hash: Fingerprint.of($0)) }
        self.init(ends: trace.ends, tag: TrailFormat.tag(ofToken: trace.hash))
    }

    /// As logs show tokens.
    package var redacted: String {
        guard self.ends != 0 else { return "…" }
        let digits = Self.hexadecimal(self.ends)
        return "\(digits.prefix(4))…\(digits.suffix(4))"
    }

    /// Names the token among those of its message: 16 hexadecimal digits.
    package var name: String { Self.hexadecimal(self.ends) + Self.hexadecimal(self.tag) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.ends, left.tag) < (right.ends, right.tag)
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

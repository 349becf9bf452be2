internal import Push
package import Store

/// What is asked of the trail: a message by its id, or what was last sent to a token.
package struct FindQuestion: Equatable, Sendable {
    /// What is wrong with a question; the second half of a sentence but for ``what``, which is a whole one.
    package enum Fault: Equatable, Sendable {
        case what(String)
        case token(String)
        case limit(String)
    }

    /// A message id, a device token in hex, or a channel's id.
    package let what: String
    /// Only this token of the message.
    package let token: String?
    /// Only messages of this app.
    package let app: String?
    /// The most messages to show for a token.
    package let limit: Int

    package init(_ what: String, token: String? = nil, app: String? = nil, limit: Int = 10) {
        self.what = what
        self.token = token
        self.app = app
        self.limit = limit
    }

    /// Why it cannot be asked; nil if it can.
    package var fault: Fault? {
        if self.what.isEmpty || self.what.utf8.count > 256 {
            return .what("give a message_id of 1 to 255 bytes, a device token or a channel's id")
        }
        if !(1...100).contains(self.limit) { return .limit("must be 1 to 100") }
        if let token = self.token, !Self.isToken(token) {
            return .token("is no device token: an even number of hexadecimal digits, 2 to 200")
        }
        return nil
    }

    /// Looks first for a message id, then for what a message was sent to.
    /// - Parameter shown: how text from outside is written, see ``FindReport``.
    package func ask(
        _ reader: TrailReader,
        shown: ([UInt8]) -> String = { Shown.text($0) }
    ) async throws(RedisFailure) -> FindReport {
        let target = Self.isToken(self.what) ? self.what.lowercased() : self.what
        let token = self.token?.lowercased()
        let found = self.select(try await reader.find(.message(Array(self.what.utf8))))
        if !found.stories.isEmpty || token != nil {
            return FindReport(self.what, .messageID, found, token: token, shown: shown)
        }
        // One more than are shown, of all apps.
        let limit = self.app == nil ? self.limit : 100
        let others = self.select(try await reader.find(.token(Array(target.utf8), limit: limit)))
        return FindReport(self.what, .token, others, token: target, shown: shown)
    }

    private func select(_ findings: TrailSearch.Findings) -> TrailSearch.Findings {
        guard let app = self.app else { return findings }
        let stories = findings.stories.filter { $0.app == app }
        return TrailSearch.Findings(
            stories: Array(stories.prefix(self.limit)),
            coverage: findings.coverage,
            hasMore: findings.hasMore || stories.count > self.limit,
            unreadable: findings.unreadable
        )
    }

    private static func isToken(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { DeviceToken.isValid($0) }
    }
}

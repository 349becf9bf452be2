internal import APNs
internal import Push

/// What the first push with a good token bound a connection to.
///
/// Source: Apple, "Establishing a token-based connection to APNs": the connection keeps the team and the bundle ids of
/// that moment; what is added to the team later needs a new connection.
struct CredentialBinding: Sendable {
    /// The key of the first good token.
    private(set) var key: RegisteredKey?
    /// The topics of that moment.
    private(set) var topics: TopicRules?
    var updates = TokenUpdates()
    /// What the client showed in the handshake; with it provider tokens are ignored.
    var certificate: ClientCertificate?
    /// The sender's address.
    var source = ""
    /// The token that was used last, which nearly always is the next one as well.
    var lastToken: Int?

    mutating func bind(to key: RegisteredKey, topics: TopicRules) {
        self.key = key
        self.topics = topics
    }

    /// Why a token of `other` does not fit on this connection.
    func refusal(of other: RegisteredKey) -> Reason? {
        guard let key = self.key, key !== other else { return nil }
        if key.key.team != other.key.team { return .invalidProviderToken }
        if key.key.id == other.key.id { return nil }
        // A key for the team and one for some topics never go together, related or not.
        guard (key.topics == nil) == (other.topics == nil) else { return .unrelatedKeyIDInToken }
        return key.key.related == other.key.id || other.key.related == key.key.id
            ? nil : .unrelatedKeyIDInToken
    }
}

/// The provider tokens that one connection (or one key) has used, and whether one more is too many.
///
/// Source: Apple, "Establishing a token-based connection to APNs": no new token more than once per 20 minutes.
struct TokenUpdates: Sendable {
    private var seen: [Int] = []
    private var newestAt = UnixTime(milliseconds: .min)

    /// A token that was used before may be used again; a new one only when the last new one is old enough.
    mutating func admit(_ token: Int, at now: UnixTime, interval: Duration) -> Bool {
        if self.seen.contains(token) { return true }
        guard self.seen.isEmpty || now - self.newestAt >= interval else { return false }
        if self.seen.count == 16 { self.seen.removeFirst() }
        self.seen.append(token)
        self.newestAt = now
        return true
    }
}

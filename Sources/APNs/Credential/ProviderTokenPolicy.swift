package import Push

/// When to use, ask for, or refuse to replace a provider token: reused for 50 minutes, never replaced within 20.
///
/// Apple takes a token for up to one hour and answers `TooManyProviderTokenUpdates` when it changes more than once in
/// 20 minutes. The fleet shares one token per key, so "ask" means to look whether another worker has minted one.
package struct ProviderTokenPolicy: Sendable {
    /// Age at which a new token is asked for.
    package static let refreshAge: Duration = .seconds(50 * 60)
    /// Age below which a token is never replaced, even when Apple refuses it.
    package static let minimumAge: Duration = .seconds(20 * 60)
    /// Age from which Apple refuses a token.
    package static let maximumAge: Duration = .seconds(60 * 60)

    /// The token to send with, if there is one that Apple will take.
    package private(set) var current: ProviderToken?
    private var refusedAt: UnixTime?
    private var isAsking = false

    package init() {}

    /// Whether a token must be fetched or minted now; true once, until `received` or `failed` answers it.
    package mutating func shouldAsk(at now: UnixTime) -> Bool {
        guard !self.isAsking, self.needsNew(at: now) else { return false }
        self.isAsking = true
        return true
    }

    private func needsNew(at now: UnixTime) -> Bool {
        guard let current = self.current else { return true }
        let age = now - current.issuedAt
        // A token from the future means that a clock stepped; it is as bad as an old one.
        if age >= Self.refreshAge || age < .seconds(-60) { return true }
        return self.refusedAt != nil && age >= Self.minimumAge
    }

    /// The token to use at `now`; nil when none is young enough.
    package func usable(at now: UnixTime) -> ProviderToken? {
        guard let current = self.current, now - current.issuedAt < Self.maximumAge else { return nil }
        return current
    }

    /// The asked-for token came, from the fleet's store or freshly minted.
    package mutating func received(_ token: ProviderToken) {
        self.isAsking = false
        if token != self.current { self.refusedAt = nil }
        self.current = token
    }

    /// The asked-for token did not come; ask again.
    package mutating func failed() {
        self.isAsking = false
    }

    /// Apple answered `ExpiredProviderToken`: replace it as soon as its age allows.
    package mutating func refused(at now: UnixTime) {
        self.refusedAt = now
    }
}

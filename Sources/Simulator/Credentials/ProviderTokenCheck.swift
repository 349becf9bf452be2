internal import Glibc
internal import Push

/// Verifies the `authorization` header of every request.
///
/// A token is taken apart and its signature checked once; after that its bytes are its name. Its age, its key and its
/// fitness for the connection are judged each time.
struct ProviderTokenCheck: Sendable {
    struct Settings: Sendable {
        var environment: APNsEnvironment = .production
        /// Whether a well-formed token of a key that was never added is taken, unverified, as one of a key that may do
        /// all. For trying things out by hand; Apple takes none.
        var acceptsAnyKey = false
        /// How far `iat` may lie in the past or in the future.
        var maximumAge: Duration = .seconds(3600)
        /// The least time between two new tokens.
        var updateInterval: Duration = .seconds(20 * 60)
        var updateScope = ProviderTokenScope.connection
        var spelling = EnvironmentKeySpelling.wire
    }

    enum Result {
        /// The number under which the token is known, and the key that signed it.
        case accepted(token: Int, key: RegisteredKey)
        /// The number is nil when there was no token.
        case refused(Reason, token: Int?)
    }

    private enum Origin {
        /// Not looked at under the present keys.
        case unknown
        case forged
        case signed(by: RegisteredKey)
    }

    private struct Token {
        let header: [UInt8]
        let parsed: JSONWebToken?
        var origin = Origin.unknown
        var use: ProviderTokenUse
    }

    var settings: Settings
    /// By `kid`, without those that were revoked.
    private var keys: [String: RegisteredKey] = [:]
    private var revoked: [String: RegisteredKey] = [:]
    /// By team and `kid`; see ``Settings/acceptsAnyKey``.
    private var adopted: [String: RegisteredKey] = [:]
    private var tokens: [Token] = []
    private var numbers: [UInt64: Int] = [:]
    /// By key or source, when the scope is not the connection.
    private var updates: [String: TokenUpdates] = [:]

    init(settings: Settings) {
        self.settings = settings
    }

    // MARK: Keys

    /// Adds a key, or replaces the one with the same id.
    mutating func add(_ key: ProviderKey) throws(ProviderKeyError) {
        self.keys[key.id] = try RegisteredKey(key)
        self.revoked[key.id] = nil
        self.forgetOrigins()
    }

    /// From now on its tokens are invalid.
    /// - Returns: whether there was such a key.
    mutating func revoke(_ id: String) -> Bool {
        self.forgetOrigins()
        guard let key = self.keys.removeValue(forKey: id) else { return false }
        self.revoked[id] = key
        return true
    }

    /// Takes its revocation back.
    /// - Returns: whether it was revoked.
    mutating func restore(_ id: String) -> Bool {
        self.forgetOrigins()
        guard let key = self.revoked.removeValue(forKey: id) else { return false }
        self.keys[id] = key
        return true
    }

    /// The `kid`s in use.
    var keyIDs: [String] { self.keys.keys.sorted() }
    /// The `kid`s that were revoked and not restored or replaced.
    var revokedIDs: [String] { self.revoked.keys.sorted() }

    private mutating func forgetOrigins() {
        for index in self.tokens.indices { self.tokens[index].origin = .unknown }
    }

    // MARK: Tokens

    /// Judges the value of a request's `authorization` header, and binds the connection when it is the first good one.
    mutating func check(
        _ header: ArraySlice<UInt8>?,
        binding: inout CredentialBinding,
        topics: TopicRules,
        at now: UnixTime
    ) -> Result {
        guard let header, let text = Self.bearer(header) else { return .refused(.missingProviderToken, token: nil) }
        let number = self.number(of: header, text: text, last: binding.lastToken, at: now)
        binding.lastToken = number
        self.count(number, at: now)
        guard let key = self.key(of: number) else { return .refused(.invalidProviderToken, token: number) }
        if let reason = self.refusal(of: number, key: key, binding: &binding, at: now) {
            return .refused(reason, token: number)
        }
        if binding.key == nil { binding.bind(to: key, topics: topics) }
        return .accepted(token: number, key: key)
    }

    /// Every token used since the beginning or the last reset, in the order of first use ever.
    var uses: [ProviderTokenUse] { self.tokens.lazy.map(\.use).filter { $0.requests > 0 } }

    /// Counts uses from zero; connections keep what they know.
    mutating func resetUses() {
        for index in self.tokens.indices { self.tokens[index].use.requests = 0 }
    }

    private mutating func count(_ number: Int, at now: UnixTime) {
        if self.tokens[number].use.requests == 0 { self.tokens[number].use.firstUse = now.milliseconds }
        self.tokens[number].use.lastUse = now.milliseconds
        self.tokens[number].use.requests += 1
    }

    private mutating func number(
        of header: ArraySlice<UInt8>,
        text: ArraySlice<UInt8>,
        last: Int?,
        at now: UnixTime
    ) -> Int {
        if let last, self.isToken(last, header) { return last }
        let digest = header.withUnsafeBytes { Digest.of($0) }
        if let known = self.numbers[digest], self.isToken(known, header) { return known }
        let parsed = JSONWebToken(text)
        // A peer that makes up tokens without end must not fill the memory: the last place is used again and again.
        let number = min(self.tokens.count, Self.capacity - 1)
        let use = ProviderTokenUse(
            number: number,
            keyID: parsed?.keyID ?? "",
            team: parsed?.team ?? "",
            issuedAt: parsed?.issuedAt,
            firstUse: now.milliseconds,
            lastUse: now.milliseconds,
            requests: 0
        )
        if number < self.tokens.count {
            self.numbers[Digest.of(self.tokens[number].header)] = nil
            self.tokens.removeLast()
        }
        self.tokens.append(Token(header: Array(header), parsed: parsed, use: use))
        self.numbers[digest] = number
        return number
    }

    private func isToken(_ number: Int, _ header: ArraySlice<UInt8>) -> Bool {
        self.tokens[number].header.withUnsafeBytes { known in
            header.withUnsafeBytes { bytes in
                guard bytes.count == known.count, let left = bytes.baseAddress, let right = known.baseAddress else {
                    return false
                }
                return memcmp(left, right, bytes.count) == 0
            }
        }
    }

    /// The key that signed a token, if one of ours did.
    private mutating func key(of index: Int) -> RegisteredKey? {
        switch self.tokens[index].origin {
        case .signed(let key): return key
        case .forged: return nil
        case .unknown: break
        }
        guard let parsed = self.tokens[index].parsed, let key = self.key(for: parsed) else {
            self.tokens[index].origin = .forged
            return nil
        }
        self.tokens[index].origin = .signed(by: key)
        return key
    }

    private mutating func key(for token: JSONWebToken) -> RegisteredKey? {
        if let key = self.keys[token.keyID] {
            return token.team == key.key.team && token.isSigned(by: key.verifier) ? key : nil
        }
        guard self.settings.acceptsAnyKey, self.revoked[token.keyID] == nil else { return nil }
        let name = "\(token.team).\(token.keyID)"
        if let key = self.adopted[name] { return key }
        let key = RegisteredKey(unverified: token.keyID, team: token.team)
        if self.adopted.count < Self.capacity { self.adopted[name] = key }
        return key
    }

    private mutating func refusal(
        of number: Int,
        key: RegisteredKey,
        binding: inout CredentialBinding,
        at now: UnixTime
    ) -> Reason? {
        if let environment = key.key.environment, environment != self.settings.environment {
            return self.settings.spelling == .wire ? .badEnvironmentKeyInToken : .badEnvironmentKeyIDInToken
        }
        let issuedAt = UnixTime(seconds: self.tokens[number].use.issuedAt ?? 0)
        if now - issuedAt > self.settings.maximumAge || issuedAt - now > self.settings.maximumAge {
            return .expiredProviderToken
        }
        if let reason = binding.refusal(of: key) { return reason }
        let interval = self.settings.updateInterval
        let isAdmitted =
            switch self.settings.updateScope {
            case .connection: binding.updates.admit(number, at: now, interval: interval)
            case .key: self.updates[key.key.id, default: TokenUpdates()].admit(number, at: now, interval: interval)
            case .source:
                self.updates[binding.source, default: TokenUpdates()].admit(number, at: now, interval: interval)
            }
        return isAdmitted ? nil : .tooManyProviderTokenUpdates
    }

    /// What follows the scheme's name, whose case does not matter (RFC 9110 §11.1).
    private static func bearer(_ header: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme: StaticString = "bearer "
        guard header.count > scheme.utf8CodeUnitCount else { return nil }
        for offset in 0..<scheme.utf8CodeUnitCount
        where header[header.startIndex + offset] | 0x20
            != scheme.utf8Start[offset] | 0x20
        {
            return nil
        }
        return header.dropFirst(scheme.utf8CodeUnitCount)
    }

    private static let capacity = 16_384
}

/// What a simulator has seen of one provider token.
package struct ProviderTokenUse: Codable, Equatable, Sendable {
    /// Tells tokens apart within one simulator.
    package var number: Int
    /// `kid` and `iss`; empty when the token could not be read.
    package var keyID: String
    package var team: String
    /// `iat`, seconds since 1970.
    package var issuedAt: Int64?
    /// Milliseconds since 1970.
    package var firstUse: Int64
    package var lastUse: Int64
    /// How many requests carried it.
    package var requests: Int
}

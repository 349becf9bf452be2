package import Push

/// A provider token that the whole fleet uses, and how old it is by the clock of Redis.
package struct FleetToken: Hashable, Sendable {
    /// The JWT as it goes into the `authorization` header: a secret for as long as Apple honours it.
    package let jwt: String
    package let issued: UnixTime
    /// When Redis answered; on arrival a little more.
    package let age: Duration

    package init(jwt: String, issued: UnixTime, age: Duration) {
        self.jwt = jwt
        self.issued = issued
        self.age = age
    }
}

/// One provider token per signing key for the whole fleet.
///
/// Apple refuses a token that is older than an hour, and asks that it be renewed no more often than every 20 minutes
/// ("Establishing a token-based connection to APNs"; reason `TooManyProviderTokenUpdates`). So one worker makes it under
/// a short lock, everyone uses it for 50 minutes, and within 20 minutes nobody gets another, not even who asks.
///
/// Redis then holds a secret that lets its holder send pushes for at most an hour: see that only workers may read
/// `pf:token:*`.
package struct SharedProviderToken: Sendable {
    /// What to do.
    package enum Answer: Hashable, Sendable {
        case use(FleetToken)
        /// Make one and `store` it within the lock's time; until then the old one, if any, is still good.
        case make(until: Duration, old: FleetToken?)
        /// Another worker is making one; ask again after this time.
        case wait(Duration)
    }

    /// How long a token is used; 50 min.
    package static let reuse = Duration.seconds(50 * 60)
    /// Within which no other token is made; 20 min.
    package static let pause = Duration.seconds(20 * 60)
    /// After which Apple refuses a token, and Redis forgets it; 60 min.
    package static let life = Duration.seconds(60 * 60)
    /// How long one worker may take to make one; 5 s.
    package static let lock = Duration.seconds(5)

    private let key: String
    private let id: InstanceID

    /// - Parameters:
    ///   - team: Apple's team identifier.
    ///   - key: the signing key's identifier.
    ///   - id: this worker, as the lock's owner.
    package init(team: String, key: String, id: InstanceID) {
        self.key = Keys.token(team: team, key: key)
        self.id = id
    }

    /// Asks for the token.
    /// - Parameters:
    ///   - fresh: Apple refused the token as expired: another one is wanted. Has no effect while it is under 20 minutes old.
    ///   - own: the token that this worker uses. If Redis has lost its own, the fleet goes on with this one.
    package func ask(fresh: Bool = false, own: FleetToken? = nil) -> ScriptCall {
        self.ask(fresh: fresh, own: own, script: ProviderTokenScript.ask)
    }

    func ask(fresh: Bool, own: FleetToken?, script: Script) -> ScriptCall {
        var call = ScriptCall(script, keys: [self.key])
        call.add(self.id.description)
        call.add(fresh ? 1 : 0)
        call.add(own?.jwt ?? "")
        call.add(milliseconds: own?.age ?? .zero)
        for time in [Self.reuse, Self.pause, Self.life, Self.lock] { call.add(milliseconds: time) }
        return call
    }

    /// Hands in the token that this worker has made. Only the lock's holder is heard.
    package func store(_ jwt: String) -> ScriptCall {
        self.store(jwt, script: ProviderTokenScript.store)
    }

    func store(_ jwt: String, script: Script) -> ScriptCall {
        var call = ScriptCall(script, keys: [self.key])
        call.add(self.id.description)
        call.add(jwt)
        call.add(milliseconds: Self.life)
        call.add(milliseconds: Self.pause)
        return call
    }

    /// Reads the reply to `ask`; nil if it is none.
    package func answer(to reply: RedisReply) -> Answer? {
        guard let parts = reply.elements, let kind = parts.first?.integer else { return nil }
        switch kind {
        case 1: return Self.token(parts).map(Answer.use)
        case 2:
            guard parts.count == 5, let lock = parts[4].integer else { return nil }
            let old = Self.token(Array(parts[..<4]))
            return .make(until: .milliseconds(lock), old: old?.jwt.isEmpty == false ? old : nil)
        case 3: return parts.count == 2 ? parts[1].integer.map { .wait(.milliseconds($0)) } : nil
        default: return nil
        }
    }

    /// Reads the reply to `store`: the token that was stored, or nil when the lock was lost; then ask again.
    package func stored(_ reply: RedisReply) -> FleetToken? {
        guard let parts = reply.elements, parts.first?.integer == 1 else { return nil }
        return Self.token(parts)
    }

    private static func token(_ parts: [RedisReply]) -> FleetToken? {
        guard parts.count == 4, let jwt = parts[1].text, let issued = parts[2].integer, let age = parts[3].integer
        else { return nil }
        return FleetToken(jwt: jwt, issued: UnixTime(milliseconds: issued), age: .milliseconds(age))
    }
}

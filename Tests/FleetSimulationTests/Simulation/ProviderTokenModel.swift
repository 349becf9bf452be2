import Push

@testable import Store

/// The two scripts of the shared provider token in Swift. A test sends the same random histories through this and
/// through the scripts.
///
/// Times are the server's, in milliseconds.
struct ProviderTokenModel {
    private(set) var jwt: String?
    private(set) var issued = 0
    private(set) var owner: String?
    private(set) var locked = 0
    /// When Redis forgets all of it; 0 while there is nothing.
    private(set) var expires = 0
    /// A rule that is taken away.
    var bug: SeededBug?

    private static let reuse = Int(SharedProviderToken.reuse.milliseconds)
    private static let pause = Int(SharedProviderToken.pause.milliseconds)
    private static let life = Int(SharedProviderToken.life.milliseconds)
    private static let lock = Int(SharedProviderToken.lock.milliseconds)

    mutating func ask(fresh: Bool, own: FleetToken?, as id: String, now: Int) -> SharedProviderToken.Answer {
        self.forget(now: now)
        if self.jwt == nil, let own, own.age >= .zero, own.age.milliseconds < Self.reuse {
            let age = Int(own.age.milliseconds)
            (self.jwt, self.issued) = (own.jwt, now - age)
            self.expires = now + Self.life - age
        }
        let age = now - self.issued
        var old = self.token(now: now)
        if let old, age >= 0 {
            if age < Self.pause, !(fresh && self.bug == .mintsWhenRefused) { return .use(old) }
            if age < Self.reuse, !fresh { return .use(old) }
        }
        if age < 0 || age >= Self.life { old = nil }
        if let owner = self.owner, owner != id, self.locked > now, self.locked <= now + Self.lock,
            self.bug != .mintsWithoutLock
        {
            return old.map { .use($0) } ?? .wait(.milliseconds(self.locked - now))
        }
        self.owner = id
        self.locked = now + Self.lock
        if self.expires - now < Self.lock { self.expires = self.locked }
        return .make(until: SharedProviderToken.lock, old: old)
    }

    mutating func store(_ jwt: String, as id: String, now: Int) -> FleetToken? {
        self.forget(now: now)
        if self.jwt == jwt { return self.token(now: now) }
        if self.bug != .mintsWithoutLock {
            guard self.owner == id, self.locked > now else { return nil }
            let age = now - self.issued
            let isYoung = age >= 0 && age < Self.pause && self.bug != .mintsWhenRefused
            if isYoung, let token = self.token(now: now) { return token }
        }
        (self.jwt, self.issued, self.owner, self.locked) = (jwt, now, nil, 0)
        self.expires = now + Self.life
        return self.token(now: now)
    }

    private mutating func forget(now: Int) {
        guard self.expires > 0, self.expires <= now else { return }
        let bug = self.bug
        self = ProviderTokenModel()
        self.bug = bug
    }

    private func token(now: Int) -> FleetToken? {
        self.jwt.map {
            FleetToken(
                jwt: $0,
                issued: UnixTime(milliseconds: Int64(self.issued)),
                age: .milliseconds(now - self.issued)
            )
        }
    }
}

internal import Crypto
internal import Push

/// One login by token.
struct Session: Sendable, Equatable {
    /// 32 random bytes.
    let id: [UInt8]
    let user: TokenBook.User
    /// What calls other than GET carry in `x-pushfleet-csrf`.
    let forgeryToken: String
    let expires: MonotonicTime
    let expiresAt: UnixTime
    var lastCall: MonotonicTime
}

/// The sessions of one dashboard. Does no I/O.
struct SessionTable {
    static let life: Duration = .seconds(8 * 3600)
    static let idleLife: Duration = .seconds(30 * 60)
    /// Logging in again and again must not fill the memory: beyond this the longest idle one ends.
    static let limit = 10_000

    private(set) var sessions: [[UInt8]: Session] = [:]

    mutating func open(_ user: TokenBook.User, at now: MonotonicTime, wallTime: UnixTime) -> Session {
        if self.sessions.count >= Self.limit {
            self.sessions = self.sessions.filter { Self.isAlive($0.value, at: now) }
            let idlest = self.sessions.min { $0.value.lastCall < $1.value.lastCall }
            if self.sessions.count >= Self.limit, let idlest { self.sessions[idlest.key] = nil }
        }
        let session = Session(
            id: Secret.random(32),
            user: user,
            forgeryToken: Base64URL.encode(Secret.random(32)),
            expires: now + Self.life,
            expiresAt: wallTime + Self.life,
            lastCall: now
        )
        self.sessions[session.id] = session
        return session
    }

    /// The session, if it is not over; nil also for one whose user is not in the book any more.
    /// - Parameter isCall: whether this keeps it from ending by idleness.
    mutating func find(_ id: [UInt8], at now: MonotonicTime, book: TokenBook, isCall: Bool) -> Session? {
        guard var session = self.sessions[id] else { return nil }
        guard Self.isAlive(session, at: now), book.contains(session.user) else {
            self.sessions[id] = nil
            return nil
        }
        if isCall {
            session.lastCall = now
            self.sessions[id] = session
        }
        return session
    }

    mutating func close(_ id: [UInt8]) { self.sessions[id] = nil }

    private static func isAlive(_ session: Session, at now: MonotonicTime) -> Bool {
        now < session.expires && now - session.lastCall < Self.idleLife
    }
}

/// Signs what a cookie holds, so that ids that were never given out are refused without looking them up.
struct CookieSigner: Sendable {
    private let key = SymmetricKey(size: .bits256)

    func text(of id: [UInt8]) -> String {
        "\(Base64URL.encode(id)).\(Base64URL.encode(Array(HMAC<SHA256>.authenticationCode(for: id, using: self.key))))"
    }

    /// The id, if this signer has signed it.
    func id(from text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Base64URL.decode(parts[0]), let code = Base64URL.decode(parts[1]),
            id.count == 32, HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: id, using: self.key)
        else { return nil }
        return id
    }

    /// What somebody whom a proxy has let in carries instead of a session's token. It holds as long as this process
    /// lives.
    func forgeryToken(ofProxied user: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("proxy\u{0}\(user)".utf8), using: self.key)
        return Base64URL.encode(Array(code))
    }
}

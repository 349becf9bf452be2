internal import Loop
internal import Push
internal import Synchronization

/// Who somebody is, by cookie or by what a trusted proxy says, and whether a call is theirs.
final class Doorkeeper: Sendable {
    /// Somebody who may see the page.
    struct Visitor: Sendable, Equatable {
        enum Login: String, Sendable, Encodable {
            case token, proxy
        }

        let user: String
        let mayAct: Bool
        let login: Login
        let forgeryToken: String
        let expiresAt: UnixTime?
        /// Of a login by token.
        let sessionID: [UInt8]?

        /// What its streams are counted by.
        var streamKey: String { self.sessionID.map { Base64URL.encode($0) } ?? "proxy \(self.user)" }
    }

    private struct State: Sendable {
        var book: TokenBook
        var proxy: ProxyLogin?
        var sessions = SessionTable()
        var attempts = LoginAttempts()
    }

    private let state: Mutex<State>
    private let signer = CookieSigner()

    init(_ settings: DashboardSettings) {
        self.state = Mutex(State(book: settings.tokens, proxy: settings.proxy))
    }

    /// Goes by these users from now on. Sessions of those that are gone, or have another role or token, are over.
    func use(_ settings: DashboardSettings) {
        self.state.withLock { state in
            state.book = settings.tokens
            state.proxy = settings.proxy
        }
    }

    // MARK: Who calls

    /// - Parameter isCall: whether this keeps a session from ending by idleness.
    func visitor(_ call: Call, isCall: Bool = true) -> Visitor? {
        let id = call.cookie(self.cookieName(call)).flatMap { self.signer.id(from: $0) }
        return self.state.withLock { state in
            if let id, let session = state.sessions.find(id, at: call.time, book: state.book, isCall: isCall) {
                return Self.visitor(session)
            }
            return self.proxied(call, state.proxy)
        }
    }

    /// Whether somebody who was let in before still is.
    func isWelcome(_ visitor: Visitor, at now: MonotonicTime) -> Bool {
        self.state.withLock { state in
            guard let id = visitor.sessionID else {
                return state.proxy.map { $0.mayAct(visitor.user) == visitor.mayAct } ?? false
            }
            return state.sessions.find(id, at: now, book: state.book, isCall: false) != nil
        }
    }

    private func proxied(_ call: Call, _ proxy: ProxyLogin?) -> Visitor? {
        // Twice the same header is what a client may add to the proxy's.
        guard let proxy, proxy.addresses.contain(call.address), call.headers(proxy.header).count == 1,
            let user = call.header(proxy.header), (1...256).contains(user.utf8.count)
        else { return nil }
        return Visitor(
            user: user,
            mayAct: proxy.mayAct(user),
            login: .proxy,
            forgeryToken: self.signer.forgeryToken(ofProxied: user),
            expiresAt: nil,
            sessionID: nil
        )
    }

    private static func visitor(_ session: Session) -> Visitor {
        Visitor(
            user: session.user.name,
            mayAct: session.user.mayAct,
            login: .token,
            forgeryToken: session.forgeryToken,
            expiresAt: session.expiresAt,
            sessionID: session.id
        )
    }

    // MARK: Logging in and out

    /// Opens a session, for the right token.
    func logIn(_ token: String, _ call: Call) throws(Problem) -> (visitor: Visitor, cookie: String) {
        let address = self.clientAddress(call)
        let result = self.state.withLock { state -> Result<Session, Problem> in
            if let wait = state.attempts.begin(address, at: call.time) {
                var problem = Problem(
                    status: 429,
                    code: .tooMany,
                    error: "too many wrong tokens came from your address",
                    nextStep: "Wait a minute, then try again."
                )
                problem.retryAfter = Int(wait.milliseconds / 1000) + 1
                return .failure(problem)
            }
            guard let user = state.book.user(of: token) else { return .failure(.badToken) }
            state.attempts.succeeded(address)
            return .success(state.sessions.open(user, at: call.time, wallTime: WallClock.now()))
        }
        let session = try result.get()
        let life = SessionTable.life.milliseconds / 1000
        return (Self.visitor(session), self.cookie(self.signer.text(of: session.id), life: life, call))
    }

    /// Ends a session.
    /// - Returns: the cookie that takes the old one away.
    func logOut(_ visitor: Visitor, _ call: Call) -> String {
        if let id = visitor.sessionID { self.state.withLock { $0.sessions.close(id) } }
        return self.cookie("", life: 0, call)
    }

    private func cookie(_ value: String, life: Int64, _ call: Call) -> String {
        let secure = self.isSecure(call) ? "; Secure" : ""
        return "\(self.cookieName(call))=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(life)\(secure)"
    }

    /// Browsers take a name with this prefix from nobody but this host, by TLS, for all paths (RFC 6265bis, 4.1.3.2).
    private func cookieName(_ call: Call) -> String {
        self.isSecure(call) ? "__Host-pushfleet_session" : "pushfleet_session"
    }

    // MARK: Where a call comes from

    private func isTrustedProxy(_ address: String) -> Bool {
        self.state.withLock { $0.proxy?.addresses.contain(address) ?? false }
    }

    /// By TLS to here, or to the proxy before us.
    func isSecure(_ call: Call) -> Bool {
        call.isTLS || (call.header("x-forwarded-proto")?.lowercased() == "https" && self.isTrustedProxy(call.address))
    }

    /// Behind a trusted proxy: whom that has seen.
    func clientAddress(_ call: Call) -> String {
        guard self.isTrustedProxy(call.address),
            let last = call.headers("x-forwarded-for").last?.split(separator: ",").last
        else { return call.address }
        return String(last.filter { !$0.isWhitespace }.prefix(64))
    }
}

/// Whether another site's page made the browser send a call. Does no I/O.
enum Forgery {
    static let header = "x-pushfleet-csrf"

    /// - Parameter token: the session's.
    static func isForged(_ call: Call, token: String) -> Bool {
        guard let given = call.header(self.header), Secret.isEqual(given, token) else { return true }
        return self.isFromElsewhere(call)
    }

    /// A call that no token protects yet: the login. Forms of other sites cannot send JSON, and browsers say where a
    /// call comes from; programs that are no browsers say nothing.
    static func isForgedLogin(_ call: Call) -> Bool {
        let type = call.header("content-type")?.lowercased() ?? ""
        guard type == "application/json" || type.hasPrefix("application/json;") else { return true }
        return self.isFromElsewhere(call)
    }

    private static func isFromElsewhere(_ call: Call) -> Bool {
        if let site = call.header("sec-fetch-site") { return site != "same-origin" && site != "none" }
        guard let origin = call.header("origin") else { return false }
        guard let scheme = origin.firstRange(of: "://"), let host = call.header("host") else { return true }
        return origin[scheme.upperBound...].lowercased() != host.lowercased()
    }
}

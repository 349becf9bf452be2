import Push
import Testing

@testable import Dashboard

@Suite struct DoorkeeperTests {
    private static let token = "0123456789abcdef"

    private static func call(
        _ headers: [(String, String)] = [],
        from address: String = "192.0.2.1",
        isTLS: Bool = false
    ) -> Call {
        Call(
            method: "POST",
            path: "/api/session",
            query: "",
            headers: headers.map { (name: $0.0, value: $0.1) },
            address: address,
            isTLS: isTLS,
            time: MonotonicTime(nanoseconds: 1_000_000_000)
        )
    }

    private static func doorkeeper(proxy: ProxyLogin? = nil) throws -> Doorkeeper {
        var settings = DashboardSettings()
        settings.tokens = try TokenBook(parsing: "lena actor \(self.token)")
        settings.proxy = proxy
        return Doorkeeper(settings)
    }

    private static func proxy() throws -> ProxyLogin {
        ProxyLogin(header: "X-User", addresses: try AddressBlocks(parsing: "10.0.0.0/8"), actors: ["tim"])
    }

    @Test(arguments: [(false, "pushfleet_session="), (true, "__Host-pushfleet_session=")])
    func `the cookie is for this host alone, and no script sees it`(isTLS: Bool, start: String) throws {
        let doorkeeper = try Self.doorkeeper()
        let (visitor, cookie) = try doorkeeper.logIn(Self.token, Self.call(isTLS: isTLS))
        #expect(cookie.hasPrefix(start))
        for word in ["; Path=/", "; HttpOnly", "; SameSite=Strict"] { #expect(cookie.contains(word)) }
        #expect(cookie.contains("; Secure") == isTLS)
        let pair = String(cookie.prefix { $0 != ";" })
        let call = Self.call([("cookie", "a=b; \(pair)")], isTLS: isTLS)
        #expect(doorkeeper.visitor(call) == visitor)
        #expect(doorkeeper.visitor(Self.call([("cookie", "x\(pair)")], isTLS: isTLS)) == nil)
        _ = doorkeeper.logOut(visitor, call)
        #expect(doorkeeper.visitor(call) == nil)
    }

    @Test func `a wrong token is told apart from too many of them`() throws {
        let doorkeeper = try Self.doorkeeper()
        for _ in 0..<LoginAttempts.limit {
            #expect(throws: Problem.badToken) { try doorkeeper.logIn("wrong", Self.call()) }
        }
        let problem = #expect(throws: Problem.self) { try doorkeeper.logIn(Self.token, Self.call()) }
        #expect(problem?.status == 429)
        #expect(problem?.retryAfter == 61)
        #expect(throws: Never.self) { try doorkeeper.logIn(Self.token, Self.call(from: "192.0.2.2")) }
    }

    @Test func `a proxy's header counts from the proxy alone, and once`() throws {
        let doorkeeper = try Self.doorkeeper(proxy: try Self.proxy())
        let header = ("x-user", "tim")
        #expect(doorkeeper.visitor(Self.call([header])) == nil)
        let visitor = try #require(doorkeeper.visitor(Self.call([header], from: "10.1.2.3")))
        #expect(visitor.user == "tim" && visitor.mayAct && visitor.login == .proxy)
        #expect(doorkeeper.visitor(Self.call([header], from: "::ffff:10.1.2.3")) == visitor)
        #expect(doorkeeper.visitor(Self.call([("x-user", "ann")], from: "10.1.2.3"))?.mayAct == false)
        #expect(doorkeeper.visitor(Self.call([header, ("x-user", "ann")], from: "10.1.2.3")) == nil)
        #expect(doorkeeper.visitor(Self.call([("x-user", "")], from: "10.1.2.3")) == nil)
        // What the page was given holds for this user only.
        let other = try #require(doorkeeper.visitor(Self.call([("x-user", "ann")], from: "10.1.2.3")))
        #expect(other.forgeryToken != visitor.forgeryToken)
    }

    @Test func `behind a proxy, TLS and addresses are what it says, and not what others say`() throws {
        let doorkeeper = try Self.doorkeeper(proxy: try Self.proxy())
        let headers = [("x-forwarded-proto", "https"), ("x-forwarded-for", "203.0.113.9, 198.51.100.7")]
        #expect(doorkeeper.isSecure(Self.call(headers, from: "10.0.0.1")))
        #expect(!doorkeeper.isSecure(Self.call(headers)))
        #expect(doorkeeper.clientAddress(Self.call(headers, from: "10.0.0.1")) == "198.51.100.7")
        #expect(doorkeeper.clientAddress(Self.call(headers)) == "192.0.2.1")
    }

    @Test(arguments: [
        ([("x-pushfleet-csrf", "right")], false),
        ([], true),
        ([("x-pushfleet-csrf", "wrong")], true),
        ([("x-pushfleet-csrf", "")], true),
        ([("x-pushfleet-csrf", "right"), ("sec-fetch-site", "same-origin")], false),
        ([("x-pushfleet-csrf", "right"), ("sec-fetch-site", "cross-site")], true),
        ([("x-pushfleet-csrf", "right"), ("sec-fetch-site", "same-site")], true),
        ([("x-pushfleet-csrf", "right"), ("origin", "https://ops.example.com"), ("host", "ops.example.com")], false),
        ([("x-pushfleet-csrf", "right"), ("origin", "https://evil.example"), ("host", "ops.example.com")], true),
        ([("x-pushfleet-csrf", "right"), ("origin", "null"), ("host", "ops.example.com")], true),
    ])
    func `a call from elsewhere is forged`(headers: [(String, String)], isForged: Bool) {
        #expect(Forgery.isForged(Self.call(headers), token: "right") == isForged)
    }

    @Test(arguments: [
        ("application/json", "", false), ("application/json; charset=utf-8", "", false), ("text/plain", "", true),
        ("", "", true), ("application/jsonp", "", true), ("application/json", "cross-site", true),
        ("application/json", "none", false),
    ])
    func `a login is taken as JSON, and from here`(type: String, site: String, isForged: Bool) {
        let headers = [("content-type", type)] + (site.isEmpty ? [] : [("sec-fetch-site", site)])
        #expect(Forgery.isForgedLogin(Self.call(headers)) == isForged)
    }

    @Test(arguments: [
        ("10.0.0.7", "10.0.0.7", true), ("10.0.0.7", "10.0.0.8", false), ("10.0.0.0/8", "10.255.1.1", true),
        ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/9", "10.128.0.1", false), ("fd00::/8", "fdab::1", true),
        ("fd00::/8", "fe80::1", false), ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
        ("127.0.0.1, ::1", "::1", true), ("127.0.0.1", "::ffff:127.0.0.1", true), ("127.0.0.1", "localhost", false),
        ("", "127.0.0.1", false),
    ])
    func `an address lies in a block or not`(list: String, address: String, isInside: Bool) throws {
        #expect(try AddressBlocks(parsing: list).contain(address) == isInside)
    }

    @Test(arguments: [
        "10.0.0", "10.0.0.7/33", "10.0.0.7/-1", "10.0.0.7/8/9", "proxy.example.com", "fd00::/129", "10.0.0.7/",
    ])
    func `what is no block is refused`(word: String) {
        #expect(throws: AddressBlocks.Fault(word: word)) { try AddressBlocks(parsing: "::1, \(word)") }
    }
}

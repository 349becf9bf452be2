import Push
import Testing

@testable import Dashboard

@Suite struct SessionTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let wall = UnixTime(milliseconds: 1_767_225_600_000)

    private static func book() throws -> TokenBook {
        try TokenBook(parsing: "lena actor 0123456789abcdef\ntim reader 0123456789abcdeX")
    }

    @Test func `a session ends after half an hour without a call, and after eight hours with many`() throws {
        let book = try Self.book()
        var table = SessionTable()
        let session = table.open(book.users[0], at: Self.start, wallTime: Self.wall)
        #expect(session.expiresAt == Self.wall + .seconds(8 * 3600))
        var now = Self.start
        while now + .seconds(29 * 60) < Self.start + .seconds(8 * 3600) {
            now = now + .seconds(29 * 60)
            #expect(table.find(session.id, at: now, book: book, isCall: true) != nil)
        }
        #expect(table.find(session.id, at: Self.start + .seconds(8 * 3600), book: book, isCall: true) == nil)

        let idle = table.open(book.users[0], at: Self.start, wallTime: Self.wall)
        // The stream is no call.
        #expect(table.find(idle.id, at: Self.start + .seconds(29 * 60), book: book, isCall: false) != nil)
        #expect(table.find(idle.id, at: Self.start + .seconds(30 * 60), book: book, isCall: true) == nil)
        #expect(table.find(idle.id, at: Self.start, book: book, isCall: true) == nil)
    }

    @Test func `a session is over when its user is gone, has another role or another token`() throws {
        for text in ["", "lena reader 0123456789abcdef", "lena actor 0123456789abcdeY"] {
            let book = try Self.book()
            var table = SessionTable()
            let session = table.open(book.users[0], at: Self.start, wallTime: Self.wall)
            #expect(table.find(session.id, at: Self.start, book: book, isCall: true) != nil)
            let other = try TokenBook(parsing: text)
            #expect(table.find(session.id, at: Self.start, book: other, isCall: true) == nil)
        }
    }

    @Test func `sessions cannot fill the memory`() throws {
        let book = try Self.book()
        var table = SessionTable()
        let first = table.open(book.users[0], at: Self.start, wallTime: Self.wall)
        for number in 1...SessionTable.limit {
            _ = table.open(book.users[1], at: Self.start + .microseconds(number), wallTime: Self.wall)
        }
        #expect(table.sessions.count == SessionTable.limit)
        #expect(table.find(first.id, at: Self.start + .seconds(1), book: book, isCall: true) == nil)
    }

    @Test func `a cookie holds only with the signature of this server`() {
        let (signer, other) = (CookieSigner(), CookieSigner())
        let id = Secret.random(32)
        let text = signer.text(of: id)
        #expect(signer.id(from: text) == id)
        #expect(other.id(from: text) == nil)
        let parts = text.split(separator: ".").map(String.init)
        let forged = Base64URL.encode(Secret.random(32))
        for wrong in ["", ".", parts[0], "\(parts[0]).", "\(forged).\(parts[1])", "\(parts[0]).\(forged)", text + "."] {
            #expect(signer.id(from: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `an address has ten tries in a minute, and the right token costs none`() {
        var attempts = LoginAttempts()
        for _ in 0..<50 {
            #expect(attempts.begin("a", at: Self.start) == nil)
            attempts.succeeded("a")
        }
        for _ in 0..<LoginAttempts.limit { #expect(attempts.begin("a", at: Self.start) == nil) }
        #expect(attempts.begin("a", at: Self.start + .seconds(20)) == .seconds(40))
        #expect(attempts.begin("b", at: Self.start + .seconds(20)) == nil)
        #expect(attempts.begin("a", at: Self.start + .seconds(60)) == nil)
    }
}

import Crypto
import Push
import Testing

@testable import Dashboard

@Suite struct TokenBookTests {
    private static let token = String(repeating: "ab", count: 32)

    @Test func `a line gives a name, a role and a token, or its hash`() throws {
        let hash = Hex.encode(SHA256.hash(data: Array("another token, with words".utf8.prefix(16))))
        let book = try TokenBook(parsing: "# people\n\nlena actor \(Self.token)\r\n  tim\treader  sha256:\(hash)  \n")
        #expect(book.users.map(\.name) == ["lena", "tim"])
        #expect(book.users.map(\.mayAct) == [true, false])
        #expect(book.user(of: Self.token)?.name == "lena")
        #expect(book.user(of: "another token, w")?.name == "tim")
        for wrong in ["", "x", Self.token.uppercased(), Self.token + "0", hash, "sha256:\(hash)"] {
            #expect(book.user(of: wrong) == nil, "\(wrong)")
        }
    }

    @Test(arguments: [
        ("lena actor", "line 1 has 2 words"),
        ("lena\nactor", "line 1 has 1 words"),
        ("# x\nlena admin 0123456789abcdef", "line 2 has another second word"),
        ("lena actor short", "line 1 has a token of 5 bytes"),
        ("lena actor sha256:abcd", "line 1 has no SHA-256"),
        ("lena actor 0123456789abcdef\ntim reader 0123456789abcdef", "line 2 has the token of an earlier line"),
        ("lena actor 0123456789abcdef\nlena reader 0123456789abcdee", "line 2 gives a name"),
    ])
    func `a line that is none is named, and what stands there is not told`(text: String, problem: String) {
        let fault = #expect(throws: TokenBook.Fault.self) { try TokenBook(parsing: text) }
        #expect(fault?.description.hasPrefix(problem) == true, "\(fault?.description ?? "")")
        #expect(fault?.description.contains("0123456789abcde") == false)
    }

    @Test func `one user may have two tokens of the same role`() throws {
        let book = try TokenBook(parsing: "lena actor 0123456789abcdef\nlena actor 0123456789abcdeX")
        #expect(book.user(of: "0123456789abcdef")?.name == "lena")
        #expect(book.user(of: "0123456789abcdeX")?.name == "lena")
    }
}

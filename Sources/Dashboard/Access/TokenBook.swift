internal import Crypto
internal import Push

/// Who may log in, by the digests of their tokens. Tokens themselves are not kept.
package struct TokenBook: Sendable, Equatable {
    /// One line of the file.
    package struct User: Hashable, Sendable {
        package let name: String
        /// Whether the user may act, or only look.
        package let mayAct: Bool
        /// SHA-256 of the token.
        package let digest: [UInt8]
    }

    /// Why the text is none, and what to do; never says what stands there.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// From 1.
        package let line: Int
        package let problem: String

        package var description: String { "line \(self.line) \(self.problem)" }
    }

    package private(set) var users: [User] = []

    /// Nobody.
    package init() {}

    /// Reads lines of a name, `actor` or `reader`, and the token, or `sha256:` and its SHA-256 in hex. Empty lines, and
    /// lines that begin with `#`, say nothing.
    package init(parsing text: String) throws(Fault) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let user = try Self.user(words, line: index + 1)
            if self.users.contains(where: { $0.name == user.name && $0.mayAct != user.mayAct }) {
                throw Fault(line: index + 1, problem: "gives a name that an earlier line has another role for")
            }
            if self.users.contains(where: { $0.digest == user.digest }) {
                throw Fault(line: index + 1, problem: "has the token of an earlier line; each needs one of its own")
            }
            self.users.append(user)
        }
    }

    private static let leastLength = 16

    private static func user(_ words: [Substring], line: Int) throws(Fault) -> User {
        guard words.count == 3 else {
            throw Fault(
                line: line,
                problem: "has \(words.count) words; write three: a name, actor or reader, and the token or sha256:<hex>"
            )
        }
        let mayAct: Bool
        switch words[1] {
        case "actor": mayAct = true
        case "reader": mayAct = false
        default: throw Fault(line: line, problem: "has another second word than actor or reader")
        }
        guard words[0].utf8.count <= 64, words[0].unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else { throw Fault(line: line, problem: "has a name of more than 64 bytes, or with control characters") }
        let token = words[2]
        if token.hasPrefix("sha256:") {
            guard let digest = Hex.decode(Array(token.dropFirst(7).utf8)), digest.count == 32 else {
                throw Fault(line: line, problem: "has no SHA-256 behind sha256:; it is 64 hexadecimal digits")
            }
            return User(name: String(words[0]), mayAct: mayAct, digest: digest)
        }
        guard token.utf8.count >= Self.leastLength, token.utf8.count <= 512 else {
            throw Fault(
                line: line,
                problem: "has a token of \(token.utf8.count) bytes; take 16 to 512, such as openssl rand -hex 32 gives"
            )
        }
        return User(name: String(words[0]), mayAct: mayAct, digest: Self.digest(String(token)))
    }

    /// The user with this token. Takes the same time whoever it is, and if it is nobody.
    package func user(of token: String) -> User? {
        let digest = Self.digest(token)
        var found: User?
        for user in self.users where Secret.isEqual(user.digest, digest) { found = user }
        return found
    }

    /// Whether the user is still in it, with the same role and token.
    package func contains(_ user: User) -> Bool { self.users.contains(user) }

    private static func digest(_ token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }
}

/// Comparing what nobody may guess byte by byte.
enum Secret {
    /// Takes as long for a wrong text as for the right one of the same length.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }

    static func isEqual(_ left: String, _ right: String) -> Bool {
        Self.isEqual(Array(left.utf8), Array(right.utf8))
    }

    /// From the system's generator.
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

/// An HTTP proxy that connections to Apple go through (RFC 9110 §9.3.6), as operators write it:
/// `http://user:password@host:port`. The description never shows the password.
package struct Proxy: Hashable, Sendable, CustomStringConvertible {
    package let endpoint: Endpoint
    package let user: String?
    /// A secret, as is all that is made of it.
    private let password: String

    package init(endpoint: Endpoint, user: String? = nil, password: String = "") {
        self.endpoint = endpoint
        self.user = user
        self.password = password
    }

    /// Reads an address.
    /// - Throws: naming the part that is wrong, and never quoting it: it may be the rest of a password.
    package init(_ text: String) throws(ProxyError) {
        guard text.hasPrefix("http://") else {
            throw ProxyError(part: "scheme", problem: "must be http://; TLS to Apple goes through it untouched")
        }
        var rest = text.dropFirst(7)
        if rest.last == "/" { rest = rest.dropLast() }
        var login: (user: String?, password: String) = (nil, "")
        // The last @: a password may hold one that was not escaped.
        if let at = rest.lastIndex(of: "@") {
            login = try Self.login(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        self.init(endpoint: try Self.endpoint(rest), user: login.user, password: login.password)
    }

    package var description: String { "http://\(self.user.map { "\($0)@" } ?? "")\(self.endpoint)" }

    /// The value of `proxy-authorization` (RFC 7617), if there is a login.
    var authorization: String? {
        self.user.map { "Basic \(Base64.encode(Array("\($0):\(self.password)".utf8)))" }
    }

    private static func login(_ text: Substring) throws(ProxyError) -> (user: String?, password: String) {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let user = try Self.unescaped(text[..<colon], "user")
        guard !user.isEmpty, !user.contains(":") else {
            throw ProxyError(part: "user", problem: user.isEmpty ? "is missing before the @" : "must not hold a colon")
        }
        return (user, colon == text.endIndex ? "" : try Self.unescaped(text[colon...].dropFirst(), "password"))
    }

    private static func endpoint(_ text: Substring) throws(ProxyError) -> Endpoint {
        guard let colon = text.lastIndex(of: ":"), text.last != "]" else {
            throw ProxyError(part: "port", problem: "is missing; write http://host:port")
        }
        guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw ProxyError(part: "port", problem: "must be 1 to 65535")
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        let isHost = host.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7f && !"/?#[]".utf8.contains(byte)
        }
        guard !host.isEmpty, isHost else {
            throw ProxyError(part: "host", problem: host.isEmpty ? "is missing" : "has a character no host has")
        }
        return Endpoint(host: String(host), port: port)
    }

    /// Percent-decoding, RFC 3986 §2.1.
    private static func unescaped(_ text: Substring, _ part: String) throws(ProxyError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
                throw ProxyError(part: part, problem: "has a % that is not followed by two hexadecimal digits")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw ProxyError(part: part, problem: "has a control character")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Which part of a proxy's address is wrong, and how.
package struct ProxyError: Error, Equatable, Sendable, CustomStringConvertible {
    package let part: String
    package let problem: String

    package var description: String { "proxy address: the \(self.part) \(self.problem)" }
}

/// RFC 4648 §4.
private enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * index) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

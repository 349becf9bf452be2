package import Wire

/// Where Redis is and how to log in, as operators write it: `redis://user:password@host:port/db` or `rediss://…`.
///
/// The form is the one registered with IANA and used by redis-cli. The description never shows the password.
package struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    /// Default port 6379.
    package var endpoint: Endpoint
    /// `rediss`: TLS, always with a verified certificate.
    package var usesTLS = false
    /// The ACL user; nil with a password means Redis' `default` user.
    package var user: String?
    package var password: String?
    /// The number that is given to `SELECT`; 0 is where every connection begins.
    package var database = 0

    package init(host: String, port: UInt16 = 6379) {
        self.endpoint = Endpoint(host: host, port: port)
    }

    /// Reads an address.
    /// - Throws: naming the part that is wrong, and never quoting the password.
    package init(_ text: String) throws(RedisAddressError) {
        guard let colon = text.firstRange(of: "://") else {
            throw RedisAddressError(part: .scheme, problem: "must be redis:// or rediss://")
        }
        switch text[..<colon.lowerBound] {
        case "redis": self.usesTLS = false
        case "rediss": self.usesTLS = true
        default: throw RedisAddressError(part: .scheme, problem: "must be redis:// or rediss://")
        }
        var rest = text[colon.upperBound...]
        if let slash = rest.firstIndex(of: "/") {
            self.database = try Self.database(rest[rest.index(after: slash)...])
            rest = rest[..<slash]
        }
        if rest.contains("?") || rest.contains("#") {
            throw RedisAddressError(part: .host, problem: "must not be followed by ? or #")
        }
        // The last @: a password may hold one that was not escaped.
        if let at = rest.lastIndex(of: "@") {
            (self.user, self.password) = try Self.login(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        self.endpoint = try Self.endpoint(rest)
    }

    package var description: String {
        let scheme = self.usesTLS ? "rediss" : "redis"
        let login = self.user.map { "\($0)@" } ?? ""
        return "\(scheme)://\(login)\(self.endpoint)/\(self.database)"
    }

    private static func database(_ text: Substring) throws(RedisAddressError) -> Int {
        if text.isEmpty { return 0 }
        guard let number = Int(text), (0...65_535).contains(number) else {
            throw RedisAddressError(part: .database, problem: "must be a number, is \"\(text)\"")
        }
        return number
    }

    private static func login(_ text: Substring) throws(RedisAddressError) -> (user: String?, password: String?) {
        let colon = text.firstIndex(of: ":")
        let user = try Self.unescaped(text[..<(colon ?? text.endIndex)], part: .user)
        let password = try colon.map { colon throws(RedisAddressError) in
            try Self.unescaped(text[text.index(after: colon)...], part: .password)
        }
        guard let password, !password.isEmpty else {
            throw RedisAddressError(part: .password, problem: "is missing; write user:password@ or :password@")
        }
        return (user.isEmpty ? nil : user, password)
    }

    private static func endpoint(_ text: Substring) throws(RedisAddressError) -> Endpoint {
        var host = text
        var port: Substring?
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else {
                throw RedisAddressError(part: .host, problem: "has [ without ]")
            }
            host = text[text.index(after: text.startIndex)..<end]
            let tail = text[text.index(after: end)...]
            guard tail.isEmpty || tail.first == ":" else {
                throw RedisAddressError(part: .host, problem: "is followed by something that is not a port")
            }
            port = tail.isEmpty ? nil : tail.dropFirst()
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw RedisAddressError(part: .host, problem: host.isEmpty ? "is missing" : "has a character no host has")
        }
        guard let port else { return Endpoint(host: String(host), port: 6379) }
        guard let number = UInt16(port), number > 0 else {
            throw RedisAddressError(part: .port, problem: "must be 1 to 65535, is \"\(port)\"")
        }
        return Endpoint(host: String(host), port: number)
    }

    /// Percent-decoding, RFC 3986 §2.1.
    private static func unescaped(
        _ text: Substring,
        part: RedisAddressError.Part
    ) throws(RedisAddressError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
                throw RedisAddressError(part: part, problem: "has a % that is not followed by two hexadecimal digits")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Which part of a Redis address is wrong, and how.
package struct RedisAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Part: String, Sendable {
        case scheme, user, password, host, port, database
    }

    package let part: Part
    package let problem: String

    package var description: String { "Redis address: the \(self.part.rawValue) \(self.problem)" }
}

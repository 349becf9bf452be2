/// Where an http subscriber listens: a URL with what of it matters (RFC 3986).
package struct WebhookURL: Equatable, Sendable {
    /// As it was given.
    package let text: String
    package let isTLS: Bool
    /// In lower case, without brackets.
    package let host: String
    package let port: Int
    /// User and password as they stand in the URL; nil without.
    package let userInfo: String?
    /// Path and query; `/` at least.
    package let target: String

    /// Bytes of a URL.
    private static let limit = 2048

    /// Nil for what is no http or https URL, and for one with a fragment, which no request carries.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains("#"),
            !text.contains("\\"), let scheme = text.firstIndex(of: ":"), text[scheme...].hasPrefix("://")
        else { return nil }
        switch text[..<scheme].lowercased() {
        case "http": self.isTLS = false
        case "https": self.isTLS = true
        default: return nil
        }
        let rest = text[text.index(scheme, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<end]
        let target = rest[end...]
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
        self.userInfo = authority.lastIndex(of: "@").map { String(authority[..<$0]) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        self.host = host.lowercased()
        self.port = port ?? (self.isTLS ? 443 : 80)
        self.text = text
    }

    private static func hostAndPort(_ authority: Substring) -> (Substring, Int?)? {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<close]
            guard CIDR.isAddress(String(host)), host.contains(":") else { return nil }
            let rest = authority[authority.index(after: close)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            if !rest.isEmpty { port = rest.dropFirst() }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                port = authority[authority.index(after: colon)...]
            }
            guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(ARN.isDotted), !host.hasPrefix("."),
                !host.hasPrefix("-")
            else { return nil }
        }
        guard let port else { return (host, nil) }
        guard (1...5).contains(port.utf8.count), port.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(port), (1...65_535).contains(number)
        else { return nil }
        return (host, number)
    }

    /// As it is shown: without the password.
    package var shown: String {
        guard let userInfo, let colon = userInfo.firstIndex(of: ":"), let start = self.text.firstRange(of: userInfo)
        else {
            return self.text
        }
        return self.text[..<start.lowerBound] + userInfo[..<colon] + ":****" + self.text[start.upperBound...]
    }

    /// The same place without user and password.
    package var withoutUserInfo: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return "\(self.isTLS ? "https" : "http")://\(host):\(self.port)\(self.target)"
    }
}

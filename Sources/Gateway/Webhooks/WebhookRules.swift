internal import SNS

/// To whom messages may be posted: subscribers name any address they like, and the gateway stands inside the operator's
/// network.
package struct WebhookRules: Equatable, Sendable {
    /// Every address of the public internet.
    private var allowsPublic = false
    /// Names, each with all below it if it begins with a dot.
    private var hosts: [String] = []
    private var blocks: [CIDR] = []

    /// What goes without saying.
    package static let standard = WebhookRules(allowsPublic: true)

    private init(allowsPublic: Bool) {
        self.allowsPublic = allowsPublic
    }

    /// Reads a list of `public`, hosts, `*.` and a domain, addresses, and blocks such as `10.0.0.0/8`; or `none`.
    /// - Throws: ``Problem``, which says what is wrong with which part.
    package init(parsing text: String) throws(Problem) {
        let parts = text.split { $0 == "," || $0 == " " || $0 == "\n" }.map { $0.lowercased() }
        guard !parts.isEmpty else { throw Problem(phrase: "allows nothing; write none for that, or public") }
        for part in parts where part != "none" {
            if part == "public" {
                self.allowsPublic = true
            } else if let block = CIDR(part) ?? CIDR("\(part)/\(part.contains(":") ? 128 : 32)") {
                self.blocks.append(block)
            } else if part.hasPrefix("*."), Self.isName(part.dropFirst(2)) {
                self.hosts.append(String(part.dropFirst()))
            } else if Self.isName(part[...]) {
                self.hosts.append(part)
            } else {
                throw Problem(
                    phrase: "has \"\(part)\", which is not public, a host, *.<domain>, an address or a block of them"
                )
            }
        }
        guard parts.contains("none") == false || parts.count == 1 else {
            throw Problem(phrase: "has none beside others")
        }
    }

    /// What is wrong with the list: the half of a sentence that follows it.
    package struct Problem: Error, Equatable {
        package let phrase: String
    }

    private static func isName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count) && !text.hasPrefix(".") && !text.hasPrefix("-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// - Parameters:
    ///   - host: as the URL names it, in lower case.
    ///   - address: what it means right now, as a numeric address.
    package func allows(host: String, address: String) -> Bool {
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        // An address is no name: nobody allows one by a domain.
        if !CIDR.isAddress(host), self.hosts.contains(where: { $0.hasPrefix(".") ? host.hasSuffix($0) : host == $0 }) {
            return true
        }
        guard CIDR.isAddress(address) else { return false }
        if self.blocks.contains(where: { $0.contains(address) }) { return true }
        return self.allowsPublic && !Self.special.contains { $0.contains(address) }
    }

    /// What is not the public internet, and what leads elsewhere than it says. Source: IANA, "IPv4 Special-Purpose Address
    /// Registry" and "IPv6 Special-Purpose Address Registry".
    private static let special: [CIDR] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        // Everything but global unicast, and in that what stands for other addresses.
        "::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].compactMap(CIDR.init)
}

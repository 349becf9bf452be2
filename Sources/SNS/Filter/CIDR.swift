/// A block of addresses: `10.0.0.0/24` or `2001:db8::/32` (RFC 4632, RFC 4291 §2.2 and §2.3).
package struct CIDR: Equatable, Sendable {
    private let address: [UInt8]
    private let bits: Int

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = Self.address(parts[0]), parts[1].utf8.count <= 3,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(parts[1]),
            bits <= address.count * 8
        else { return nil }
        self.address = address
        self.bits = bits
    }

    package func contains(_ text: String) -> Bool {
        // No address is longer.
        guard text.utf8.count <= 45, let address = Self.address(text[...]), address.count == self.address.count else {
            return false
        }
        var left = self.bits
        for (byte, wanted) in zip(address, self.address) {
            guard left > 0 else { break }
            let mask: UInt8 = left >= 8 ? 0xFF : ~(0xFF >> UInt8(left))
            guard byte & mask == wanted & mask else { return false }
            left -= 8
        }
        return true
    }

    /// Whether the text is an address.
    package static func isAddress(_ text: String) -> Bool { text.utf8.count <= 45 && Self.address(text[...]) != nil }

    private static func address(_ text: Substring) -> [UInt8]? {
        text.utf8.contains(UInt8(ascii: ":")) ? Self.version6(text) : Self.version4(text)
    }

    private static func version4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part.utf8.count == 1 || part.utf8.first != 0x30, let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: Substring) -> [UInt8]? {
        var head: [UInt8] = []
        var tail: [UInt8] = []
        var isTail = false
        var rest = text
        if rest.hasPrefix("::") {
            isTail = true
            rest = rest.dropFirst(2)
        }
        let groups = rest.isEmpty ? [] : rest.split(separator: ":", omittingEmptySubsequences: false)
        for (index, group) in groups.enumerated() {
            if group.isEmpty {
                guard !isTail, index > 0, index < groups.count - 1 else { return nil }
                isTail = true
                // A double colon at the end leaves two empty groups.
                if index == groups.count - 2, groups[index + 1].isEmpty { break }
                continue
            }
            var bytes: [UInt8]
            if index == groups.count - 1, group.utf8.contains(UInt8(ascii: ".")) {
                guard let quad = Self.version4(group) else { return nil }
                bytes = quad
            } else {
                guard group.utf8.count <= 4, group.utf8.first != UInt8(ascii: "+"), let word = UInt16(group, radix: 16)
                else { return nil }
                bytes = [UInt8(word >> 8), UInt8(word & 0xFF)]
            }
            if isTail { tail += bytes } else { head += bytes }
        }
        let count = head.count + tail.count
        guard isTail ? count <= 14 : count == 16 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - count) + tail
    }
}

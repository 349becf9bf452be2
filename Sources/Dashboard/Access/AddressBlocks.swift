internal import Glibc

/// Addresses, and blocks of them such as `10.0.0.0/8` or `fd00::/8`.
package struct AddressBlocks: Sendable, Equatable {
    private struct Block: Sendable, Equatable {
        let address: [UInt8]
        let bits: Int
    }

    /// The word of a list that is none.
    package struct Fault: Error, Equatable {
        package let word: String
    }

    private var blocks: [Block] = []

    /// None.
    package init() {}

    /// Reads a list separated by commas.
    package init(parsing text: String) throws(Fault) {
        for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            let parts = word.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = Self.bytes(of: String(parts[0])) else {
                throw Fault(word: String(word))
            }
            let whole = address.count * 8
            guard let bits = parts.count == 2 ? Int(parts[1]) : whole, (0...whole).contains(bits) else {
                throw Fault(word: String(word))
            }
            self.blocks.append(Block(address: address, bits: bits))
        }
    }

    package var isEmpty: Bool { self.blocks.isEmpty }

    /// Whether the address, as text, lies in one of the blocks.
    package func contain(_ text: String) -> Bool {
        guard let address = Self.bytes(of: text) else { return false }
        return self.blocks.contains { block in
            guard block.address.count == address.count else { return false }
            return (0..<block.bits).allSatisfy { bit in
                (block.address[bit / 8] ^ address[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    /// 4 or 16 bytes. What came by IPv4 through a socket for both counts as IPv4.
    private static func bytes(of text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        return isMapped ? Array(bytes[12...]) : bytes
    }
}

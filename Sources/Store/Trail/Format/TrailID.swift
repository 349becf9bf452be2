internal import Push

/// A message id as the trail keeps it.
package struct TrailID: Hashable, Sendable {
    /// As it was, or its beginning.
    package let text: [UInt8]
    package let hash: UInt64
    package var isCut: Bool { self.text.count == TrailFormat.keptOfLongID && Fingerprint.of(self.text) != self.hash }

    package init(_ id: [UInt8]) {
        self.hash = Fingerprint.of(id)
        self.text = id.count > TrailFormat.longestID ? Array(id.prefix(TrailFormat.keptOfLongID)) : id
    }

    init(cut text: [UInt8], hash: UInt64) {
        self.text = text
        self.hash = hash
    }

    /// The 36 bytes of a UUID in lower case, from its 16 bytes.
    static func uuid(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(Hex.digit(byte >> 4))
            text.append(Hex.digit(byte & 15))
        }
        return text
    }
}

/// A short name for a text, such as a device token or a message id: 64 bits, the same in every process.
///
/// It tells apart what chance makes; it is no secure digest. Part of what stands in Redis, so it must not change: from
/// `length × 0x9e3779b97f4a7c15`, each eight bytes as a little-endian word, then each byte that is left, are mixed in:
/// `h = high ^ low` of the 128-bit product `(h ^ word) × 0xd6e8feb86659fd93`.
package enum Fingerprint {
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9e37_79b9_7f4a_7c15
        var at = 0
        while at + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            hash = Self.mix(hash ^ word)
            at += 8
        }
        while at < bytes.count {
            hash = Self.mix(hash ^ UInt64(bytes[at]))
            at += 1
        }
        return hash
    }

    package static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { Self.of($0) } }

    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
        return product.high ^ product.low
    }
}

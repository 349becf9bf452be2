internal import Crypto

/// `apns-id`: a UUID that is the same on every attempt to push one message to one token, so that a push can be
/// followed through logs, receipts and Apple's own records, and a duplicate recognised.
///
/// UUID version 5 (RFC 9562 §5.5) of the message id and the token in the namespace below. Apple documents no
/// de-duplication by it.
package struct ApnsID: Equatable, Sendable {
    /// 36 lower-case bytes, 8-4-4-4-12.
    package let text: InlineArray<36, UInt8>

    /// - Parameters:
    ///   - messageID: the AMQP `message_id`.
    ///   - token: the device token in lower-case hex.
    package init(messageID: some Collection<UInt8>, token: some Collection<UInt8>) {
        var hash = Insecure.SHA1()
        Self.namespace.span.withUnsafeBytes { hash.update(bufferPointer: $0) }
        Self.update(&hash, messageID)
        // A separator that occurs in no token keeps ("a", "bc") and ("ab", "c") apart.
        Self.update(&hash, CollectionOfOne(0))
        Self.update(&hash, token)
        var uuid = InlineArray<16, UInt8>(repeating: 0)
        hash.finalize().withUnsafeBytes { digest in
            for index in 0..<16 { uuid[index] = digest[index] }
        }
        uuid[6] = uuid[6] & 0x0f | 0x50
        uuid[8] = uuid[8] & 0x3f | 0x80
        self.text = Self.hex(uuid)
    }

    /// The text as a string, for logs and messages about this push.
    package var string: String {
        self.text.span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    package static func == (left: Self, right: Self) -> Bool {
        (0..<36).allSatisfy { left.text[$0] == right.text[$0] }
    }

    private static func update(_ hash: inout Insecure.SHA1, _ bytes: some Collection<UInt8>) {
        let isContiguous: Void? = bytes.withContiguousStorageIfAvailable {
            hash.update(bufferPointer: UnsafeRawBufferPointer($0))
        }
        if isContiguous == nil { Array(bytes).withUnsafeBytes { hash.update(bufferPointer: $0) } }
    }

    private static func hex(_ uuid: InlineArray<16, UInt8>) -> InlineArray<36, UInt8> {
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        var position = 0
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { position += 1 }
            text[unchecked: position] = Self.digit(uuid[unchecked: index] >> 4)
            text[unchecked: position + 1] = Self.digit(uuid[unchecked: index] & 15)
            position += 2
        }
        return text
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        // From 10 on the high bit is set, which moves the digit on to the letters.
        value &+ UInt8(ascii: "0") &+ ((value &+ 118) >> 7) &* 39
    }

    /// 4a9d5ac4-0d0b-4d54-9c5e-7d2f7c9c2b61, made once for this purpose.
    private static let namespace: InlineArray<16, UInt8> = [
        0x4a, 0x9d, 0x5a, 0xc4, 0x0d, 0x0b, 0x4d, 0x54, 0x9c, 0x5e, 0x7d, 0x2f, 0x7c, 0x9c, 0x2b, 0x61,
    ]
}

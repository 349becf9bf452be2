/// A credential that only who has the master key can read: `v1 <key id> <base64 of nonce, cipher text and tag>`.
/// AES-256-GCM; the app's id is authenticated with it.
package struct SealedCredential: Hashable, Sendable, CustomStringConvertible {
    /// As it stands in Redis. Not for logs.
    package let text: String

    package init(text: String) {
        self.text = text
    }

    package var description: String { "a sealed credential" }

    var parts: (key: String, box: [UInt8])? {
        let words = self.text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "v1", let box = Base64.decode(words[2]) else { return nil }
        return (String(words[1]), box)
    }
}

extension SealedCredential: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: []) }
}

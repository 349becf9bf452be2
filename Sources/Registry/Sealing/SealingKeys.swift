internal import Crypto
internal import Push

/// The master keys that credentials are sealed with while they rest in Redis. The first seals, all open, so that keys can
/// be exchanged one after the other.
package struct SealingKeys: Sendable, CustomStringConvertible {
    private struct Key: Sendable {
        let id: String
        let key: SymmetricKey
    }

    private let keys: [Key]

    /// Reads keys as operators write them: one a line, 32 bytes in base64 or as 64 hexadecimal digits. Empty lines and
    /// those that begin with `#` do not count.
    /// - Throws: naming the line, never what is in it.
    package init(_ text: String) throws(SealingKeyFault) {
        var keys: [Key] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingSpaces
            if line.isEmpty || line.hasPrefix("#") { continue }
            guard let bytes = Self.bytes(line) else {
                throw SealingKeyFault(
                    problem:
                        "line \(index + 1) is not a key of 32 bytes in base64 or hexadecimal digits; make one with "
                        + "openssl rand -base64 32"
                )
            }
            let id = Self.id(of: bytes)
            if !keys.contains(where: { $0.id == id }) { keys.append(Key(id: id, key: SymmetricKey(data: bytes))) }
        }
        guard !keys.isEmpty else {
            throw SealingKeyFault(problem: "there is no key in it; make one with openssl rand -base64 32")
        }
        self.keys = keys
    }

    /// How keys are told apart: the first 8 digits of a digest, which says nothing about the key.
    package var ids: [String] { self.keys.map(\.id) }

    /// The ids alone.
    package var description: String { "master keys \(self.ids.joined(separator: ", "))" }

    /// Seals with the first key.
    /// - Parameter app: whose credential it is; it can be opened for no other.
    package func seal(_ credential: StoredCredential, for app: String) -> SealedCredential {
        guard let key = self.keys.first,
            let box = try? AES.GCM.seal(
                credential.encoded,
                using: key.key,
                authenticating: Self.context(app)
            ), let combined = box.combined
        else { preconditionFailure("AES-GCM seals everything") }
        return SealedCredential(text: "v1 \(key.id) \(Base64.encode(Array(combined)))")
    }

    /// Opens what was sealed for this app.
    package func open(_ sealed: SealedCredential, for app: String) throws(SealingFault) -> StoredCredential {
        guard let parts = sealed.parts else { throw .malformed }
        guard let key = self.keys.first(where: { $0.id == parts.key }) else {
            throw .noKey(id: parts.key, have: self.ids)
        }
        guard let box = try? AES.GCM.SealedBox(combined: parts.box),
            let content = try? AES.GCM.open(box, using: key.key, authenticating: Self.context(app))
        else { throw .altered }
        guard let credential = StoredCredential(encoded: Array(content)) else { throw .malformed }
        return credential
    }

    private static func context(_ app: String) -> [UInt8] { Array("pushfleet credential v1 \(app)".utf8) }

    private static func id(of bytes: [UInt8]) -> String {
        let digest = SHA256.hash(data: Array("pushfleet master key ".utf8) + bytes)
        return Hex.encode(digest.prefix(4))
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        if text.utf8.count == 64, let bytes = Hex.decode(Array(text.utf8)) { return bytes }
        guard let bytes = Base64.decode(text), bytes.count == 32 else { return nil }
        return bytes
    }
}

/// Why master keys cannot be used; one sentence without the closing full stop.
package struct SealingKeyFault: Error, Equatable, Sendable {
    package let problem: String
}

/// Why a sealed credential cannot be opened.
package enum SealingFault: Error, Equatable, Sendable, CustomStringConvertible {
    case malformed
    /// It was sealed with a key that is not among those configured.
    case noKey(id: String, have: [String])
    /// It was altered, or moved here from another app.
    case altered

    package var description: String {
        switch self {
        case .malformed: "is not a sealed credential"
        case .noKey(let id, let have):
            "was sealed with master key \(id), and this process has \(have.joined(separator: ", "))"
        case .altered: "was altered, or sealed for another app"
        }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

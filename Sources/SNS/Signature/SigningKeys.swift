internal import Crypto

/// Signing keys that have been derived: a call of a key that has called before costs one HMAC instead of five.
///
/// Bounded: at its limit it begins anew. Only keys with which a signature was right get in.
package struct SigningKeys {
    struct Scope: Hashable {
        let keyID: String
        let day: String
        let region: String
    }

    private var keys: [Scope: SymmetricKey] = [:]
    private let limit: Int

    package init(limit: Int = 1024) {
        self.limit = limit
    }

    package var count: Int { self.keys.count }

    subscript(scope: Scope) -> SymmetricKey? { self.keys[scope] }

    mutating func insert(_ key: SymmetricKey, for scope: Scope) {
        guard self.keys[scope] == nil else { return }
        if self.keys.count >= self.limit { self.keys.removeAll(keepingCapacity: true) }
        self.keys[scope] = key
    }

    /// Forgets them all: after a key's secret has changed.
    package mutating func removeAll() {
        self.keys.removeAll(keepingCapacity: true)
    }

    /// AWS, "Create a signed AWS API request", step 4.
    static func derive(_ secret: String, _ scope: Scope) -> SymmetricKey {
        var key = SymmetricKey(data: Array("AWS4\(secret)".utf8))
        for part in [scope.day, scope.region, SignatureCheck.service, SignatureCheck.terminator] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        return key
    }
}

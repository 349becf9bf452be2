internal import Crypto

/// A provider's signing key as Apple knows it: the public half and what it may be used for.
///
/// Source: Apple, "Establishing a token-based connection to APNs" (team-scoped and topic-specific keys).
package struct ProviderKey: Equatable, Sendable {
    /// The `kid` of the tokens it signs.
    package var id: String
    /// The `iss` of the tokens it signs.
    package var team: String
    /// PEM of a P-256 public key; PEM of a private key is taken as well and only its public half is kept.
    package var pem: String
    /// The only environment it is good for; nil for both, as older keys are.
    package var environment: APNsEnvironment?
    /// The only topics it may push to; nil for all of its team.
    package var topics: [String]?
    /// The one other key that may be used on the same connection.
    package var related: String?

    package init(
        id: String,
        team: String,
        pem: String,
        environment: APNsEnvironment? = nil,
        topics: [String]? = nil,
        related: String? = nil
    ) {
        self.id = id
        self.team = team
        self.pem = pem
        self.environment = environment
        self.topics = topics
        self.related = related
    }
}

/// A provider key cannot be used.
package struct ProviderKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The `kid`.
    package let id: String

    package var description: String { "key \(self.id): the PEM holds no P-256 key" }
}

/// A key that the simulator has been given, ready for use; never changes.
final class RegisteredKey: Sendable {
    let key: ProviderKey
    let verifier: P256.Signing.PublicKey
    let topics: Set<[UInt8]>?

    /// Stands for a key of which only the name is known; nothing is signed by it.
    init(unverified id: String, team: String) {
        self.key = ProviderKey(id: id, team: team, pem: "")
        self.verifier = P256.Signing.PrivateKey().publicKey
        self.topics = nil
    }

    init(_ key: ProviderKey) throws(ProviderKeyError) {
        if let published = try? P256.Signing.PublicKey(pemRepresentation: key.pem) {
            self.verifier = published
        } else if let own = try? P256.Signing.PrivateKey(pemRepresentation: key.pem) {
            self.verifier = own.publicKey
        } else {
            throw ProviderKeyError(id: key.id)
        }
        self.key = key
        self.topics = key.topics.map { Set($0.map { Array($0.utf8) }) }
    }
}

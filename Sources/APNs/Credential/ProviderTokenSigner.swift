internal import Crypto
package import Push

/// A provider token: the JWT that names a team and proves a key, as Apple's "Establishing a token-based connection to
/// APNs" describes it.
package struct ProviderToken: Equatable, Sendable {
    /// The JWT in its compact form, ASCII. It is a secret for as long as it is valid, one hour.
    package let text: String
    /// The `iat` claim. Apple refuses a token older than one hour.
    package let issuedAt: UnixTime

    package init(text: String, issuedAt: UnixTime) {
        self.text = text
        self.issuedAt = issuedAt
    }
}

/// Mints provider tokens with a `.p8` key (ECDSA on P-256 with SHA-256, RFC 7518 §3.4).
package struct ProviderTokenSigner: Sendable {
    /// The ten characters that name the key.
    package let keyID: String
    /// The ten characters that name the team.
    package let teamID: String
    private let key: P256.Signing.PrivateKey
    /// Names the key by what it is: a file that was corrected holds another key under the same id.
    package let fingerprint: String

    /// - Parameter pem: the content of the `.p8` file: PKCS#8 in PEM.
    /// - Throws: when that is not a P-256 private key.
    package init(keyID: String, teamID: String, pem: String) throws(InvalidSigningKey) {
        self.keyID = keyID
        self.teamID = teamID
        do {
            self.key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        } catch {
            throw InvalidSigningKey()
        }
        let digest = SHA256.hash(data: self.key.publicKey.rawRepresentation)
        self.fingerprint = Base64URL.encode(Array(digest)[..<9])
    }

    /// A new token. Mint seldom: Apple refuses more than one per key in 20 minutes (`TooManyProviderTokenUpdates`).
    package func mint(at time: UnixTime) -> ProviderToken {
        let header = Base64URL.encode(#"{"alg":"ES256","kid":"\#(self.keyID)"}"#.utf8)
        let claims = Base64URL.encode(#"{"iss":"\#(self.teamID)","iat":\#(time.seconds)}"#.utf8)
        let signed = header + "." + claims
        // Signing fails only for keys that cannot be loaded, and this one was.
        guard let signature = try? self.key.signature(for: Array(signed.utf8)) else {
            preconditionFailure("a loaded key did not sign")
        }
        let text = signed + "." + Base64URL.encode(signature.rawRepresentation)
        return ProviderToken(text: text, issuedAt: UnixTime(seconds: time.seconds))
    }
}

/// The bytes are not a P-256 private key in PKCS#8 PEM, which is what a `.p8` file from Apple holds.
package struct InvalidSigningKey: Error, Equatable {
    package init() {}
}

/// RFC 4648 §5, without padding, as JWTs use it.
enum Base64URL {
    static func encode(_ bytes: some Collection<UInt8>) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(buffer >> bits & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << (6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }
}

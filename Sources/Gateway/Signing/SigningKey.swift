internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import Push
internal import Registry
internal import SNS
internal import Wire

/// An RSA key that vouches for messages, and its certificate, which everybody may read.
///
/// Source: Amazon SNS Developer Guide, "Verifying the signatures of Amazon SNS messages".
struct SigningKey: Sendable {
    private let key: _RSA.Signing.PrivateKey
    /// PEM.
    let certificate: String
    /// Where the gateway serves the certificate; another one has another path.
    let path: String

    /// How long a certificate that a gateway makes for itself is good. Nobody looks at it but who is told to trust it.
    private static let days = 3650

    /// - Throws: when the key is no RSA key of 2048 bits at least, or does not fit the certificate.
    init(certificate: String, privateKey: String) throws {
        _ = try TLSIdentity(pem: Array(certificate.utf8), privateKey: Array(privateKey.utf8))
        self.key = try _RSA.Signing.PrivateKey(pemRepresentation: privateKey)
        self.certificate = certificate
        let digest = SHA256.hash(data: Array(certificate.utf8)).prefix(16)
        self.path = "\(Self.prefix)\(Hex.encode(digest)).pem"
    }

    /// As Amazon's paths begin; libraries that verify signatures look at it.
    static let prefix = "/SimpleNotificationService-"

    /// Makes one. Takes a moment: an RSA key is looked for.
    static func make() throws -> StoredCredential {
        let made = try SelfSignedCertificate(
            commonName: "sns.amazonaws.com",
            names: ["DNS:sns.amazonaws.com"],
            days: Self.days,
            key: .rsa
        )
        return StoredCredential(
            environment: "signing",
            proof: .certificate(made.certificate, privateKey: made.privateKey)
        )
    }

    init?(_ stored: StoredCredential) {
        guard case .certificate(let certificate, let key) = stored.proof,
            let made = try? Self(certificate: certificate, privateKey: key)
        else { return nil }
        self = made
    }

    /// Why Amazon's way of signing cannot be done with it; nil if it can.
    static func problem(_ pair: WebhookSettings.SigningPair) -> String? {
        do {
            _ = try Self(certificate: pair.certificate, privateKey: pair.privateKey)
            return nil
        } catch {
            return "is no RSA key of 2048 bits or more in PEM that fits signing_certificate_file"
        }
    }

    /// - Parameter version: `2` for SHA-256, or else SHA-1, as Amazon's first version has it.
    /// - Returns: base64.
    func signature(_ text: [UInt8], version: String) -> String? {
        let signature =
            version == "2"
            ? try? self.key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
            : try? self.key.signature(for: Insecure.SHA1.hash(data: text), padding: .insecurePKCS1v1_5)
        return signature?.rawRepresentation.base64EncodedString()
    }
}

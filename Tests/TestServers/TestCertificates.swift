/// Certificates and signing keys that exist only for tests, made by `scripts/make-certs`.
package struct TestCertificates: Sendable {
    /// One set for the repository, kept in `.build` from run to run.
    package static let shared: TestCertificates = {
        do {
            return try TestCertificates(in: "\(Repository.root)/.build/test-certificates")
        } catch {
            fatalError("scripts/make-certs fails: \(error)")
        }
    }()

    /// The directory with all files, as the scripts take it.
    package let directory: String

    /// Makes the set in `directory`, unless a valid one is there.
    package init(in directory: String) throws {
        self.directory = directory
        try Repository.script("make-certs", [directory])
    }

    /// The authority that signed the server certificates (PEM).
    package var authority: String { "\(self.directory)/ca.pem" }

    /// An authority that signed nothing here (PEM).
    package var unknownAuthority: String { "\(self.directory)/otherca.pem" }

    /// A certificate for `localhost`, `api.push.test` and 127.0.0.1 (PEM).
    package var serverCertificate: String { "\(self.directory)/server.pem" }

    /// The key of `serverCertificate` (PKCS#8 PEM, P-256).
    package var serverKey: String { "\(self.directory)/server.key" }

    /// The same names, but the certificate ended in 2020 (PEM).
    package var expiredCertificate: String { "\(self.directory)/expired.pem" }

    /// The key of `expiredCertificate`.
    package var expiredKey: String { "\(self.directory)/expired.key" }

    /// An APNs signing key as Apple hands it out (PKCS#8 PEM, P-256).
    package var signingKey: String { "\(self.directory)/auth.p8" }

    /// The public half of `signingKey` (SubjectPublicKeyInfo PEM).
    package var signingPublicKey: String { "\(self.directory)/auth.pub.pem" }

    /// A signing key that does not belong to `signingPublicKey`.
    package var wrongSigningKey: String { "\(self.directory)/other.p8" }

    /// The public half of `wrongSigningKey`.
    package var wrongSigningPublicKey: String { "\(self.directory)/other.pub.pem" }

    /// Certificates for providers, as Apple makes them; `scripts/make-certs --help` says what each is.
    package enum Client: String, CaseIterable, Sendable {
        case standard = "client"
        /// The same subject with a key of its own.
        case renewed = "client-renewed"
        case sandbox = "client-sandbox"
        case production = "client-production"
        case voip = "client-voip"
        case expired = "client-expired"
        case future = "client-future"
        /// Ends in ten days.
        case soon = "client-soon"
        /// Signed by `unknownAuthority`.
        case stranger = "client-stranger"
        case plain = "client-plain"
    }

    /// A provider's certificate (PEM).
    package func certificate(_ client: Client) -> String { "\(self.directory)/\(client.rawValue).pem" }

    /// The key of a provider's certificate (PEM, RSA).
    package func key(_ client: Client) -> String { "\(self.directory)/\(client.rawValue).key" }

    /// A provider's certificate and key (PKCS #12, with `passphrase`); of `standard`, `expired` and `sandbox`.
    package func pkcs12(_ client: Client) -> String { "\(self.directory)/\(client.rawValue).p12" }

    /// Opens the PKCS #12 files and `encryptedClientKey`.
    package var passphrase: String { "correct horse" }

    /// `standard` with its key first and its chain after it (PEM).
    package var clientInOneFile: String { "\(self.directory)/client-both.pem" }

    /// The key of `standard`, encrypted with `passphrase` (PEM).
    package var encryptedClientKey: String { "\(self.directory)/client-encrypted.key" }

    /// `standard` with RC2 and triple DES, as old systems exported it (PKCS #12, `passphrase`).
    package var legacyPKCS12: String { "\(self.directory)/client-legacy.p12" }

    /// `standard` without a passphrase (PKCS #12).
    package var openPKCS12: String { "\(self.directory)/client-open.p12" }

    /// The certificate of `standard` without its key (PKCS #12, `passphrase`).
    package var keylessPKCS12: String { "\(self.directory)/client-nokey.p12" }
}

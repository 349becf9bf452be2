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
}

internal import COpenSSL

/// A certificate with its private key and the certificates between it and its authority: who a client or server is.
///
/// Made from bytes that were already read, so that a file that changed can be checked before anything depends on it.
/// Dates are not judged here: there is no clock.
package struct TLSIdentity: Sendable, CustomStringConvertible {
    package let certificate: Certificate
    /// DER, in the order of the file.
    let chain: [[UInt8]]
    /// DER. It is a secret, and the reason for a description of our own.
    let privateKey: [UInt8]

    package var description: String { "identity \(self.certificate.subject.commonName ?? "without a name")" }

    /// From PEM: the certificate, the rest of its chain if there is one, and the private key.
    /// - Parameters:
    ///   - certificates: the content of the file with the certificates; other things in it are passed over.
    ///   - privateKey: the content of the file with the key; the same as `certificates` when one file holds both.
    ///   - passphrase: opens the key, if it is encrypted.
    package init(
        pem certificates: [UInt8],
        privateKey: [UInt8],
        passphrase: String? = nil
    ) throws(TLSIdentityError) {
        let found = PEM.certificates(in: certificates)
        guard !found.isEmpty else {
            throw TLSIdentityError(.certificate, "holds no certificate; PEM has -----BEGIN CERTIFICATE----- in it")
        }
        let key = try PEM.privateKey(in: privateKey, passphrase: passphrase)
        try self.init(certificates: found, key: key)
    }

    /// From PKCS #12, as `.p12` and `.pfx` files hold it (RFC 7292). Old algorithms (RC2, triple DES) are read too.
    /// - Parameter passphrase: nil and empty both stand for a file without one.
    package init(pkcs12: [UInt8], passphrase: String?) throws(TLSIdentityError) {
        let content = try PKCS12.read(pkcs12, passphrase: passphrase ?? "")
        guard let key = content.privateKey else {
            throw TLSIdentityError(
                .privateKey,
                "holds no private key; export the certificate together with its key"
            )
        }
        guard !content.certificates.isEmpty else { throw TLSIdentityError(.certificate, "holds no certificate") }
        try self.init(certificates: content.certificates, key: key)
    }

    /// Picks the certificate that the key belongs to; files do not always have it first.
    private init(certificates: [[UInt8]], key: borrowing PrivateKeyHandle) throws(TLSIdentityError) {
        for (index, der) in certificates.enumerated() {
            guard let handle = X509Handle(der: der) else { continue }
            let isOwn = X509_check_private_key(handle.pointer, key.pointer) == 1
            ERR_clear_error()
            guard isOwn, let certificate = Certificate(handle) else { continue }
            self.certificate = certificate
            self.chain = certificates.indices.filter { $0 != index }.map { certificates[$0] }
            self.privateKey = key.der
            return
        }
        throw TLSIdentityError(.privateKey, "does not belong to the certificate")
    }
}

/// Why no identity comes of the bytes: which of the things given is at fault, and the rest of a sentence about it.
package struct TLSIdentityError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Part: String, Sendable {
        case certificate
        case privateKey = "private key"
        case passphrase
    }

    package let part: Part
    /// Follows the name of the file, such as `holds no certificate`.
    package let problem: String

    init(_ part: Part, _ problem: String) {
        self.part = part
        self.problem = problem
    }

    package var description: String { "the \(self.part.rawValue) \(self.problem)" }
}

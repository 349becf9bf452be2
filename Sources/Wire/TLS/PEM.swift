internal import COpenSSL

/// Certificates and private keys in PEM (RFC 7468).
enum PEM {
    /// The DER of every certificate in the text, in its order.
    static func certificates(in bytes: [UInt8]) -> [[UInt8]] {
        self.withBIO(bytes) { bio in
            var found: [[UInt8]] = []
            while let pointer = PEM_read_bio_X509(bio, nil, givePassphrase, nil) {
                found.append(X509Handle(adopting: pointer).der)
            }
            return found
        }
    }

    /// The first private key in the text.
    static func privateKey(in bytes: [UInt8], passphrase: String?) throws(TLSIdentityError) -> PrivateKeyHandle {
        let request = PassphraseRequest(passphrase)
        let (pointer, problem) = self.withBIO(bytes) { bio -> (OpaquePointer?, String) in
            let context = Unmanaged.passUnretained(request).toOpaque()
            let pointer = PEM_read_bio_PrivateKey(bio, nil, givePassphrase, context)
            return (pointer, OpenSSLError.take())
        }
        if let pointer { return PrivateKeyHandle(adopting: pointer) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("PRIVATE KEY-----") else {
            throw TLSIdentityError(.privateKey, "holds no private key; PEM has -----BEGIN PRIVATE KEY----- in it")
        }
        guard request.wasAsked else { throw TLSIdentityError(.privateKey, "cannot be read: \(problem)") }
        throw passphrase == nil
            ? TLSIdentityError(.passphrase, "is encrypted and needs a passphrase")
            : TLSIdentityError(.passphrase, "cannot be opened with this passphrase")
    }

    private static func withBIO<Result>(_ bytes: [UInt8], _ body: (OpaquePointer?) -> Result) -> Result {
        ERR_clear_error()
        return bytes.withUnsafeBytes { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
            defer {
                BIO_free(bio)
                ERR_clear_error()
            }
            return body(bio)
        }
    }
}

/// What OpenSSL is told when it asks for a passphrase; without it OpenSSL would ask at the terminal.
private final class PassphraseRequest {
    let passphrase: [UInt8]?
    var wasAsked = false

    init(_ passphrase: String?) {
        self.passphrase = passphrase.map { Array($0.utf8) }
    }
}

private func givePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?,
    capacity: Int32,
    isWriting _: Int32,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context, let buffer else { return -1 }
    let request = Unmanaged<PassphraseRequest>.fromOpaque(context).takeUnretainedValue()
    request.wasAsked = true
    guard let passphrase = request.passphrase, passphrase.count <= Int(capacity) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: Int(capacity)).copyBytes(from: passphrase)
    return Int32(passphrase.count)
}

internal import COpenSSL

/// Reads `.p12` files (RFC 7292).
enum PKCS12 {
    struct Content: ~Copyable {
        var privateKey: PrivateKeyHandle?
        /// DER; the one that belongs to the key first, if the file says which that is.
        var certificates: [[UInt8]]
    }

    /// What Apple's Keychain exported for many years is encrypted with RC2 and triple DES, which OpenSSL 3 keeps in a
    /// provider of its own. It is loaded into a library context that lives only for this call, so that nothing else in
    /// the process comes to accept old algorithms; key and certificates leave it as DER.
    static func read(_ bytes: [UInt8], passphrase: String) throws(TLSIdentityError) -> Content {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let library = OSSL_LIB_CTX_new() else { throw TLSIdentityError(.certificate, "cannot be read") }
        defer { OSSL_LIB_CTX_free(library) }
        let standard = OSSL_PROVIDER_load(library, "default")
        defer { OSSL_PROVIDER_unload(standard) }
        let legacy = OSSL_PROVIDER_load(library, "legacy")
        defer { if let legacy { OSSL_PROVIDER_unload(legacy) } }
        ERR_clear_error()

        guard let file = self.parse(bytes, library) else {
            throw TLSIdentityError(.certificate, "is not PKCS #12; a .p12 file as Keychain or openssl write it is")
        }
        defer { PKCS12_free(file) }
        // RFC 7292 §B.1 tells no passphrase from an empty one; files of both kinds exist.
        let isOpen = PKCS12_verify_mac(file, passphrase, -1) == 1
        guard isOpen || (passphrase.isEmpty && PKCS12_verify_mac(file, nil, 0) == 1) else {
            throw Self.closed(passphrase, hasLegacy: legacy != nil)
        }
        ERR_clear_error()
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        guard PKCS12_parse(file, isOpen ? passphrase : nil, &key, &certificate, &others) == 1 else {
            throw Self.unreadable(hasLegacy: legacy != nil)
        }
        return Self.content(key: key, certificate: certificate, others: others)
    }

    private static func parse(_ bytes: [UInt8], _ library: OpaquePointer) -> OpaquePointer? {
        var file = PKCS12_init_ex(NID_pkcs7_data, library, nil)
        return bytes.withUnsafeBytes { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
            defer { BIO_free(bio) }
            return d2i_PKCS12_bio(bio, &file)
        }
    }

    private static func content(key: OpaquePointer?, certificate: OpaquePointer?, others: OpaquePointer?) -> Content {
        var certificates: [[UInt8]] = []
        if let certificate { certificates.append(X509Handle(adopting: certificate).der) }
        for index in 0..<max(0, OPENSSL_sk_num(others)) {
            guard let other = OPENSSL_sk_value(others, index) else { continue }
            certificates.append(X509Handle(adopting: OpaquePointer(other)).der)
        }
        OPENSSL_sk_free(others)
        guard let key else { return Content(privateKey: nil, certificates: certificates) }
        let der = PrivateKeyHandle(adopting: key).der
        return Content(privateKey: PrivateKeyHandle(der: der), certificates: certificates)
    }

    private static func closed(_ passphrase: String, hasLegacy: Bool) -> TLSIdentityError {
        let code = ERR_peek_last_error()
        guard ERR_GET_REASON(code) == PKCS12_R_MAC_VERIFY_FAILURE || ERR_peek_error() == 0 else {
            return self.unreadable(hasLegacy: hasLegacy)
        }
        return passphrase.isEmpty
            ? TLSIdentityError(.passphrase, "needs a passphrase")
            : TLSIdentityError(.passphrase, "cannot be opened with this passphrase")
    }

    private static func unreadable(hasLegacy: Bool) -> TLSIdentityError {
        let detail = OpenSSLError.take()
        let hint =
            hasLegacy
            ? "" : "; it may use old algorithms, and OpenSSL's legacy provider is not installed on this machine"
        return TLSIdentityError(
            .certificate,
            "cannot be read (\(detail))\(hint); convert it where it can be read: openssl pkcs12 -legacy -in old.p12 "
                + "-nodes | openssl pkcs12 -export -out new.p12"
        )
    }
}

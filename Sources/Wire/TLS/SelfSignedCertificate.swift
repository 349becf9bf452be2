internal import COpenSSL

/// A certificate that vouches for itself, with its private key, both in PEM: for tests and for trying things out.
package struct SelfSignedCertificate: Sendable {
    package let certificate: String
    /// PKCS #8.
    package let privateKey: String

    /// What kind of key it has.
    package enum Key: Sendable {
        /// The curve P-256.
        case p256
        /// RSA with 2048 bits, for those who cannot have anything else.
        case rsa
    }

    /// Makes one, good from an hour ago.
    /// - Parameters:
    ///   - names: subject alternative names as OpenSSL writes them, such as `DNS:localhost`.
    ///   - days: for how long.
    /// - Throws: ``TLSContextError``, when OpenSSL does not make it.
    package init(commonName: String, names: [String], days: Int, key: Key = .p256) throws(TLSContextError) {
        guard let made = Self.make(commonName: commonName, names: names, days: days, key: key) else {
            ERR_clear_error()
            throw TLSContextError(
                file: nil,
                problem: "OpenSSL makes no certificate for \(names.joined(separator: ", "))"
            )
        }
        (self.certificate, self.privateKey) = made
    }

    private static func make(commonName: String, names: [String], days: Int, key kind: Key) -> (String, String)? {
        guard let key = Self.key(kind), let certificate = X509_new() else { return nil }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        var serial = UInt64.random(in: 1...UInt64(Int64.max))
        serial |= 1 << 62
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86_400) != nil,
            X509_set_pubkey(certificate, key) == 1, let name = X509_get_subject_name(certificate),
            // 0x1001: MBSTRING_ASC.
            X509_NAME_add_entry_by_txt(name, "CN", 0x1001, commonName, -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, name) == 1
        else { return nil }
        let extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
            (NID_key_usage, "critical,digitalSignature,keyCertSign"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_alt_name, names.joined(separator: ",")),
        ]
        for (kind, value) in extensions {
            guard let part = X509V3_EXT_conf_nid(nil, nil, kind, value) else { return nil }
            defer { X509_EXTENSION_free(part) }
            guard X509_add_ext(certificate, part, -1) == 1 else { return nil }
        }
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { return nil }
        let text = Self.text { PEM_write_bio_X509($0, certificate) }
        let secret = Self.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
        guard let text, let secret else { return nil }
        return (text, secret)
    }

    private static func key(_ kind: Key) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_id(kind == .rsa ? EVP_PKEY_RSA : EVP_PKEY_EC, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1 else { return nil }
        let isSet =
            switch kind {
            case .p256: EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
            case .rsa: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
            }
        guard isSet == 1, EVP_PKEY_keygen(context, &key) == 1 else { return nil }
        return key
    }

    private static func text(_ write: (OpaquePointer) -> Int32) -> String? {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<Int(count)], as: UTF8.self)
    }
}

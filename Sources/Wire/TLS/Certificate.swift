internal import COpenSSL
internal import Glibc
package import Push

/// An X.509 certificate as a value: what of it anyone here asks for (RFC 5280 §4.1). Nothing in it has been verified.
package struct Certificate: Hashable, Sendable {
    /// The whole certificate.
    package let der: [UInt8]
    package let subject: Name
    package let issuer: Name
    package let notBefore: UnixTime
    package let notAfter: UnixTime
    /// The DER of each extension's value, by its object identifier in dotted numbers.
    package let extensions: [String: [UInt8]]

    /// Of a distinguished name the attributes that Apple's certificates carry; the first of each.
    package struct Name: Hashable, Sendable {
        /// UID, 0.9.2342.19200300.100.1.1 (RFC 4519 §2.39).
        package var userID: String?
        /// CN.
        package var commonName: String?
        /// OU.
        package var organizationalUnit: String?

        package init(userID: String? = nil, commonName: String? = nil, organizationalUnit: String? = nil) {
            self.userID = userID
            self.commonName = commonName
            self.organizationalUnit = organizationalUnit
        }
    }

    package init(
        der: [UInt8] = [],
        subject: Name,
        issuer: Name = Name(),
        notBefore: UnixTime,
        notAfter: UnixTime,
        extensions: [String: [UInt8]]
    ) {
        self.der = der
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.extensions = extensions
    }

    /// Nil if the bytes are not one certificate in DER.
    package init?(der: [UInt8]) {
        guard let handle = X509Handle(der: der) else { return nil }
        self.init(handle)
    }

    init?(_ handle: borrowing X509Handle) {
        guard let notBefore = Self.time(X509_get0_notBefore(handle.pointer)),
            let notAfter = Self.time(X509_get0_notAfter(handle.pointer))
        else { return nil }
        self.der = handle.der
        self.subject = Name(X509_get_subject_name(handle.pointer))
        self.issuer = Name(X509_get_issuer_name(handle.pointer))
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.extensions = Self.extensions(handle)
    }

    private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return UnixTime(seconds: Int64(timegm(&parts)))
    }

    private static func extensions(_ handle: borrowing X509Handle) -> [String: [UInt8]] {
        var extensions: [String: [UInt8]] = [:]
        for index in 0..<max(0, X509_get_ext_count(handle.pointer)) {
            guard let entry = X509_get_ext(handle.pointer, index) else { continue }
            var text = [CChar](repeating: 0, count: 128)
            let length = OBJ_obj2txt(&text, Int32(text.count), X509_EXTENSION_get_object(entry), 1)
            guard length > 0, length < text.count, let data = X509_EXTENSION_get_data(entry) else { continue }
            let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
            extensions[String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)] =
                Array(bytes)
        }
        return extensions
    }
}

extension Certificate.Name {
    fileprivate init(_ name: OpaquePointer?) {
        self.userID = Self.text(NID_userId, in: name)
        self.commonName = Self.text(NID_commonName, in: name)
        self.organizationalUnit = Self.text(NID_organizationalUnitName, in: name)
    }

    private static func text(_ attribute: Int32, in name: OpaquePointer?) -> String? {
        let index = X509_NAME_get_index_by_NID(name, attribute, -1)
        guard index >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, value)
        guard count >= 0, let bytes else {
            ERR_clear_error()
            return nil
        }
        defer { CRYPTO_free(bytes, nil, 0) }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}

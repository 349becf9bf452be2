internal import COpenSSL

/// Owns OpenSSL's form of a certificate.
struct X509Handle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    init?(der: [UInt8]) {
        ERR_clear_error()
        let pointer = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var start = bytes.baseAddress
            guard let pointer = d2i_X509(nil, &start, bytes.count) else { return nil }
            guard start == bytes.baseAddress.map({ $0 + bytes.count }) else {
                X509_free(pointer)
                return nil
            }
            return pointer
        }
        ERR_clear_error()
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit {
        X509_free(self.pointer)
    }

    var der: [UInt8] { DER.encoded { i2d_X509(self.pointer, $0) } }
}

/// Owns OpenSSL's form of a private key.
struct PrivateKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    init?(der: [UInt8]) {
        ERR_clear_error()
        let pointer = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var start = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        ERR_clear_error()
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(self.pointer)
    }

    var der: [UInt8] { DER.encoded { i2d_PrivateKey(self.pointer, $0) } }
}

/// The binary form of OpenSSL's things.
private enum DER {
    /// - Parameter encode: one of OpenSSL's i2d functions, which writes there and moves on, or only tells the length.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = Int(encode(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var start = buffer.baseAddress
            _ = encode(&start)
            filled = count
        }
    }
}

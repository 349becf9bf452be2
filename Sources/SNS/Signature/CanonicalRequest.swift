internal import Push

/// The bytes of which a signature holds the hash. AWS, "Create a signed AWS API request", step 1.
struct CanonicalRequest {
    private(set) var bytes: [UInt8] = []

    /// - Parameter bodyHash: in hexadecimal, or `UNSIGNED-PAYLOAD`.
    init(_ request: SignedRequest, _ authorization: Authorization, bodyHash: String) throws(SNSError) {
        self.bytes.reserveCapacity(1024)
        self.append(request.method)
        self.appendPath(request.path)
        self.bytes.append(UInt8(ascii: "\n"))
        self.appendQuery(request.pairs)
        self.bytes.append(UInt8(ascii: "\n"))
        try self.appendHeaders(request, authorization.signedHeaders)
        self.append(authorization.signedHeaders.joined(separator: ";"))
        self.bytes += bodyHash.utf8
    }

    private mutating func append(_ line: String) {
        self.bytes += line.utf8
        self.bytes.append(UInt8(ascii: "\n"))
    }

    /// The path as received, escaped once more.
    private mutating func appendPath(_ path: String) {
        guard !path.isEmpty else { return self.bytes.append(UInt8(ascii: "/")) }
        for byte in path.utf8 {
            if ARN.isDotted(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "~") {
                self.bytes.append(byte)
            } else {
                self.bytes.append(UInt8(ascii: "%"))
                self.bytes.append(Hex.digit(byte >> 4, upperCase: true))
                self.bytes.append(Hex.digit(byte & 0xF, upperCase: true))
            }
        }
    }

    private mutating func appendQuery(_ pairs: [(name: Substring, value: Substring)]) {
        guard !pairs.isEmpty else { return }
        let sorted = pairs.filter { $0.name != "X-Amz-Signature" }.sorted { left, right in
            left.name.utf8.elementsEqual(right.name.utf8)
                ? left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
                : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        for (index, pair) in sorted.enumerated() {
            if index > 0 { self.bytes.append(UInt8(ascii: "&")) }
            self.bytes += pair.name.utf8
            self.bytes.append(UInt8(ascii: "="))
            self.bytes += pair.value.utf8
        }
    }

    private mutating func appendHeaders(_ request: SignedRequest, _ names: [Substring]) throws(SNSError) {
        for name in names {
            guard let value = request.header(String(name)) else { throw .signatureMismatch }
            self.bytes += name.utf8
            self.bytes.append(UInt8(ascii: ":"))
            var isSpace = false
            for byte in value.trimmed.utf8 {
                if byte != 0x20 || !isSpace { self.bytes.append(byte) }
                isSpace = byte == 0x20
            }
            self.bytes.append(UInt8(ascii: "\n"))
        }
        self.bytes.append(UInt8(ascii: "\n"))
    }
}

extension SNSError {
    static func signature(_ message: String) -> Self { SNSError("SignatureDoesNotMatch", status: 403, message) }

    static let signatureMismatch = Self.signature(
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and "
            + "signing method. Consult the service documentation for details."
    )
}

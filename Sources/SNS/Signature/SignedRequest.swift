internal import Crypto

/// What a signature covers of an HTTP request, as it was received.
package struct SignedRequest: Sendable {
    /// `GET` or `POST`.
    package var method: String

    /// The path of the URL as it stands there, with its escapes.
    package var path: String

    /// What stands after the `?` of the URL as it stands there; empty without one.
    package var query: String

    /// Every field, also `host`; for HTTP/2 that is `:authority`. Names in any case.
    package var headers: [(name: String, value: String)]

    /// ``sha256(_:)`` of the body, also of an empty one.
    package var bodySHA256: [UInt8]

    /// Whether it came over TLS, which allows the body to be left out of the signature.
    package var isTLS: Bool

    package init(
        method: String,
        path: String,
        query: String,
        headers: [(name: String, value: String)],
        bodySHA256: [UInt8],
        isTLS: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.bodySHA256 = bodySHA256
        self.isTLS = isTLS
    }

    /// SHA-256, 32 bytes.
    package static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return Array(hash.finalize())
    }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { Self.sha256($0) } }

    /// Whether it carries a signature in either form. Without one only an anonymous mode could serve it.
    package var isSigned: Bool {
        self.header("authorization") != nil || self.pairs.contains { $0.name == "X-Amz-Signature" }
    }

    /// The value of a header; of several with this name, their values with commas. Nil without one.
    ///
    /// - Parameter name: in lower case.
    func header(_ name: String) -> String? {
        var found: String?
        for header in self.headers where Self.isSame(header.name, name) {
            found = found.map { "\($0),\(header.value)" } ?? header.value
        }
        return found
    }

    private static func isSame(_ name: String, _ lowercased: String) -> Bool {
        name.utf8.count == lowercased.utf8.count
            && zip(name.utf8, lowercased.utf8).allSatisfy { (byte, other) in
                byte == other || (byte &- 0x41 < 26 && byte | 0x20 == other)
            }
    }

    /// Names and values of the query, with their escapes.
    var pairs: [(name: Substring, value: Substring)] {
        self.query.split(separator: "&").map { pair in
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (pair, "") }
            return (pair[..<equals], pair[pair.utf8.index(after: equals)...])
        }
    }
}

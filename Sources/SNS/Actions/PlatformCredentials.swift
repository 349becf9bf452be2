internal import Crypto

/// What a platform application is authorised with at Apple's.
package enum PlatformCredentials: Equatable, Sendable {
    /// A signing key (`.p8`): its id, the key as PEM, the team, and the bundle.
    case token(keyID: String, key: String, teamID: String, bundleID: String)

    /// A certificate and its private key as PEM. Whether they belong together is for TLS to say.
    case certificate(String, key: String)

    /// The value of the attribute `AuthenticationMethod`.
    package var method: String {
        switch self {
        case .token: "token"
        case .certificate: "certificate"
        }
    }

    /// Reads `PlatformPrincipal` and `PlatformCredential`. Team and bundle, or a principal that is no certificate, stand for token
    /// authentication. A key may come as PEM, with `\n` for its line ends, or as its base64 alone.
    ///
    /// - Throws: `InvalidParameter` "Platform credentials are invalid".
    init(principal: String, credential: String, teamID: String?, bundleID: String?) throws(SNSError) {
        let certificate = Self.pem(principal)
        let key = Self.pem(credential)
        guard !certificate.contains("-----BEGIN CERTIFICATE-----") else {
            guard certificate.contains("-----END CERTIFICATE-----"), key.contains("PRIVATE KEY-----") else {
                throw .badCredentials
            }
            self = .certificate(certificate, key: key)
            return
        }
        guard Self.isIdentifier(principal), let teamID, Self.isIdentifier(teamID), let bundleID,
            (1...255).contains(bundleID.utf8.count), bundleID.utf8.allSatisfy(ARN.isDotted)
        else { throw .badCredentials }
        let pem =
            key.hasPrefix("-----BEGIN")
            ? key : "-----BEGIN PRIVATE KEY-----\n\(Self.lines(key))\n-----END PRIVATE KEY-----\n"
        guard (try? P256.Signing.PrivateKey(pemRepresentation: pem)) != nil else { throw .badCredentials }
        self = .token(keyID: principal, key: pem, teamID: teamID, bundleID: bundleID)
    }

    /// Ten capital letters and digits, as Apple gives out.
    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy(ARN.isWord) && !text.utf8.contains(UInt8(ascii: "-"))
            && !text.utf8.contains(UInt8(ascii: "_"))
    }

    /// With real line ends.
    private static func pem(_ text: String) -> String {
        var lines: [UInt8] = []
        var isEscape = false
        for byte in text.utf8 where byte != 0x0D {
            if isEscape {
                isEscape = false
                if byte == UInt8(ascii: "n") {
                    lines.append(0x0A)
                    continue
                }
                if byte == UInt8(ascii: "r") { continue }
                lines.append(UInt8(ascii: "\\"))
            }
            if byte == UInt8(ascii: "\\") { isEscape = true } else { lines.append(byte) }
        }
        return String(decoding: lines.drop { $0 <= 0x20 }, as: UTF8.self)
    }

    /// Base64 in lines of 64, without the white space that it came with.
    private static func lines(_ base64: String) -> String {
        let digits = base64.utf8.filter { $0 > 0x20 }
        return stride(from: 0, to: digits.count, by: 64).map {
            String(decoding: digits[$0..<min($0 + 64, digits.count)], as: UTF8.self)
        }.joined(separator: "\n")
    }
}

internal import Crypto
internal import Foundation

/// A provider token taken apart (RFC 7519, compact form), not yet verified.
///
/// `iat` may be a number or a numeric string, as Apple takes both; other claims are ignored.
struct JSONWebToken {
    let keyID: String
    let team: String
    /// Seconds since 1970.
    let issuedAt: Int64
    private let signed: Data
    private let signature: Data

    /// - Returns: nil when it is no ES256 token with the claims that APNs asks for.
    init?(_ text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Self.object(parts[0]),
            let claims = Self.object(parts[1]),
            let signature = Self.decode(parts[2]), signature.count == 64,
            header["alg"] as? String == "ES256",
            let keyID = header["kid"] as? String, !keyID.isEmpty,
            let team = claims["iss"] as? String, !team.isEmpty,
            let issuedAt = Self.seconds(claims["iat"])
        else { return nil }
        self.keyID = keyID
        self.team = team
        self.issuedAt = issuedAt
        self.signed = Data(text[..<parts[1].endIndex])
        self.signature = signature
    }

    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: self.signature) else { return false }
        return key.isValidSignature(signature, for: self.signed)
    }

    private static func object(_ part: ArraySlice<UInt8>) -> [String: Any]? {
        guard let data = self.decode(part) else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }

    private static func seconds(_ claim: Any?) -> Int64? {
        if let text = claim as? String { return Int64(text) }
        guard let number = claim as? NSNumber, !(claim is Bool) else { return nil }
        return Int64(exactly: number.doubleValue.rounded(.down))
    }

    /// base64url without padding, RFC 4648 §5.
    private static func decode(_ part: ArraySlice<UInt8>) -> Data? {
        var text = part.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            // Not of the URL alphabet: made into something that no decoder takes.
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): UInt8(ascii: "!")
            default: byte
            }
        }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(text))
    }
}

internal import Crypto
package import Push

/// Checks signatures of version 4, in the `Authorization` header and in pre-signed URLs.
///
/// A signature is checked over the headers that its client has signed, whichever they are, so proxies may add others. One that
/// comes twice is no error: SDKs repeat a call within the same second with the same signature. Work is linear in the request.
///
/// Source: AWS, "AWS Signature Version 4 for API requests"; the texts as clients report them.
package struct SignatureCheck: Sendable {
    static let service = "sns"
    static let terminator = "aws4_request"

    private let keys: [String: AccessKey]

    /// The only region that signatures may name; nil for any.
    private let region: String?

    /// How far a client's clock may be off, in seconds.
    private let skew: Int64

    /// - Parameter skew: how far a client's clock may be off; Amazon's is 15 minutes.
    package init(keys: [AccessKey], region: String?, skew: Duration = .seconds(900)) {
        self.skew = max(1, skew.components.seconds)
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        self.region = region
    }

    /// Whether it has the same keys.
    package func isSame(as other: SignatureCheck) -> Bool {
        self.keys.count == other.keys.count && self.keys.allSatisfy { other.keys[$0.key]?.secret == $0.value.secret }
    }

    /// Who has signed the request.
    ///
    /// - Parameters:
    ///   - signingKeys: kept by the caller from one call to the next.
    ///   - now: the wall clock.
    /// - Throws: `MissingAuthenticationToken`, `IncompleteSignature`, `InvalidClientTokenId` or `SignatureDoesNotMatch`.
    package func principal(
        of request: SignedRequest,
        now: UnixTime,
        signingKeys: inout SigningKeys
    ) throws(SNSError) -> Principal {
        let authorization = try Authorization(request)
        try self.checkScope(authorization)
        guard let key = self.keys[String(authorization.keyID)], Self.isSame(authorization.token, key.sessionToken)
        else {
            throw SNSError(
                "InvalidClientTokenId",
                status: 403,
                "The security token included in the request is invalid."
            )
        }
        try self.checkTime(authorization, now: now.seconds)
        try Self.checkSignedHeaders(authorization)
        let bodyHash = try Self.bodyHash(request, authorization)
        let canonical = try CanonicalRequest(request, authorization, bodyHash: bodyHash).bytes

        let scope = SigningKeys.Scope(
            keyID: key.id,
            day: String(authorization.day),
            region: String(authorization.region)
        )
        let signingKey = signingKeys[scope] ?? SigningKeys.derive(key.secret, scope)
        let text = """
            \(Authorization.algorithm)
            \(authorization.time.text)
            \(scope.day)/\(scope.region)/\(Self.service)/\(Self.terminator)
            \(Hex.encode(SignedRequest.sha256(canonical)))
            """
        // Compares in constant time.
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                authorization.signature,
                authenticating: Array(text.utf8),
                using: signingKey
            )
        else { throw .signatureMismatch }
        signingKeys.insert(signingKey, for: scope)
        return key.principal
    }

    private func checkScope(_ authorization: Authorization) throws(SNSError) {
        guard authorization.service == Self.service else {
            throw .signature("Credential should be scoped to correct service: '\(Self.service)'.")
        }
        guard authorization.terminator == Self.terminator else {
            throw .signature("Credential should be scoped with a valid terminator: '\(Self.terminator)'.")
        }
        guard authorization.day == authorization.time.day else {
            throw .signature(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
                    + "'\(authorization.day.prefix(16))' != '\(authorization.time.day)', from '\(authorization.time.text)'."
            )
        }
        guard self.region == nil || authorization.region == self.region! else {
            throw .signature("Credential should be scoped to a valid region.")
        }
    }

    private func checkTime(_ authorization: Authorization, now: Int64) throws(SNSError) {
        let time = authorization.time
        var current: String { bound(now) }
        func bound(_ seconds: Int64) -> String { SignatureTime(seconds: seconds).text }
        guard time.seconds <= now + self.skew else {
            throw .signature(
                "Signature not yet current: \(time.text) is still later than \(bound(now + self.skew)) "
                    + "(\(current) + \(self.skew / 60) min.)"
            )
        }
        let window = authorization.expires ?? self.skew
        guard time.seconds >= now - window else {
            let length = window % 60 == 0 ? "\(window / 60) min." : "\(window) sec."
            throw .signature(
                "Signature expired: \(time.text) is now earlier than \(bound(now - window)) (\(current) - \(length))"
            )
        }
    }

    /// What must be signed: who is called and, where it is a header, when; and a token that comes as a header.
    private static func checkSignedHeaders(_ authorization: Authorization) throws(SNSError) {
        var required: [Substring] = ["host"]
        if authorization.expires == nil {
            required.append("x-amz-date")
            if authorization.token != nil { required.append("x-amz-security-token") }
        }
        for name in required where !authorization.signedHeaders.contains(name) {
            throw .signature("'\(name)' must be a 'SignedHeader' in the AWS Authorization.")
        }
    }

    /// The last line of the canonical request.
    private static func bodyHash(_ request: SignedRequest, _ authorization: Authorization) throws(SNSError) -> String {
        let hash = Hex.encode(request.bodySHA256)
        guard authorization.expires == nil, let declared = request.header("x-amz-content-sha256") else { return hash }
        if declared == "UNSIGNED-PAYLOAD", request.isTLS { return declared }
        guard declared == hash else { throw .signatureMismatch }
        return hash
    }

    /// Whether a token is the one expected, in constant time; also whether neither is there.
    private static func isSame(_ token: String?, _ expected: String?) -> Bool {
        guard let token, let expected else { return token == nil && expected == nil }
        let left = SignedRequest.sha256(Array(token.utf8))
        let right = SignedRequest.sha256(Array(expected.utf8))
        return zip(left, right).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }
}

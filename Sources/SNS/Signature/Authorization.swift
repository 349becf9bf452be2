internal import Push

/// The parts of a signature in either form.
struct Authorization {
    var keyID: Substring
    var day: Substring
    var region: Substring
    var service: Substring
    var terminator: Substring

    /// In the order of the client, in lower case.
    var signedHeaders: [Substring]

    /// 32 bytes.
    var signature: [UInt8]

    /// `X-Amz-Date`.
    var time: SignatureTime

    /// `X-Amz-Expires` in seconds; nil for a signature in the header.
    var expires: Int64?

    /// `X-Amz-Security-Token`.
    var token: String?

    static let algorithm = "AWS4-HMAC-SHA256"

    /// Headers that one signature may name.
    static let headerLimit = 100

    init(_ request: SignedRequest) throws(SNSError) {
        let pairs = request.pairs
        let isInQuery = pairs.contains { $0.name == "X-Amz-Signature" }
        guard let header = request.header("authorization") else {
            guard isInQuery else {
                throw SNSError("MissingAuthenticationToken", status: 403, "Request is missing Authentication Token")
            }
            try self.init(query: pairs)
            return
        }
        guard !isInQuery else {
            throw .incompleteSignature("The request is signed in its header and in its query string; use one.")
        }
        try self.init(header: header, request)
    }

    private init(header: String, _ request: SignedRequest) throws(SNSError) {
        guard header.hasPrefix(Self.algorithm + " "), header.utf8.count <= 8192 else {
            throw .incompleteSignature("Authorization header requires the algorithm '\(Self.algorithm)'.")
        }
        var parts: [Substring: Substring] = [:]
        let list = Substring(header.utf8.dropFirst(Self.algorithm.utf8.count))
        for part in list.parts(UInt8(ascii: ",")) {
            let part = part.trimmed
            guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")),
                parts.updateValue(part[part.utf8.index(after: equals)...], forKey: part[..<equals]) == nil
            else {
                throw .incompleteSignature("Authorization header has a part that is no 'name=value', or comes twice.")
            }
        }
        func part(_ name: Substring) throws(SNSError) -> Substring {
            guard let part = parts[name], !part.isEmpty else {
                throw .incompleteSignature("Authorization header requires '\(name)' parameter.")
            }
            return part
        }
        let credential = try part("Credential")
        let signature = try part("Signature")
        let signedHeaders = try part("SignedHeaders")
        guard let date = request.header("x-amz-date"), let time = SignatureTime(date) else {
            throw .incompleteSignature(
                "Authorization header requires existence of a 'X-Amz-Date' header in the form YYYYMMDDTHHMMSSZ."
            )
        }
        self = try Self.make(credential, signedHeaders, signature, time)
        self.token = request.header("x-amz-security-token")
    }

    private init(query: [(name: Substring, value: Substring)]) throws(SNSError) {
        func value(_ name: String, isRequired: Bool = true) throws(SNSError) -> Substring? {
            let found = query.filter { $0.name == name }
            guard found.count == 1, let text = Self.decode(found[0].value) else {
                guard !isRequired, found.isEmpty else {
                    throw .incompleteSignature("AWS query-string parameters must include '\(name)' once.")
                }
                return nil
            }
            return Substring(text)
        }
        guard try value("X-Amz-Algorithm") == Substring(Self.algorithm) else {
            throw .incompleteSignature("'X-Amz-Algorithm' must be '\(Self.algorithm)'.")
        }
        guard let credential = try value("X-Amz-Credential"), let signedHeaders = try value("X-Amz-SignedHeaders"),
            let signature = try value("X-Amz-Signature"), let date = try value("X-Amz-Date"),
            let time = SignatureTime(String(date))
        else { throw .incompleteSignature("'X-Amz-Date' must be in the form YYYYMMDDTHHMMSSZ.") }
        guard let seconds = try value("X-Amz-Expires"), let expires = Int64(seconds), (1...604_800).contains(expires)
        else { throw .incompleteSignature("'X-Amz-Expires' must be a number of seconds from 1 to 604800.") }
        self = try Self.make(credential, signedHeaders, signature, time)
        self.expires = expires
        self.token = try value("X-Amz-Security-Token", isRequired: false).map(String.init)
    }

    private static func decode(_ text: Substring) -> String? {
        var text = text
        return text.withUTF8 { FormText.decode(UnsafeRawBufferPointer($0)) }
    }

    private static func make(
        _ credential: Substring,
        _ signedHeaders: Substring,
        _ signature: Substring,
        _ time: SignatureTime
    ) throws(SNSError) -> Self {
        let scope = credential.parts(UInt8(ascii: "/"), omittingEmpty: false)
        guard scope.count == 5, scope.allSatisfy({ !$0.isEmpty }) else {
            throw .incompleteSignature(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term."
            )
        }
        let names = signedHeaders.parts(UInt8(ascii: ";"), omittingEmpty: false)
        guard names.count <= Self.headerLimit, names.allSatisfy({ !$0.isEmpty }),
            zip(names, names.dropFirst()).allSatisfy({ $0.utf8.lexicographicallyPrecedes($1.utf8) }),
            !signedHeaders.utf8.contains(where: { $0 &- 0x41 < 26 })
        else {
            throw .incompleteSignature("'SignedHeaders' must be sorted, in lower case, and each of them once.")
        }
        guard let bytes = Hex.decode(Array(signature.utf8)), bytes.count == 32 else {
            throw .incompleteSignature("'Signature' must have 64 hexadecimal digits.")
        }
        return Self(
            keyID: scope[0],
            day: scope[1],
            region: scope[2],
            service: scope[3],
            terminator: scope[4],
            signedHeaders: names,
            signature: bytes,
            time: time,
            expires: nil,
            token: nil
        )
    }

    private init(
        keyID: Substring,
        day: Substring,
        region: Substring,
        service: Substring,
        terminator: Substring,
        signedHeaders: [Substring],
        signature: [UInt8],
        time: SignatureTime,
        expires: Int64?,
        token: String?
    ) {
        self.keyID = keyID
        self.day = day
        self.region = region
        self.service = service
        self.terminator = terminator
        self.signedHeaders = signedHeaders
        self.signature = signature
        self.time = time
        self.expires = expires
        self.token = token
    }
}

extension SNSError {
    fileprivate static func incompleteSignature(_ message: String) -> Self { SNSError("IncompleteSignature", message) }
}

extension StringProtocol {
    /// The parts between bytes of one kind; much faster than by characters, and the same for ASCII.
    func parts(_ separator: UInt8, maxSplits: Int = .max, omittingEmpty: Bool = true) -> [Substring] {
        Substring(self).utf8
            .split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty)
            .map { Substring($0) }
    }

    /// Without the spaces and tabs around it.
    var trimmed: Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var bytes = Substring(self).utf8
        while let first = bytes.first, isSpace(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        return Substring(bytes)
    }
}

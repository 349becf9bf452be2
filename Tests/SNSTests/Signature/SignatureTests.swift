import Push
import SNS
import Testing

/// The vectors were made with botocore.
@Suite("Signatures")
struct SignatureTests {
    static let policy = AccessPolicy.all
    static let key = AccessKey(
        id: "AKIDEXAMPLE",
        secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        principal: Principal(
            arn: "arn:aws:iam::123456789012:user/a",
            accessKeyID: "AKIDEXAMPLE",
            policy: Self.policy
        )
    )
    static let sessionKey = AccessKey(
        id: "AKIDEXAMPLE",
        secret: Self.key.secret,
        sessionToken: "TOK/EN=",
        principal: Self.key.principal
    )

    /// 20260102T030405Z.
    static let time: Int64 = 1_767_323_045

    static func check(
        _ request: SignedRequest,
        at seconds: Int64 = Self.time,
        key: AccessKey = Self.key,
        region: String? = "eu-west-1"
    ) throws -> Principal {
        var keys = SigningKeys()
        return try SignatureCheck(keys: [key], region: region)
            .principal(of: request, now: UnixTime(seconds: seconds), signingKeys: &keys)
    }

    static func post(
        _ body: String,
        _ signature: String,
        signed: String = "content-type;host;x-amz-date",
        more: [(name: String, value: String)] = []
    ) -> SignedRequest {
        SignedRequest(
            method: "POST",
            path: "/",
            query: "",
            headers: [
                ("Host", "localhost:8080"), ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"),
                ("X-Amz-Date", "20260102T030405Z"),
                (
                    "Authorization",
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns/aws4_request, SignedHeaders=\(signed), "
                        + "Signature=\(signature)"
                ), ("User-Agent", "Boto3/1.43"),
            ] + more,
            bodySHA256: SignedRequest.sha256(Array(body.utf8))
        )
    }

    static let list = Self.post(
        "Action=ListTopics&Version=2010-03-31",
        "d1ffb87da3d3761ac80a81698d3d34c41208c8150524dd90e85a4437f258a400"
    )
    static let tokened = Self.post(
        "Action=ListTopics&Version=2010-03-31",
        "4cde6904e6282ee988c97d7c78d717f8c1aeefffce083c10695056edde9d4ac5",
        signed: "content-type;host;x-amz-date;x-amz-security-token",
        more: [("X-Amz-Security-Token", "TOK/EN=")]
    )
    static let publish = Self.post(
        "Action=Publish&Version=2010-03-31&TargetArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012%3Aendpoint%2FAPNS%2FMyApp%2Fu"
            + "&Message=h%C3%A9+%F0%9F%98%80",
        "b5329a167afe01ac8999f1dca9288ccf74c3128059b795b4d07cb5102fc0e1f1"
    )
    static let presigned = SignedRequest(
        method: "GET",
        path: "/",
        query:
            "Action=Publish&Version=2010-03-31&TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012%3At&Message=hi%20there"
            + "&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20260102%2Feu-west-1%2Fsns%2Faws4_request"
            + "&X-Amz-Date=20260102T030405Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host"
            + "&X-Amz-Signature=14eda67dab5faf39cd20e943cf0673265c261d84d93c73fef57df6327412d0d2",
        headers: [("host", "localhost:8080")],
        bodySHA256: SignedRequest.sha256([])
    )

    @Test("requests that botocore has signed are accepted")
    func vectors() throws {
        #expect(try Self.check(Self.list).accessKeyID == "AKIDEXAMPLE")
        #expect(try Self.check(Self.tokened, key: Self.sessionKey).accessKeyID == "AKIDEXAMPLE")
        #expect(try Self.check(Self.publish).accessKeyID == "AKIDEXAMPLE")
        #expect(try Self.check(Self.presigned).accessKeyID == "AKIDEXAMPLE")
        #expect(try Self.check(Self.list, region: nil).accessKeyID == "AKIDEXAMPLE")
    }

    @Test("paths, query strings and more headers are signed as botocore does it")
    func variants() throws {
        let body = "Action=ListTopics&Version=2010-03-31"
        var path = Self.post(body, "0000325d823ca24fd7629244ce54188b816cce916ee662b2d3e7ba83fac8fe56")
        path.path = "/sns/a%20b/~x/"
        var query = Self.post(body, "04dcbdc9aae3e3ab9e27a8004531b8d2dd7d560a5aacf570b7333e025ab849be")
        query.query = "b=2&a=%C3%A9&a=1&c"
        let headers = Self.post(
            body,
            "fe1d628efee6a6ae0b0e2808900b94a5e389bed22cbfacc91749f55336ac1123",
            signed:
                "amz-sdk-invocation-id;amz-sdk-request;content-length;content-type;host;x-amz-date;x-amz-user-agent",
            more: [
                ("amz-sdk-invocation-id", "7a"), ("amz-sdk-request", "attempt=1"), ("Content-Length", "36"),
                ("x-amz-user-agent", "aws-sdk-js/3   x"),
            ]
        )
        for request in [path, query, headers] { #expect(error { try Self.check(request) } == nil) }
    }

    @Test(
        "pre-signed URLs of both methods, and with a session's token, are accepted",
        arguments: [
            ("POST", "6a1c7aab890df3c49087109843e8a9ce0844df01271bb2fdac1ef2faef1d929a"),
            ("GET", "d05f035380bad69462a681c27a90e6647d41c60d29b3b496200ef3e1cac73d27"),
            ("token", "e91a38bd26d6712db7ee0ac195af313762b13f5de0bdefd06c3995a7081c6f34"),
        ]
    )
    func presignedVariants(_ method: String, _ signature: String) throws {
        let isToken = method == "token"
        let request = SignedRequest(
            method: isToken ? "GET" : method,
            path: "/",
            query: (isToken
                ? "Action=ListTopics" : "Action=Publish&Message=h%C3%A9%20%2B%F0%9F%98%80~&Subject=")
                + "&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20260102%2Feu-west-1%2Fsns%2Faws4_request"
                + "&X-Amz-Date=20260102T030405Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host"
                + (isToken ? "&X-Amz-Security-Token=TOK%2FEN%3D" : "") + "&X-Amz-Signature=\(signature)",
            headers: [("host", "localhost:8080")],
            bodySHA256: SignedRequest.sha256([])
        )
        #expect(error { try Self.check(request, key: isToken ? Self.sessionKey : Self.key) } == nil)
    }

    @Test("a signature that comes again is as good as the first")
    func again() throws {
        var keys = SigningKeys()
        let check = SignatureCheck(keys: [Self.key], region: "eu-west-1")
        for _ in 0..<3 {
            _ = try check.principal(of: Self.publish, now: UnixTime(seconds: Self.time), signingKeys: &keys)
        }
        #expect(keys.count == 1)
        keys.removeAll()
        #expect(keys.count == 0)
    }

    @Test("only a right signature gets its key into the cache, and the cache has a limit")
    func cache() throws {
        var keys = SigningKeys(limit: 1)
        let check = SignatureCheck(keys: [Self.key], region: nil)
        var wrong = Self.list
        wrong.bodySHA256[0] ^= 1
        _ = error { try check.principal(of: wrong, now: UnixTime(seconds: Self.time), signingKeys: &keys) }
        #expect(keys.count == 0)
        for request in [Self.list, Self.presigned] {
            _ = try check.principal(of: request, now: UnixTime(seconds: Self.time), signingKeys: &keys)
        }
        #expect(keys.count == 1)
    }

    @Test("headers that are not signed may come and go; those that are may only change their spaces")
    func headers() throws {
        var request = Self.list
        request.headers.append(("Via", "proxy"))
        #expect(error { try Self.check(request) } == nil)
        request.headers[1].value = "  application/x-www-form-urlencoded;   charset=utf-8 "
        #expect(error { try Self.check(request) } == nil)
        request.headers[1].value = "application/x-www-form-urlencoded"
        #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
        request.headers.remove(at: 1)
        #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
    }

    @Test("nothing that is signed may change")
    func tampering() {
        let changes: [(inout SignedRequest) -> Void] = [
            { $0.method = "GET" }, { $0.path = "/x" }, { $0.path = "//" }, { $0.query = "a=b" },
            { $0.bodySHA256[31] ^= 1 },
            { $0.headers[0].value = "localhost:8081" }, { $0.headers[0].value = "example.com" },
            { $0.headers.append(("host", "localhost:8080")) }, { $0.headers[2].value = "20260102T030406Z" },
        ]
        for change in changes {
            var request = Self.list
            change(&request)
            let found = error { try Self.check(request) }
            #expect(
                found?.code == "SignatureDoesNotMatch" && found?.status == 403
                    && found?.message.hasPrefix(
                        "The request signature we calculated does not match the signature you provided."
                    )
                        == true
            )
        }
        let other = AccessKey(id: "AKIDEXAMPLE", secret: "other", principal: Self.key.principal)
        #expect(error { try Self.check(Self.list, key: other) }?.code == "SignatureDoesNotMatch")
    }

    @Test("nothing of a pre-signed URL may change, and it has no body")
    func presignedTampering() {
        for (from, to) in [
            ("hi%20there", "hi%20you"), ("3600", "3601"), ("Publish", "ListTopics"), ("hi%20there", "hi+there"),
        ] {
            var request = Self.presigned
            request.query = request.query.split(separator: "&").map {
                $0.hasSuffix(from) ? $0.dropLast(from.count) + to : String($0)
            }.joined(separator: "&")
            #expect(request.query != Self.presigned.query)
            #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
        }
        var request = Self.presigned
        request.bodySHA256 = SignedRequest.sha256([1])
        #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
        request = Self.presigned
        request.query += "&Subject=x"
        #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
    }

    @Test(
        "a header's signature holds for a quarter of an hour around its time",
        arguments: [(-900, true), (-901, false), (900, true), (901, false)] as [(Int64, Bool)]
    )
    func skew(_ offset: Int64, _ isGood: Bool) {
        #expect((error { try Self.check(Self.list, at: Self.time + offset) } == nil) == isGood)
    }

    @Test(
        "a pre-signed URL holds until it expires",
        arguments: [(-901, false), (0, true), (3600, true), (3601, false)] as [(Int64, Bool)]
    )
    func expiry(_ offset: Int64, _ isGood: Bool) {
        #expect((error { try Self.check(Self.presigned, at: Self.time + offset) } == nil) == isGood)
    }

    @Test("the texts about the time are Amazon's")
    func timeTexts() {
        #expect(
            error { try Self.check(Self.list, at: Self.time + 3600) }
                == SNSError(
                    "SignatureDoesNotMatch",
                    status: 403,
                    "Signature expired: 20260102T030405Z is now earlier than 20260102T034905Z (20260102T040405Z - 15 min.)"
                )
        )
        #expect(
            error { try Self.check(Self.list, at: Self.time - 3600) }?.message
                == "Signature not yet current: 20260102T030405Z is still later than 20260102T021905Z "
                + "(20260102T020405Z + 15 min.)"
        )
    }

    @Test("without a signature there is no token")
    func unsigned() {
        var request = Self.list
        request.headers.removeAll { $0.name == "Authorization" }
        #expect(!request.isSigned && Self.list.isSigned && Self.presigned.isSigned)
        #expect(
            error { try Self.check(request) }
                == SNSError("MissingAuthenticationToken", status: 403, "Request is missing Authentication Token")
        )
    }

    @Test("an unknown key, a token that was not issued, and a missing one are refused alike")
    func unknown() {
        let expected = SNSError(
            "InvalidClientTokenId",
            status: 403,
            "The security token included in the request is invalid."
        )
        let other = AccessKey(id: "AKIDOTHER", secret: Self.key.secret, principal: Self.key.principal)
        #expect(error { try Self.check(Self.list, key: other) } == expected)
        #expect(error { try Self.check(Self.tokened) } == expected)
        #expect(error { try Self.check(Self.list, key: Self.sessionKey) } == expected)
    }

    @Test(
        "a signature with a part missing or malformed is incomplete",
        arguments: [
            "", "Basic abc", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA256 Credential=a",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns, SignedHeaders=host, Signature=SIG",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns/aws4_request, SignedHeaders=host, Signature=ab",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns/aws4_request, SignedHeaders=x;host, Signature=SIG",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns/aws4_request, SignedHeaders=Host, Signature=SIG",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns/aws4_request, SignedHeaders=host;host, "
                + "Signature=SIG",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/sns/aws4_request, SignedHeaders=, Signature=SIG",
            "AWS4-HMAC-SHA256 Credential=a, Credential=b, SignedHeaders=host, Signature=SIG", "AWS4-HMAC-SHA512 a=b",
            ",,,", "=",
        ]
    )
    func incomplete(_ header: String) {
        var request = Self.list
        let signature = String(repeating: "ab", count: 32)
        request.headers[3].value = header.split(separator: "SIG", omittingEmptySubsequences: false)
            .joined(separator: signature)
        let found = error { try Self.check(request) }
        #expect(found?.code == "IncompleteSignature" && found?.status == 400)
    }

    @Test(
        "a time is a second of the calendar",
        arguments: ["", "20260230T000000Z", "20260102T030405", "2026-01-02T030405Z", "20260102T240000Z"]
    )
    func times(_ text: String) {
        var request = Self.list
        request.headers[2].value = text
        #expect(error { try Self.check(request) }?.code == "IncompleteSignature")
    }

    @Test(
        "the scope is for this service, region and day",
        arguments: [
            ("20260102/eu-west-1/sqs/aws4_request", "Credential should be scoped to correct service: 'sns'."),
            ("20260102/us-east-1/sns/aws4_request", "Credential should be scoped to a valid region."),
            (
                "20260102/eu-west-1/sns/aws5_request",
                "Credential should be scoped with a valid terminator: 'aws4_request'."
            ),
            ("20260103/eu-west-1/sns/aws4_request", "Date in Credential scope does not match"),
        ]
    )
    func scope(_ scope: String, _ text: String) {
        var request = Self.list
        request.headers[3].value =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\(scope),SignedHeaders=host;x-amz-date,Signature="
            + String(repeating: "ab", count: 32)
        let found = error { try Self.check(request) }
        #expect(found?.code == "SignatureDoesNotMatch" && found?.message.hasPrefix(text) == true)
    }

    @Test("host and date must be signed")
    func required() {
        for signed in ["content-type;host", "content-type;x-amz-date", "content-type"] {
            let request = Self.post("", String(repeating: "ab", count: 32), signed: signed)
            #expect(error { try Self.check(request) }?.message.contains("must be a 'SignedHeader'") == true)
        }
    }

    @Test("a declared hash must be the body's, and may be left out over TLS only")
    func declaredHash() {
        var request = Self.list
        request.headers.append(("x-amz-content-sha256", "55e772bd"))
        #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
        request.headers[5].value = "UNSIGNED-PAYLOAD"
        #expect(error { try Self.check(request) }?.code == "SignatureDoesNotMatch")
        request.headers[5].value = Self.hex(request.bodySHA256)
        #expect(error { try Self.check(request) } == nil)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("both forms at once are refused")
    func both() {
        var request = Self.presigned
        request.headers += Self.list.headers.dropFirst()
        #expect(error { try Self.check(request) }?.code == "IncompleteSignature")
    }

    @Test("a secret is never printed")
    func secrecy() {
        #expect(!"\(Self.key)".contains("wJal"))
    }
}

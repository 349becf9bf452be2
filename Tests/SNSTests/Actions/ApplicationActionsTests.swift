import Crypto
import SNS
import Testing

@Suite("Actions on applications and endpoints")
struct ApplicationActionsTests {
    static let pem = P256.Signing.PrivateKey().pemRepresentation
    static let base64 = Self.pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    static let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

    static func create(
        name: String = "MyApp",
        platform: String = "APNS",
        _ attributes: [String: String]
    ) throws -> CreatePlatformApplication {
        var body = "Action=CreatePlatformApplication&Version=2010-03-31&Name=\(escaped(name))&Platform=\(platform)"
        for (index, (key, value)) in attributes.sorted(by: { $0.key < $1.key }).enumerated() {
            body +=
                "&Attributes.entry.\(index + 1).key=\(escaped(key))&Attributes.entry.\(index + 1).value=\(escaped(value))"
        }
        guard case .createPlatformApplication(let call) = try Action(try Parameters(body: body)) else {
            preconditionFailure("another action")
        }
        return call
    }

    static let token = [
        "PlatformPrincipal": "KEYID12345", "PlatformCredential": Self.pem, "ApplePlatformTeamID": "TEAMID1234",
        "ApplePlatformBundleID": "com.example.shop",
    ]

    @Test("an application with a signing key is read, however the key is written")
    func signingKey() throws {
        for key in [
            Self.pem, Self.pem.split(separator: "\n").joined(separator: "\\n"), Self.base64, "\n\(Self.base64)\n",
        ] {
            let call = try Self.create(Self.token.merging(["PlatformCredential": key]) { $1 })
            #expect(call.applicationName == "MyApp" && call.platform == .apns)
            guard case .token(let id, let pem, let team, let bundle)? = call.attributes.credentials else {
                Issue.record("no token")
                continue
            }
            #expect(id == "KEYID12345" && team == "TEAMID1234" && bundle == "com.example.shop")
            #expect((try? P256.Signing.PrivateKey(pemRepresentation: pem))?.pemRepresentation == Self.pem)
            #expect(call.attributes.plain == ["ApplePlatformTeamID": team, "ApplePlatformBundleID": bundle])
            #expect(call.attributes.isEnabled == nil)
        }
    }

    @Test("an application with a certificate is read")
    func certificates() throws {
        let call = try Self.create([
            "PlatformPrincipal": Self.certificate, "PlatformCredential": Self.pem, "Enabled": "false",
            "EventEndpointCreated": "\(topic)", "SuccessFeedbackSampleRate": "100", "AuthenticationMethod": "Token",
        ])
        #expect(call.attributes.credentials?.method == "certificate")
        #expect(call.attributes.isEnabled == false)
        #expect(call.attributes.plain == ["EventEndpointCreated": "\(topic)", "SuccessFeedbackSampleRate": "100"])
    }

    @Test(
        "names that are none are echoed",
        arguments: [
            ("", "Invalid parameter:  Reason: cannot be empty"),
            (
                "@name",
                "Invalid parameter: @name Reason: must contain only characters 'a'-'z', 'A'-'Z', '0'-'9', '_', '-', and '.'"
            ),
            (
                String(repeating: "a", count: 257),
                "Invalid parameter: \(String(repeating: "a", count: 257)) Reason: must be at most 256 characters long"
            ),
        ]
    )
    func names(_ name: String, _ text: String) {
        #expect(error { try Self.create(name: name, [:]) } == SNSError("InvalidParameter", text))
    }

    @Test("the platform comes before the attributes, and these must be there")
    func order() {
        #expect(
            error { try Self.create(platform: "AAA", [:]) }?.message
                == "Invalid parameter: Platform Reason: AAA is not supported"
        )
        #expect(error { try Self.create([:]) } == .null("attributes"))
        #expect(
            SNSError.null("attributes").message
                == "1 validation error detected: Value null at 'attributes' failed to satisfy constraint: Member must not be null"
        )
    }

    @Test(
        "attributes that are refused",
        arguments: [
            (["PlatformCredential": "x"], "PlatformCredential attribute provided without PlatformPrincipal"),
            (["PlatformPrincipal": "x"], "PlatformPrincipal attribute provided without PlatformCredential"),
            (["Foo": "x"], "Invalid attribute name: Foo"), (["Enabled": "true"], "Platform credentials are invalid"),
            (["PlatformCredential": "x", "PlatformPrincipal": "y"], "Platform credentials are invalid"),
            (Self.token.merging(["PlatformCredential": "bm8="]) { $1 }, "Platform credentials are invalid"),
            (Self.token.merging(["ApplePlatformTeamID": "x"]) { $1 }, "Platform credentials are invalid"),
            (Self.token.merging(["EventDeliveryFailure": "x"]) { $1 }, "EventDeliveryFailure has invalid ARN format"),
            (
                Self.token.merging(["Enabled": "maybe"]) { $1 },
                "Invalid value for attribute: Enabled: must be true or false"
            ),
            (
                Self.token.merging(["SuccessFeedbackSampleRate": "101"]) { $1 },
                "Invalid value for attribute: SuccessFeedbackSampleRate: must be a whole number from 0 to 100"
            ),
        ]
    )
    func refused(_ attributes: [String: String], _ reason: String) {
        #expect(error { try Self.create(attributes) } == .invalidParameter("Attributes", reason: reason))
    }

    static func endpointCall(_ parameters: KeyValuePairs<String, String>) throws -> CreatePlatformEndpoint {
        let action = try action("CreatePlatformEndpoint", parameters)
        guard case .createPlatformEndpoint(let call) = action else { preconditionFailure("another action") }
        return call
    }

    @Test("a token is lower-cased, and attributes go before parameters")
    func registration() throws {
        let call = try Self.endpointCall([
            "PlatformApplicationArn": "\(application)", "Token": "AABB", "CustomUserData": "a",
            "Attributes.entry.1.key": "CustomUserData", "Attributes.entry.1.value": "b",
            "Attributes.entry.2.key": "Enabled", "Attributes.entry.2.value": "FALSE",
        ])
        #expect(call.application == application)
        let registration = try call.registration()
        #expect(registration.token == "aabb" && registration.customUserData == "b" && registration.isEnabled == false)
        let bare = try Self.endpointCall(["PlatformApplicationArn": "\(application)", "Token": "aa"]).registration()
        #expect(bare.customUserData == nil && bare.isEnabled == nil)
    }

    @Test("attributes, sizes and the token are looked at in this order, after the application")
    func endpointErrors() throws {
        let tooMuch = String(repeating: "é", count: 1025)
        let token = String(repeating: "a", count: 402)
        func fault(_ name: String, _ data: String, _ token: String) throws -> String? {
            let call = try Self.endpointCall([
                "PlatformApplicationArn": "\(application)", "Token": token, "CustomUserData": data,
                "Attributes.entry.1.key": name, "Attributes.entry.1.value": "true",
            ])
            return error { try call.registration() }?.message
        }
        let tokenText =
            "Invalid parameter: Token Reason: iOS device tokens must be no more than 400 hexadecimal characters"
        #expect(try fault("Foo", tooMuch, token) == "Invalid parameter: Attributes Reason: Invalid attribute name: Foo")
        #expect(
            try fault("Enabled", tooMuch, token)
                == "Invalid parameter: Attributes Reason: Invalid value for attribute: CustomUserData: must be at most 2048 bytes "
                + "long in UTF-8 encoding"
        )
        #expect(try fault("Enabled", "", token) == tokenText)
        #expect(try fault("Enabled", "", "xyz0") == tokenText)
        #expect(try fault("Enabled", "", "") == "Invalid parameter: Token Reason: cannot be empty")
        #expect(try fault("Enabled", String(repeating: "é", count: 1024), String(repeating: "F", count: 400)) == nil)
    }

    @Test("what is required is asked for")
    func required() {
        #expect(error { try action("CreatePlatformEndpoint", ["PlatformApplicationArn": "x"]) } == .null("token"))
        #expect(error { try action("CreatePlatformEndpoint", ["Token": "aa"]) } == .noValue("PlatformApplicationArn"))
        #expect(error { try action("SetEndpointAttributes", ["EndpointArn": "\(endpoint)"]) } == .null("attributes"))
        #expect(error { try action("GetEndpointAttributes", [:]) } == .noValue("EndpointArn"))
        #expect(
            error { try action("GetEndpointAttributes", ["EndpointArn": ""]) }?.message
                == "Invalid parameter: EndpointArn Reason: An ARN must have at least 6 elements, not 1"
        )
        #expect(
            error { try action("SetPlatformApplicationAttributes", ["PlatformApplicationArn": "x"]) }
                == .null("attributes")
        )
    }

    @Test("changes hold only what was given")
    func changes() throws {
        let action = try action(
            "SetEndpointAttributes",
            [
                "EndpointArn": "\(endpoint)", "Attributes.entry.1.key": "Token", "Attributes.entry.1.value": "FF",
            ]
        )
        guard case .setEndpointAttributes(let call) = action else { preconditionFailure("another action") }
        let changes = try call.changes()
        #expect(changes.token == "ff" && changes.isEnabled == nil && changes.customUserData == nil)
    }

    @Test("control characters are refused where they could come back")
    func controlCharacters() {
        #expect(
            error {
                try action(
                    "CreatePlatformEndpoint",
                    ["PlatformApplicationArn": "\(application)", "Token": "aa", "CustomUserData": "a\u{1}"]
                )
            } == .invalidParameter("CustomUserData", reason: "must not contain control characters")
        )
    }
}

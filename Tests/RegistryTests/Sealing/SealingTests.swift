import Testing

@testable import Registry

@Suite struct SealingTests {
    private static let first = String(repeating: "0f", count: 32)
    private static let second = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let token = StoredCredential(
        environment: "sandbox",
        proof: .token(teamID: "TEAMTEAM01", keyID: "KEYKEYKEY1", key: "-----BEGIN PRIVATE KEY-----\nsecret\n")
    )

    @Test func `What was sealed opens for that app alone`() throws {
        let keys = try SealingKeys(Self.first)
        var credential = Self.token
        credential.maxConnections = 3
        credential.host = "localhost"
        credential.port = 2197
        credential.caFile = "/ca.pem"
        let sealed = keys.seal(credential, for: "app")
        #expect(try keys.open(sealed, for: "app") == credential)
        #expect(throws: SealingFault.altered) { try keys.open(sealed, for: "other") }
        #expect(keys.seal(credential, for: "app") != sealed)
        let certificate = StoredCredential(environment: "production", proof: .certificate("c", privateKey: "k"))
        #expect(try keys.open(keys.seal(certificate, for: "app"), for: "app") == certificate)
    }

    @Test func `The first key seals and all open`() throws {
        let old = try SealingKeys(Self.first)
        let both = try SealingKeys("# new\n\(Self.second)\n\n  \(Self.first)\n")
        let sealed = old.seal(Self.token, for: "app")
        #expect(try both.open(sealed, for: "app") == Self.token)
        let anew = both.seal(Self.token, for: "app")
        #expect(try SealingKeys(Self.second).open(anew, for: "app") == Self.token)
        #expect(throws: SealingFault.noKey(id: both.ids[0], have: old.ids)) { try old.open(anew, for: "app") }
    }

    @Test func `Nothing altered opens`() throws {
        let keys = try SealingKeys(Self.first)
        let text = keys.seal(Self.token, for: "app").text
        for index in text.indices {
            var altered = text
            altered.replaceSubrange(index...index, with: [text[index] == "A" ? "B" : "A"])
            #expect(throws: SealingFault.self) { try keys.open(SealedCredential(text: altered), for: "app") }
        }
        for text in ["", "v1", "v1 a b", "v2 \(keys.ids[0]) AAAA", "v1 \(keys.ids[0]) AAAA"] {
            #expect(throws: SealingFault.self) { try keys.open(SealedCredential(text: text), for: "app") }
        }
    }

    @Test func `No description or dump shows a secret`() throws {
        let keys = try SealingKeys(Self.first)
        let sealed = keys.seal(Self.token, for: "app")
        var dumped = ""
        dump(Self.token, to: &dumped)
        dump(sealed, to: &dumped)
        dump(keys, to: &dumped)
        let all =
            "\(Self.token) \(sealed) \(keys) \(String(reflecting: sealed)) \(String(reflecting: Self.token)) \(dumped)"
        #expect(!all.contains("secret"))
        #expect(!all.contains(sealed.text.split(separator: " ")[2]))
        #expect(!all.contains(Self.first))
    }

    @Test(arguments: [
        "", "#", "abc", String(repeating: "0f", count: 31), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
    ])
    func `Bad master keys are refused without showing them`(text: String) {
        let fault = #expect(throws: SealingKeyFault.self) { try SealingKeys("\n\(text)") }
        if text.count > 2 {
            #expect(fault?.problem.contains(text) == false)
            #expect(fault?.problem.contains("line 2") == true)
        }
    }

    @Test(arguments: ["", "f", "fo", "foo", "foob", "fooba", "foobar"])
    func `Base64 comes back`(text: String) {
        let encoded = Base64.encode(Array(text.utf8))
        #expect(encoded.utf8.count == (text.utf8.count + 2) / 3 * 4)
        #expect(Base64.decode(encoded) == Array(text.utf8))
        #expect(Base64.decode(encoded.replacing("=", with: "")) == Array(text.utf8))
    }

    @Test func `Base64 has the vectors of RFC 4648 and refuses what is none`() {
        #expect(Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy")
        #expect(Base64.encode(Array("fooba".utf8)) == "Zm9vYmE=")
        for text in ["A", "Zm9v!", "Zm9=YmE=", "Zh==", "===="] { #expect(Base64.decode(text) == nil) }
    }
}

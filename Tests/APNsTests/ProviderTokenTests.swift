import APNs
import Crypto
import Foundation
import Push
import Testing

@Suite struct ProviderTokenTests {
    private func minted(_ minutes: Int64) -> ProviderToken {
        ProviderToken(text: "token \(minutes)", issuedAt: UnixTime(seconds: minutes * 60))
    }

    private func at(_ minutes: Int64) -> UnixTime { UnixTime(seconds: minutes * 60) }

    @Test func `A minted token is an ES256 JWT that the public key verifies`() throws {
        let key = P256.Signing.PrivateKey()
        let signer = try ProviderTokenSigner(keyID: "ABC1234567", teamID: "TEAM123456", pem: key.pemRepresentation)
        let token = signer.mint(at: UnixTime(milliseconds: 1_767_225_600_987))
        #expect(token.issuedAt == UnixTime(seconds: 1_767_225_600))

        let parts = token.text.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let decoded = try parts.map { part in
            let standard = part.replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - part.count % 4) % 4)
            return try #require(Data(base64Encoded: standard + padding))
        }
        let header = try #require(JSONSerialization.jsonObject(with: decoded[0]) as? [String: String])
        #expect(header == ["alg": "ES256", "kid": "ABC1234567"])
        let claims = try #require(JSONSerialization.jsonObject(with: decoded[1]) as? [String: Any])
        #expect(claims["iss"] as? String == "TEAM123456")
        #expect(claims["iat"] as? Int == 1_767_225_600)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: decoded[2])
        #expect(key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test(arguments: ["", "not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func `What is not a key is refused`(pem: String) {
        #expect(throws: InvalidSigningKey()) {
            _ = try ProviderTokenSigner(keyID: "ABC1234567", teamID: "TEAM123456", pem: pem)
        }
    }

    @Test func `A token is asked for once, kept for 50 minutes, and usable for 60`() {
        var policy = ProviderTokenPolicy()
        let asks = { policy.shouldAsk(at: self.at($0)) }
        #expect(policy.usable(at: self.at(0)) == nil)
        #expect(asks(0))
        #expect(!asks(0))
        policy.received(self.minted(0))
        #expect(!asks(49))
        #expect(asks(50))
        policy.failed()
        #expect(asks(51))
        #expect(policy.usable(at: self.at(59)) == self.minted(0))
        #expect(policy.usable(at: self.at(60)) == nil)
    }

    @Test func `A refused token is not replaced before it is 20 minutes old`() {
        var policy = ProviderTokenPolicy()
        let asks = { policy.shouldAsk(at: self.at($0)) }
        policy.received(self.minted(0))
        policy.refused(at: self.at(5))
        #expect(!asks(19))
        #expect(asks(20))
        policy.received(self.minted(20))
        #expect(!asks(41))
    }

    @Test func `A token from the future is replaced`() {
        var policy = ProviderTokenPolicy()
        let asks = { policy.shouldAsk(at: self.at($0)) }
        policy.received(self.minted(90))
        #expect(asks(0))
    }
}

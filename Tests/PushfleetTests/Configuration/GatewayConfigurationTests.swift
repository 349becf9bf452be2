internal import Foundation
internal import Gateway
internal import Push
internal import SNS
internal import Testing

@testable import pushfleet

@Suite struct GatewayConfigurationTests {
    private func load(_ text: String, needs: ConfigurationLoader.Needs = .gateway) throws -> LoadedConfiguration {
        let folder = try TestFolder()
        let file = try folder.write("c.yaml", text)
        return ConfigurationLoader(environment: [:]).load(option: file, needs: needs)
    }

    @Test("all of it is read")
    func whole() throws {
        let folder = try TestFolder()
        let secret = try folder.write("secret", "s3cret\nnot this\n")
        let file = try folder.write(
            "c.yaml",
            """
            gateway: { host: 127.0.0.1, port: 0, region: eu-west-1, account: "123456789012", skew: 5m, anonymous: local-use-only }
            access_keys:
              shop: { id: AKIASHOP, secret_file: \(secret), allow: "Publish on app/*, List*", rate: 5 }
            """
        )
        let loaded = ConfigurationLoader(environment: [:]).load(option: file, needs: .gateway)
        #expect(loaded.errors == [])
        let gateway = loaded.gateway
        #expect(gateway.region == "eu-west-1" && gateway.account == "123456789012" && gateway.port == 0)
        #expect(gateway.skew == .seconds(300) && gateway.allowsAnonymous)
        let key = try #require(gateway.keys.first)
        #expect(key.name == "shop" && key.id == "AKIASHOP" && key.secret == "s3cret")
        #expect(try key.rate == RateLimit(rate: 5))
        #expect(!key.policy.allows("DeleteTopic", on: ["arn:aws:sns:eu-west-1:123456789012:news"]))
    }

    @Test(
        "errors name the key and the fix",
        arguments: [
            ("gateway: { port: 9911 }", "access_keys", "add one with id and secret"),
            ("access_keys: { a: { id: A } }", "access_keys.a.secret", "secret_file"),
            ("access_keys: { a: { secret: s } }", "access_keys.a.id", "is missing"),
            (
                "access_keys: { a: { id: A, secret: s, allow: nothing at all } }", "access_keys.a.allow",
                "is not <action>"
            ),
            ("access_keys: { a: { id: A, secret: s }, b: { id: A, secret: t } }", "access_keys.b.id", "access_keys.a"),
            ("gateway: { account: 12 }", "gateway.account", "12 digits"),
            ("gateway: { anonymous: yes }", "gateway.anonymous", "local-use-only"),
            ("gateway: { certificate_file: /etc/hostname }", "gateway.certificate_file", "private_key_file"),
            ("gateway: { region: EU }", "gateway.region", "eu-west-1"),
            ("access_keys: { a: { id: A, secret_file: /no/such } }", "access_keys.a.secret_file", "no such file"),
        ]
    )
    func errors(text: String, key: String, phrase: String) throws {
        let errors = try self.load(text).errors
        #expect(errors.contains { $0.key == key && $0.text.contains(phrase) }, "\(errors)")
    }

    @Test("other verbs need neither keys nor files of the gateway")
    func others() throws {
        #expect(try self.load("gateway: { certificate_file: /no, private_key_file: /no }", needs: []).errors == [])
    }

    @Test("a secret is never shown whole")
    func masked() throws {
        let loaded = try self.load("access_keys: { a: { id: A, secret: abcdefghijklmnop } }")
        #expect(!loaded.effective.contains { $0.value.contains("efghijkl") })
    }
}

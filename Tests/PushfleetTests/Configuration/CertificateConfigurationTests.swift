internal import Desk
internal import Foundation
internal import Store
internal import TestServers
internal import Testing
internal import Wire
internal import Worker

@testable import pushfleet

@Suite struct CertificateConfigurationTests {
    private static let files = TestCertificates.shared

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var environment = "production"
        var keys: [String: String]
        var bundle = "com.example.shop"
        /// The key at fault, and part of what is said; nil: nothing is wrong.
        var key: String?
        var text = ""

        var testDescription: String { self.name }
    }

    private static let token = ["team_id": "TEAM123456", "key_id": "KEY1234567", "key_file": files.signingKey]
    private static let pem = [
        "certificate_file": files.certificate(.standard), "private_key_file": files.key(.standard),
    ]

    private static func pair(_ client: TestCertificates.Client) -> [String: String] {
        ["certificate_file": files.certificate(client), "private_key_file": files.key(client)]
    }

    static let cases: [Case] = [
        Case(name: "PEM in two files", keys: pem),
        Case(name: "PEM in one file", keys: ["certificate_file": files.clientInOneFile]),
        Case(name: "PKCS #12", keys: ["pkcs12_file": files.pkcs12(.standard), "passphrase": "correct horse"]),
        Case(name: "PKCS #12 of old", keys: ["pkcs12_file": files.legacyPKCS12, "passphrase": "correct horse"]),
        Case(name: "for VoIP only", keys: pair(.voip)),
        Case(
            name: "key and certificate",
            keys: token.merging(pem) { first, _ in first },
            key: "credentials.main.certificate_file",
            text: "either a signing key or a certificate"
        ),
        Case(
            name: "key and PKCS #12",
            keys: token.merging(["pkcs12_file": "/x"]) { first, _ in first },
            key: "credentials.main.pkcs12_file",
            text: "stands beside team_id"
        ),
        Case(
            name: "PEM and PKCS #12",
            keys: pem.merging(["pkcs12_file": "/x"]) { first, _ in first },
            key: "credentials.main.certificate_file",
            text: "stands beside pkcs12_file"
        ),
        Case(
            name: "half a signing key",
            keys: ["team_id": "TEAM123456", "key_file": files.signingKey],
            key: "credentials.main.key_id",
            text: "is missing; team_id and key_file alone"
        ),
        Case(
            name: "a private key alone",
            keys: ["private_key_file": files.key(.standard)],
            key: "credentials.main.certificate_file",
            text: "is missing"
        ),
        Case(name: "nothing", keys: [:], key: "credentials.main", text: "a key or certificate is missing"),
        Case(
            name: "a passphrase for a signing key",
            keys: token.merging(["passphrase": "s3cr3t"]) { first, _ in first },
            key: "credentials.main.passphrase",
            text: "opens certificates only"
        ),
        Case(
            name: "two passphrases",
            keys: ["pkcs12_file": files.pkcs12(.standard), "passphrase": "s3cr3t", "passphrase_file": "/x"],
            key: "credentials.main.passphrase_file",
            text: "keep one of them"
        ),
        Case(
            name: "a wrong passphrase",
            keys: ["pkcs12_file": files.pkcs12(.standard), "passphrase": "s3cr3t"],
            key: "credentials.main.passphrase",
            text: "cannot be opened with this passphrase"
        ),
        Case(
            name: "no passphrase",
            keys: ["pkcs12_file": files.pkcs12(.standard)],
            key: "credentials.main.passphrase_file",
            text: "needs a passphrase"
        ),
        Case(
            name: "another's private key",
            keys: ["certificate_file": files.certificate(.standard), "private_key_file": files.key(.renewed)],
            key: "credentials.main.private_key_file",
            text: "does not belong to the certificate"
        ),
        Case(
            name: "no private key",
            keys: ["certificate_file": files.certificate(.standard)],
            key: "credentials.main.certificate_file",
            text: "holds no private key"
        ),
        Case(
            name: "PKCS #12 without a key",
            keys: ["pkcs12_file": files.keylessPKCS12, "passphrase": "correct horse"],
            key: "credentials.main.pkcs12_file",
            text: "holds no private key"
        ),
        Case(
            name: "expired",
            keys: pair(.expired),
            key: "credentials.main.certificate_file",
            text: "expired on 2021-01-31; renew it"
        ),
        Case(
            name: "expired PKCS #12",
            keys: ["pkcs12_file": files.pkcs12(.expired), "passphrase": "correct horse"],
            key: "credentials.main.pkcs12_file",
            text: "expired on 2021-01-31"
        ),
        Case(
            name: "not valid yet",
            keys: pair(.future),
            key: "credentials.main.certificate_file",
            text: "not valid before 2090-01-01"
        ),
        Case(
            name: "for the sandbox only",
            keys: pair(.sandbox),
            key: "credentials.main.environment",
            text: "is production, but the certificate in"
        ),
        Case(
            name: "for production only",
            environment: "sandbox",
            keys: pair(.production),
            key: "credentials.main.environment",
            text: "is for production only"
        ),
        Case(
            name: "not for APNs",
            keys: pair(.plain),
            key: "credentials.main.certificate_file",
            text: "is not a certificate for APNs"
        ),
        Case(
            name: "for another app",
            keys: pem,
            bundle: "com.example.other",
            key: "apps.com.example.shop.credential",
            text: "covers com.example.shop, com.example.shop.voip, com.example.shop.complication and no topic of"
        ),
        Case(
            name: "a file that is not there",
            keys: ["certificate_file": "/nonexistent.pem"],
            key: "credentials.main.certificate_file",
            text: "no such file"
        ),
    ]

    private static func load(_ example: Case, in folder: TestFolder) throws -> LoadedConfiguration {
        let keys = example.keys.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value)\n" }.joined()
        let text = """
            amqp: { url: 'amqp://localhost' }
            redis: { url: 'redis://localhost' }
            credentials:
              main:
                environment: \(example.environment)
                max_connections: 1
            \(keys)
            apps:
              com.example.shop: { credential: main, bundle_id: \(example.bundle) }
            """
        let file = try folder.write("c.yaml", text)
        return ConfigurationLoader(environment: [:]).load(option: file, needs: [.servers, .keys])
    }

    @Test("each way to prove a credential is taken or told with its key", arguments: Self.cases)
    func kinds(example: Case) throws {
        let folder = try TestFolder()
        let loaded = try Self.load(example, in: folder)
        #expect(loaded.errors.map(\.key) == (example.key.map { [$0] } ?? []), "\(loaded.errors)")
        if example.key != nil { #expect(loaded.errors.first?.text.contains(example.text) == true, "\(loaded.errors)") }
        let shown = loaded.problems.map(\.description) + loaded.effective.map(\.value)
        #expect(!shown.joined().contains("s3cr3t"))
        #expect(!shown.joined().contains("correct horse"))
        let findings = ConfigurationCheckup.findings(loaded)
        #expect(findings.contains { $0.state == .fail } == (example.key != nil))
    }

    @Test("the budget is called by environment and subject, so that a renewed certificate keeps it")
    func budget() throws {
        let folder = try TestFolder()
        for client in [TestCertificates.Client.standard, .renewed] {
            let example = Case(name: "", keys: Self.pair(client))
            let loaded = try Self.load(example, in: folder)
            #expect(loaded.settings.budgets.map(\.pool) == ["production.com.example.shop"])
        }
    }

    @Test("a certificate that ends soon is a doubt, and one that does not is fine")
    func expiry() throws {
        let folder = try TestFolder()
        let soon = ConfigurationCheckup.findings(try Self.load(Case(name: "", keys: Self.pair(.soon)), in: folder))
        let warning = try #require(soon.first { $0.subject == "key main" })
        #expect(warning.state == .warn && warning.text.contains("days from now"))
        #expect(warning.fix?.contains("renew") == true)
        let fine = ConfigurationCheckup.findings(try Self.load(Case(name: "", keys: Self.pem), in: folder))
        #expect(fine.first { $0.subject == "key main" }?.state == .ok)
    }

    @Test("a passphrase and a proxy may come from files, and a wrong proxy is told without its password")
    func secretFiles() throws {
        let folder = try TestFolder()
        let passphrase = try folder.write("passphrase", "correct horse\n")
        let proxy = try folder.write("proxy", "http://u:s3cr3t@proxy.example:3128\n")
        var keys = [
            "pkcs12_file": Self.files.pkcs12(.standard), "passphrase_file": passphrase, "proxy_file": proxy,
        ]
        let loaded = try Self.load(Case(name: "", keys: keys), in: folder)
        #expect(loaded.problems == [])
        #expect(loaded.settings.credentials.first?.proxy?.description == "http://u@proxy.example:3128")
        keys["proxy_file"] = nil
        for (text, hint) in [("https://u:s3cr3t@h:1", "scheme"), ("http://u:s3cr3t@h", "port")] {
            keys["proxy"] = "'\(text)'"
            let wrong = try Self.load(Case(name: "", keys: keys), in: folder)
            #expect(wrong.errors.map(\.key) == ["credentials.main.proxy"])
            #expect(wrong.errors.first?.text.contains(hint) == true)
            #expect(!wrong.errors.description.contains("s3cr3t"))
        }
    }
}

import APNs
import Push
import TestServers
import Testing
import Wire

@Suite struct ClientCertificateTests {
    private typealias Client = TestCertificates.Client

    static func load(_ client: TestCertificates.Client) throws -> Certificate {
        let files = TestCertificates.shared
        let identity = try TLSIdentity(
            pem: FileBytes.read(files.certificate(client)),
            privateKey: FileBytes.read(files.key(client))
        )
        return identity.certificate
    }

    struct Case: Sendable {
        var client: TestCertificates.Client
        var subject = "com.example.shop"
        var sandbox = true
        var production = true
        var topics = [
            "com.example.shop app", "com.example.shop.voip voip", "com.example.shop.complication complication",
        ]
        var defaultTopic: String?
    }

    @Test(arguments: [
        Case(client: .standard), Case(client: .renewed), Case(client: .expired), Case(client: .stranger),
        Case(client: .sandbox, production: false, topics: ["com.example.shop app"], defaultTopic: "com.example.shop"),
        Case(client: .production, sandbox: false, topics: ["com.example.shop app"], defaultTopic: "com.example.shop"),
        Case(
            client: .voip,
            subject: "com.example.shop.voip",
            topics: ["com.example.shop.voip voip"],
            defaultTopic: "com.example.shop.voip"
        ),
    ])
    func `Subject, environments and topics are read from Apple's extensions`(example: Case) throws {
        let certificate = try #require(ClientCertificate(try Self.load(example.client)))
        #expect(certificate.subject == example.subject)
        #expect(certificate.teamID == "TEAM123456")
        #expect(certificate.allowsSandbox == example.sandbox)
        #expect(certificate.allowsProduction == example.production)
        #expect(certificate.topics.map { "\($0.name) \($0.kind)" } == example.topics)
        #expect(certificate.defaultTopic == example.defaultTopic)
        #expect(example.topics.allSatisfy { certificate.covers(String($0.prefix { $0 != " " })) })
        #expect(!certificate.covers("com.example.other"))
    }

    @Test func `A certificate without Apple's extensions is none for APNs`() throws {
        #expect(ClientCertificate(try Self.load(.plain)) == nil)
    }

    @Test func `Both dates belong to the time in which it is valid`() throws {
        let certificate = try #require(ClientCertificate(try Self.load(.expired)))
        #expect(certificate.notBefore == UnixTime(seconds: 1_577_836_800))
        #expect(certificate.notAfter == UnixTime(seconds: 1_612_051_200))
        let second = Duration.seconds(1)
        #expect(certificate.isValid(at: certificate.notBefore) && certificate.isValid(at: certificate.notAfter))
        #expect(!certificate.isValid(at: certificate.notBefore - second))
        #expect(!certificate.isValid(at: certificate.notAfter + second))
    }

    /// Extensions that no good certificate has: what cannot be read is as if it were not there.
    @Test(
        arguments: [
            [], [0x30], [0x30, 0x05, 0x0c], [0x30, 0x00, 0x00], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            [0x30, 0x80], [0x0c, 0x01, 0x61], [0x30, 0x03, 0x0c, 0x01, 0x61],
            [0x30, 0x05, 0x0c, 0x01, 0x61, 0x30, 0x00],
            [0x30, 0x06, 0x0c, 0x01, 0xff, 0x30, 0x01, 0x00],
        ] as [[UInt8]]
    )
    func `A list of topics that cannot be read leaves the subject as the topic`(der: [UInt8]) {
        let certificate = ClientCertificate(
            Certificate(
                subject: Certificate.Name(userID: "a.b"),
                notBefore: UnixTime(seconds: 0),
                notAfter: UnixTime(seconds: 1),
                extensions: [
                    "1.2.840.113635.100.6.3.2": [5, 0], "1.2.840.113635.100.6.3.6": der,
                ]
            )
        )
        #expect(certificate?.topics == [ClientCertificate.Topic(name: "a.b", kind: "app")])
    }

    @Test func `An end is spoken of once a day, from 30 days before`() {
        let end = UnixTime(seconds: 1_800_000_000)
        var expiry = CertificateExpiry(notAfter: end)
        let day = Duration.seconds(86_400)
        #expect(expiry.warning(at: end - day * 31) == nil)
        #expect(expiry.warning(at: end - day * 30) == 30)
        #expect(expiry.warning(at: end - day * 30 + .seconds(86_399)) == nil)
        #expect(expiry.warning(at: end - day * 29) == 29)
        #expect(expiry.warning(at: end - day * 29) == nil)
        #expect(expiry.warning(at: end) == 0)
        #expect(expiry.warning(at: end + day) == -1)
        // The clock stepped back.
        #expect(expiry.warning(at: end - day * 3) == 3)
    }
}

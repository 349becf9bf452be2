import Loop
import TestLoop
import TestServers
import Testing
import Wire

@Suite struct TLSIdentityTests {
    private static let files = TestCertificates.shared

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var pem: String?
        var key: String?
        var pkcs12: String?
        var passphrase: String?
        var part: TLSIdentityError.Part?
        var problem = ""

        var testDescription: String { self.name }
    }

    static let cases: [Case] = [
        Case(name: "two files", pem: files.certificate(.standard), key: files.key(.standard)),
        Case(name: "one file, the key first, the chain behind", pem: files.clientInOneFile),
        Case(
            name: "an encrypted key",
            pem: files.certificate(.standard),
            key: files.encryptedClientKey,
            passphrase: files.passphrase
        ),
        Case(name: "PKCS #12", pkcs12: files.pkcs12(.standard), passphrase: files.passphrase),
        Case(name: "PKCS #12 with RC2 and triple DES", pkcs12: files.legacyPKCS12, passphrase: files.passphrase),
        Case(name: "PKCS #12 without a passphrase", pkcs12: files.openPKCS12),
        Case(
            name: "an encrypted key without its passphrase",
            pem: files.certificate(.standard),
            key: files.encryptedClientKey,
            part: .passphrase,
            problem: "needs a passphrase"
        ),
        Case(
            name: "an encrypted key with a wrong passphrase",
            pem: files.certificate(.standard),
            key: files.encryptedClientKey,
            passphrase: "wrong",
            part: .passphrase,
            problem: "cannot be opened with this passphrase"
        ),
        Case(
            name: "PKCS #12 with a wrong passphrase",
            pkcs12: files.pkcs12(.standard),
            passphrase: "wrong",
            part: .passphrase,
            problem: "cannot be opened with this passphrase"
        ),
        Case(
            name: "old PKCS #12 with a wrong passphrase",
            pkcs12: files.legacyPKCS12,
            passphrase: "wrong",
            part: .passphrase,
            problem: "cannot be opened with this passphrase"
        ),
        Case(
            name: "PKCS #12 without the passphrase it needs",
            pkcs12: files.pkcs12(.standard),
            part: .passphrase,
            problem: "needs a passphrase"
        ),
        Case(
            name: "PKCS #12 without a key",
            pkcs12: files.keylessPKCS12,
            passphrase: files.passphrase,
            part: .privateKey,
            problem: "holds no private key"
        ),
        Case(
            name: "another certificate's key",
            pem: files.certificate(.standard),
            key: files.key(.renewed),
            part: .privateKey,
            problem: "does not belong to the certificate"
        ),
        Case(
            name: "no key",
            pem: files.certificate(.standard),
            part: .privateKey,
            problem: "holds no private key"
        ),
        Case(name: "no certificate", pem: files.key(.standard), part: .certificate, problem: "holds no certificate"),
        Case(name: "PEM for PKCS #12", pkcs12: files.clientInOneFile, part: .certificate, problem: "is not PKCS #12"),
    ]

    static func load(_ example: Case) throws -> TLSIdentity {
        if let file = example.pkcs12 {
            return try TLSIdentity(pkcs12: FileBytes.read(file), passphrase: example.passphrase)
        }
        let pem = try FileBytes.read(#require(example.pem))
        let key = try example.key.map { try FileBytes.read($0) } ?? pem
        return try TLSIdentity(pem: pem, privateKey: key, passphrase: example.passphrase)
    }

    @Test(arguments: Self.cases)
    func `An identity comes of every form, or an error that says which part is at fault`(example: Case) throws {
        do {
            let identity = try Self.load(example)
            #expect(example.part == nil)
            #expect(identity.certificate.subject.userID == "com.example.shop")
            #expect(identity.certificate.subject.organizationalUnit == "TEAM123456")
            #expect(identity.certificate.issuer.commonName == "PushFleet test CA")
        } catch let error as TLSIdentityError {
            #expect(error.part == example.part)
            #expect(error.problem.contains(example.problem), "\(error)")
        }
    }

    @Test(arguments: Self.cases.filter { $0.part == nil })
    func `A server that asks sees the certificate, and one that trusts its authority takes it`(
        example: Case
    ) async throws {
        let identity = try Self.load(example)
        let seen = try await Self.certificateSeen(
            showing: identity,
            by: .signed(byAuthoritiesIn: Self.files.authority)
        )
        #expect(try seen.get() == identity.certificate)
    }

    @Test func `A server that does not ask sees nothing, and a client without a certificate is taken`() async throws {
        let identity = try Self.load(Self.cases[0])
        #expect(try await Self.certificateSeen(showing: identity, by: .none).get() == nil)
        #expect(try await Self.certificateSeen(showing: nil, by: .any).get() == nil)
        let authority = Self.files.authority
        #expect(try await Self.certificateSeen(showing: nil, by: .signed(byAuthoritiesIn: authority)).get() == nil)
    }

    @Test func `A stranger's certificate is seen by who takes any, and refused by who trusts an authority`()
        async throws
    {
        let stranger = Case(
            name: "",
            pem: Self.files.certificate(.stranger),
            key: Self.files.key(.stranger)
        )
        let identity = try Self.load(stranger)
        let seen = try await Self.certificateSeen(showing: identity, by: .any)
        #expect(try seen.get() == identity.certificate)
        let refused = try await Self.certificateSeen(
            showing: identity,
            by: .signed(byAuthoritiesIn: Self.files.authority)
        )
        #expect(throws: TransportError.self) { try refused.get() }
    }

    /// What a server learns in the handshake of who connects.
    private static func certificateSeen(
        showing identity: TLSIdentity?,
        by request: TLSContext.ClientCertificateRequest
    ) async throws -> Result<Certificate?, TransportError> {
        try await onLoop(of: Result<Certificate?, TransportError>.self) { loop, report in
            let serverTLS = try TLSContext.server(
                certificate: Self.files.serverCertificate,
                key: Self.files.serverKey,
                clients: request
            )
            let server = try RecordingServer(on: loop, tls: serverTLS) { connection in
                connection.onOpen = { report(.success($0.transport?.peerCertificate)) }
                connection.onClose = { report(.failure($1)) }
            }
            let clientTLS = try TLSContext.client(trusting: Self.files.authority, identity: identity)
            return (server, Recorder(to: server.port, tls: clientTLS, on: loop))
        }
    }

    @Test(arguments: ["", "0", "30", "3003020101"])
    func `What is no certificate makes none`(hex: String) {
        let bytes = stride(from: 0, to: hex.count / 2 * 2, by: 2).map { index in
            UInt8(hex.dropFirst(index).prefix(2), radix: 16) ?? 0
        }
        #expect(Certificate(der: bytes) == nil)
    }

    @Test func `Cut or changed bytes never crash the readers`() throws {
        let files = [Self.files.pkcs12(.standard), Self.files.clientInOneFile]
        for bytes in try files.map({ try FileBytes.read($0) }) {
            for cut in stride(from: 0, to: bytes.count, by: 97) {
                _ = try? TLSIdentity(pkcs12: Array(bytes[..<cut]), passphrase: Self.files.passphrase)
                _ = try? TLSIdentity(pem: Array(bytes[..<cut]), privateKey: bytes)
                var changed = bytes
                changed[cut] ^= 0xff
                _ = try? TLSIdentity(pem: changed, privateKey: changed)
            }
        }
    }

    @Test func `A description holds nothing of the key`() throws {
        let identity = try Self.load(Self.cases[0])
        #expect("\(identity)" == "identity Apple Push Services: com.example.shop")
    }
}

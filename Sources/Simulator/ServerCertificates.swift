internal import Wire

/// The certificates that a server may show, each with the protocols that it may know.
final class ServerCertificates {
    private struct Choice: Hashable {
        let certificate: String?
        let alpn: String?
    }

    private let usual: CertificateFiles
    private let others: [String: CertificateFiles]
    /// Whether clients are asked for certificates, and for whose.
    let clients: TLSContext.ClientCertificateRequest
    private var contexts: [Choice: TLSContext] = [:]

    /// - Throws: `TLSContextError`, when one of the files cannot be used.
    /// - Parameter clients: whether clients are asked for certificates.
    init(
        usual: CertificateFiles,
        others: [String: CertificateFiles],
        clients: TLSContext.ClientCertificateRequest = .any
    ) throws {
        self.clients = clients
        self.usual = usual
        self.others = others
        for name in [nil] + others.keys.map({ Optional($0) }) {
            let choice = Choice(certificate: name, alpn: "h2")
            self.contexts[choice] = try self.make(choice)
        }
    }

    var names: [String] { self.others.keys.sorted() }

    /// - Returns: nil when there is no such certificate.
    func context(for form: FaultRule.HandshakeForm) -> TLSContext? {
        let alpn = form.alpn == .none ? nil : form.alpn.rawValue
        let choice = Choice(certificate: form.certificate, alpn: alpn)
        if let known = self.contexts[choice] { return known }
        let made = try? self.make(choice)
        self.contexts[choice] = made
        return made
    }

    private func make(_ choice: Choice) throws -> TLSContext? {
        guard let files = choice.certificate.map({ self.others[$0] }) ?? self.usual else { return nil }
        return try TLSContext.server(
            certificate: files.certificate,
            key: files.privateKey,
            alpn: choice.alpn,
            clients: self.clients
        )
    }
}

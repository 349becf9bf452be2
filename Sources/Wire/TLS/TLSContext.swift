internal import COpenSSL

/// What a transport needs to speak TLS: trust, own certificate, protocols. Made once, shared by many connections.
///
/// `@unchecked Sendable` holds because nothing changes after `init`, and OpenSSL allows one SSL_CTX to serve several
/// threads then (ssl(7)).
///
/// Always TLS 1.2 or newer; a client always verifies the chain and the name, there is no way to switch that off.
package final class TLSContext: @unchecked Sendable {
    let handle: OpaquePointer
    let role: Role
    /// The ALPN protocol both sides must agree on, in wire form; empty when none is asked for.
    let alpn: [UInt8]

    enum Role {
        case client, server
    }

    /// For connecting to servers.
    /// - Parameters:
    ///   - trusting: PEM file of the certificate authorities to trust; nil for the system's.
    ///   - alpn: the one protocol to offer, such as `h2`; the handshake fails if the server does not take it.
    ///   - identity: what to show when the server asks for a certificate; nil to show none.
    /// - Throws: when the file cannot be read or holds no certificate.
    package static func client(
        trusting file: String? = nil,
        alpn: String? = nil,
        identity: TLSIdentity? = nil
    ) throws(TLSContextError) -> TLSContext {
        let context = try TLSContext(role: .client, alpn: alpn)
        if let file {
            guard SSL_CTX_load_verify_file(context.handle, file) == 1 else {
                throw TLSContextError(
                    file: file,
                    problem: "cannot load certificate authorities: \(OpenSSLError.take())"
                )
            }
        } else {
            SSL_CTX_set_default_verify_paths(context.handle)
        }
        SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
        if let identity { try context.use(identity) }
        return context
    }

    /// For accepting connections.
    /// - Parameters:
    ///   - certificate: PEM file of the certificate chain, the server's own first.
    ///   - key: PEM file of its private key.
    ///   - alpn: the one protocol to accept; clients that offer none of it are refused.
    ///   - clients: whether clients are asked who they are.
    package static func server(
        certificate: String,
        key: String,
        alpn: String? = nil,
        clients: ClientCertificateRequest = .none
    ) throws(TLSContextError) -> TLSContext {
        let context = try TLSContext(role: .server, alpn: alpn)
        guard SSL_CTX_use_certificate_chain_file(context.handle, certificate) == 1 else {
            throw TLSContextError(file: certificate, problem: "cannot load the certificate: \(OpenSSLError.take())")
        }
        guard SSL_CTX_use_PrivateKey_file(context.handle, key, SSL_FILETYPE_PEM) == 1 else {
            throw TLSContextError(file: key, problem: "cannot load the private key: \(OpenSSLError.take())")
        }
        try context.ask(clients)
        return context
    }

    /// Whether a server asks its clients for certificates. It never requires one.
    package enum ClientCertificateRequest: Sendable {
        case none
        /// Takes any certificate, of whatever authority and date; whoever asked judges it.
        case any
        /// Refuses in the handshake what none of the authorities in this PEM file has signed.
        case signed(byAuthoritiesIn: String)
    }

    private func use(_ identity: TLSIdentity) throws(TLSContextError) {
        ERR_clear_error()
        guard let certificate = X509Handle(der: identity.certificate.der),
            let key = PrivateKeyHandle(der: identity.privateKey),
            SSL_CTX_use_certificate(self.handle, certificate.pointer) == 1,
            SSL_CTX_use_PrivateKey(self.handle, key.pointer) == 1
        else { throw TLSContextError(file: nil, problem: "cannot use the \(identity): \(OpenSSLError.take())") }
        for der in identity.chain {
            guard let link = X509Handle(der: der) else { continue }
            pushfleet_ssl_ctx_add_chain_certificate(self.handle, link.pointer)
        }
    }

    private func ask(_ clients: ClientCertificateRequest) throws(TLSContextError) {
        switch clients {
        case .none: return
        case .any: SSL_CTX_set_cert_verify_callback(self.handle, acceptAnyCertificate, nil)
        case .signed(let file):
            guard SSL_CTX_load_verify_file(self.handle, file) == 1 else {
                throw TLSContextError(
                    file: file,
                    problem: "cannot load certificate authorities: \(OpenSSLError.take())"
                )
            }
            // Sent with the request, so that clients with several certificates choose the right one.
            SSL_CTX_set_client_CA_list(self.handle, SSL_load_client_CA_file(file))
        }
        SSL_CTX_set_verify(self.handle, SSL_VERIFY_PEER, nil)
        // Without it a client that resumes a session is refused, see SSL_CTX_set_session_id_context(3).
        SSL_CTX_set_session_id_context(self.handle, Array("pushfleet".utf8), 9)
    }

    private init(role: Role, alpn: String?) throws(TLSContextError) {
        self.role = role
        self.alpn = alpn.map { [UInt8($0.utf8.count)] + Array($0.utf8) } ?? []
        ERR_clear_error()
        guard let handle = SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
            throw TLSContextError(file: nil, problem: "cannot create a TLS context: \(OpenSSLError.take())")
        }
        self.handle = handle
        pushfleet_ssl_ctx_set_min_tls12(handle)
        pushfleet_ssl_ctx_set_partial_writes(handle)
        // Several records come in one read; a record holds at most 16 KiB.
        pushfleet_ssl_ctx_read_ahead(handle, 64 * 1024)
        pushfleet_ssl_ctx_session_cache_off(handle)
        guard !self.alpn.isEmpty else { return }
        switch role {
        case .client:
            SSL_CTX_set_alpn_protos(handle, self.alpn, UInt32(self.alpn.count))
        case .server:
            // Unretained: the context outlives its connections, which hold it.
            let this = Unmanaged.passUnretained(self).toOpaque()
            SSL_CTX_set_alpn_select_cb(handle, selectProtocol, this)
        }
    }

    deinit {
        SSL_CTX_free(self.handle)
    }
}

/// A certificate, key or trust file cannot be used.
package struct TLSContextError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file at fault, if one is.
    package let file: String?
    package let problem: String

    package var description: String { (self.file.map { "\($0): " } ?? "") + self.problem }
}

/// OpenSSL keeps its errors in a queue per thread: clear it before a call, read it right after, on the same thread.
enum OpenSSLError {
    /// The oldest error's text; empties the queue.
    static func take() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "no detail" }
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

/// For servers that only want to see a client's certificate.
private func acceptAnyCertificate(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return 1
}

/// RFC 7301 §3.2: takes our one protocol if the client offers it, else ends the handshake with an alert.
private func selectProtocol(
    _: OpaquePointer?,
    chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    length: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?,
    offeredLength: UInt32,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    let alpn = Unmanaged<TLSContext>.fromOpaque(context!).takeUnretainedValue().alpn
    var index = 0
    while index < Int(offeredLength), let offered {
        let end = index + 1 + Int(offered[index])
        guard end <= Int(offeredLength) else { break }
        if end - index == alpn.count, (0..<alpn.count).allSatisfy({ offered[index + $0] == alpn[$0] }) {
            chosen?.pointee = offered + index + 1
            length?.pointee = offered[index]
            return SSL_TLSEXT_ERR_OK
        }
        index = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

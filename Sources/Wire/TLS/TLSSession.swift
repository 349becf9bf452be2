internal import COpenSSL
internal import Glibc

/// One connection's TLS over its non-blocking socket.
final class TLSSession {
    enum Step: Equatable {
        case done
        /// The socket must become readable or writable first.
        case wait(forWrite: Bool)
        case failed(TransportError)
    }

    enum Transfer: Equatable {
        case bytes(Int)
        case wait
        case failed(TransportError)
    }

    private let handle: OpaquePointer
    private let context: TLSContext

    /// - Parameter serverName: the name that the server's certificate must be for (client only).
    init(context: TLSContext, socket: Int32, serverName: String) {
        self.context = context
        ERR_clear_error()
        guard let handle = SSL_new(context.handle) else { preconditionFailure("out of memory") }
        self.handle = handle
        SSL_set_fd(handle, socket)
        switch context.role {
        case .client:
            SSL_set_connect_state(handle)
            // An address is matched against IP entries and, by RFC 6066 §3, is not sent as a server name.
            if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), serverName) != 1 {
                ERR_clear_error()
                SSL_set1_host(handle, serverName)
                pushfleet_ssl_set_server_name(handle, serverName)
            }
        case .server:
            SSL_set_accept_state(handle)
        }
    }

    deinit {
        SSL_free(self.handle)
    }

    func handshake() -> Step {
        ERR_clear_error()
        let result = SSL_do_handshake(self.handle)
        if result == 1 { return self.checkProtocol() }
        switch SSL_get_error(self.handle, result) {
        case SSL_ERROR_WANT_READ: return .wait(forWrite: false)
        case SSL_ERROR_WANT_WRITE: return .wait(forWrite: true)
        default: return .failed(self.handshakeError())
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = SSL_read(self.handle, buffer.baseAddress, Int32(buffer.count))
        return count > 0 ? .bytes(Int(count)) : self.outcome(of: count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        ERR_clear_error()
        let count = SSL_write(self.handle, bytes.baseAddress, Int32(min(bytes.count, 1 << 20)))
        return count > 0 ? .bytes(Int(count)) : self.outcome(of: count)
    }

    /// Whether bytes that the socket no longer holds wait to be read, decrypted or not.
    var holdsBytes: Bool { SSL_has_pending(self.handle) == 1 }

    /// What the peer showed in the handshake, if it did.
    var peerCertificate: Certificate? {
        SSL_get1_peer_certificate(self.handle).flatMap { Certificate(X509Handle(adopting: $0)) }
    }

    /// Tells the peer that nothing more will come (RFC 8446 §6.1); does not wait for its answer.
    func sayGoodbye() {
        ERR_clear_error()
        SSL_shutdown(self.handle)
        ERR_clear_error()
    }

    private func outcome(of result: Int32) -> Transfer {
        // errno belongs to the call that just failed, so it is read before anything else runs.
        let errno = Glibc.errno
        switch SSL_get_error(self.handle, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wait
        case SSL_ERROR_ZERO_RETURN: return .failed(.closedByPeer)
        case SSL_ERROR_SYSCALL: return .failed(errno == 0 ? .closedByPeer : .broken(errno: errno))
        default:
            let code = ERR_peek_error()
            let endedWithoutGoodbye = ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING
            let text = OpenSSLError.take()
            return .failed(endedWithoutGoodbye ? .closedByPeer : .tls(text))
        }
    }

    private func handshakeError() -> TransportError {
        let verification = SSL_get_verify_result(self.handle)
        if self.context.role == .client, verification != X509_V_OK {
            ERR_clear_error()
            return .tls("certificate: \(String(cString: X509_verify_cert_error_string(verification)))")
        }
        let errno = Glibc.errno
        if ERR_peek_error() == 0 { return errno == 0 ? .closedByPeer : .broken(errno: errno) }
        return .tls(OpenSSLError.take())
    }

    private func checkProtocol() -> Step {
        guard !self.context.alpn.isEmpty else { return .done }
        var chosen: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(self.handle, &chosen, &length)
        let wanted = self.context.alpn.dropFirst()
        guard Int(length) == wanted.count, zip(0..<Int(length), wanted).allSatisfy({ chosen?[$0] == $1 }) else {
            // A client that offers no protocol at all never reaches the server's callback, so both sides look here.
            let peer = self.context.role == .client ? "server did not take" : "client did not offer"
            return .failed(.tls("the \(peer) ALPN \(String(decoding: wanted, as: UTF8.self))"))
        }
        return .done
    }
}

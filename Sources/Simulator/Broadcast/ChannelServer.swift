internal import HTTP2
internal import Loop
internal import Push
internal import Wire

/// The channel management API on its own port, as with Apple, in front of the same service as pushes.
final class ChannelServer {
    let port: UInt16
    private var listener: Listener?
    private unowned let server: Server
    private let headers = HeaderBlock()
    private var lines: [ObjectIdentifier: Line] = [:]

    /// - Throws: `ListenError` or `TLSContextError`.
    init(settings: Simulator.Settings, port: UInt16, server: Server) throws {
        self.server = server
        let tls = try TLSContext.server(
            certificate: settings.certificate,
            key: settings.privateKey,
            alpn: "h2",
            clients: server.certificates.clients
        )
        let endpoint = Endpoint(host: settings.host, port: port)
        let doorman = Doorman()
        let listener = try Listener(on: endpoint, tls: tls, loop: server.loop) { doorman.server?.accept($0) }
        self.port = listener.port
        self.listener = listener
        doorman.server = self
    }

    private final class Doorman {
        weak var server: ChannelServer?
    }

    private func accept(_ make: (any TransportDelegate) -> Transport) {
        let line = Line(self)
        self.lines[ObjectIdentifier(line)] = line
        line.begin(make, on: self.server.loop)
    }

    func close() {
        self.listener?.close()
        self.listener = nil
        for line in Array(self.lines.values) { line.close() }
    }

    /// One connection, with its certificate, or the credential that its first good request bound it to.
    private final class Line: HTTP2ServerDelegate {
        private unowned let owner: ChannelServer
        private var connection: HTTP2Server?
        private var binding = CredentialBinding()
        /// Whether its certificate was refused: it is on its way out, and nothing on it is processed.
        private var isRefused = false

        init(_ owner: ChannelServer) {
            self.owner = owner
        }

        func begin(_ make: (any TransportDelegate) -> Transport, on loop: EventLoop) {
            var settings = HTTP2Server.Settings()
            settings.maxConcurrentStreams = 100
            self.connection = HTTP2Server(accepted: make, settings: settings, on: loop, delegate: self)
        }

        func close() {
            self.connection?.abort()
        }

        func http2ServerDidOpen(_ connection: HTTP2Server) {
            guard let certificate = connection.peerCertificate else { return }
            let environment = self.owner.server.service.check.providerTokens.settings.environment
            switch ClientCertificateCheck.judge(certificate, for: environment, at: self.owner.server.moment.wall) {
            case .accepted(let client): self.binding.certificate = client
            case .refused(let reason):
                self.isRefused = true
                let debugData = Array("{\"reason\":\"\(reason.rawValue)\"}".utf8)
                connection.goAway(lastStreamID: 0, code: 0, debugData: debugData)
                // Not from within a frame that is just being read: the GOAWAY could not leave any more.
                self.owner.server.loop.after(.zero) { [weak self] in self?.connection?.close() }
            }
        }

        func http2Server(_ connection: HTTP2Server, stream: Int32, didReceive request: HTTP2Request) {
            guard !self.isRefused else { return }
            let server = self.owner.server
            let now = server.moment.wall
            let answer = server.service.withCheck { check, random in
                check.manage(ChannelRequest(request), binding: &self.binding, random: &random, at: now)
            }
            let headers = self.owner.headers
            headers.removeAll()
            if let channel = answer.channelID { headers.append(Name.channelID, channel) }
            headers.append(Name.requestID, answer.requestID)
            connection.respond(stream: stream, status: Int(answer.status), headers: headers, body: Body(answer.body))
        }

        func http2Server(_: HTTP2Server, stream: Int32, didEnd: ServerStreamEnd) {}

        func http2Server(_: HTTP2Server, didClose _: CloseReason) {
            self.connection = nil
            self.owner.lines[ObjectIdentifier(self)] = nil
        }
    }

    private enum Name {
        static let channelID = HeaderName("apns-channel-id", .none)
        static let requestID = HeaderName("apns-request-id", .none)
    }
}

extension ChannelRequest {
    fileprivate init(_ request: HTTP2Request) {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        self.init(
            method: text(request.method),
            path: text(request.path),
            authorization: request.header("authorization").map { Array($0) },
            channelID: request.header("apns-channel-id").map(text),
            requestID: request.header("apns-request-id").map(text),
            body: Array(request.body)
        )
    }
}

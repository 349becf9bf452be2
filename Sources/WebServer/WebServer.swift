package import HummingbirdCore
internal import HummingbirdTLS
internal import NIOCore
internal import NIOSSL
internal import Push

/// How our servers speak HTTP/1.1: with limits, and with patience for slow clients but no more than that.
package enum WebServer {
    /// A certificate and its private key.
    package struct TLSFiles: Sendable, Equatable {
        /// PEM file of the certificate and its chain.
        package var certificate: String
        /// PEM file of its private key.
        package var privateKey: String

        package init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// - Parameters:
    ///   - tls: nil for plain HTTP.
    ///   - patience: how long a client may take to send a request, and how long an idle connection stays open.
    /// - Throws: when the certificate or key cannot be used.
    package static func builder(tls: TLSFiles?, patience: Duration) throws -> HTTPServerBuilder {
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestPatience(limit: .nanoseconds(patience.nanoseconds))],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 * 1024,
                // Pre-signed requests carry everything in the first line, which counts apart from these.
                maxHeaderListSize: 32 * 1024,
                maxHeaderFieldCount: 100
            )
        )
        let http = HTTPServerBuilder { responder in
            LoopChannel(base: HTTP1Channel(responder: responder, configuration: configuration))
        }
        guard let files = tls else { return http }
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.privateKey, format: .pem))
        )
        settings.minimumTLSVersion = .tlsv12
        settings.applicationProtocols = ["http/1.1"]
        return try .tls(http, tlsConfiguration: settings)
    }
}

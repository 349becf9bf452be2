internal import Glibc

/// Why a transport is over. A transport ends once, with one of these.
package enum TransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name has no address, or the resolver failed.
    case resolve(host: String, detail: String)
    /// No address accepted the connection; the last one's error.
    case connect(errno: Int32)
    /// The proxy on the way did not make a tunnel.
    case proxy(String)
    /// The handshake failed: the certificate, its name, its dates, the protocol version or ALPN.
    case tls(String)
    /// The connection was not ready within its limit; `stage` says how far it came.
    case timeout(stage: Stage)
    /// The peer closed in an orderly way.
    case closedByPeer
    /// The connection broke.
    case broken(errno: Int32)

    package enum Stage: String, Sendable {
        case resolve
        case connect
        case proxy
        case tls = "TLS handshake"
    }

    package var description: String {
        switch self {
        case .resolve(let host, let detail): "cannot resolve \(host): \(detail)"
        case .connect(let errno): "cannot connect: \(String(cString: strerror(errno)))"
        case .proxy(let detail): "no way through the proxy: \(detail)"
        case .tls(let detail): "TLS: \(detail)"
        case .timeout(let stage): "no connection in time, stuck at \(stage.rawValue)"
        case .closedByPeer: "closed by the peer"
        case .broken(let errno): "connection lost: \(String(cString: strerror(errno)))"
        }
    }
}

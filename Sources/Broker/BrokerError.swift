package import Wire

/// Why a connection to the broker, or a channel of it, is over or an operation on it failed.
package enum BrokerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The TCP connection or TLS could not be made, or broke.
    case transport(TransportError)
    /// The broker did not let us in: user, password or virtual host. Trying again at once is pointless.
    case refused(code: UInt16, text: String)
    /// The broker closed the connection (AMQP `connection.close`).
    case connectionClosed(code: UInt16, text: String)
    /// The broker closed the channel (AMQP `channel.close`), which happens when an operation on it is not possible.
    case channelClosed(code: UInt16, text: String)
    /// Nothing was heard for two heartbeats.
    case silent
    /// The AMQP handshake or an operation took too long.
    case timeout
    /// The broker said something that AMQP 0-9-1 does not allow there.
    case violation(String)
    /// We closed it.
    case closed

    package var description: String {
        switch self {
        case .transport(let error): error.description
        case .refused(let code, let text): "refused by the broker: \(code) \(text)"
        case .connectionClosed(let code, let text): "connection closed by the broker: \(code) \(text)"
        case .channelClosed(let code, let text): "\(code) \(text)"
        case .silent: "the broker has been silent for two heartbeats"
        case .timeout: "the broker did not answer in time"
        case .violation(let detail): "the broker broke the protocol: \(detail)"
        case .closed: "the connection was closed"
        }
    }

    /// A 404 on a channel: the queue or exchange is not there (AMQP 0-9-1, reply code not-found).
    package var isNotFound: Bool {
        if case .channelClosed(code: 404, _) = self { true } else { false }
    }

    /// The peer spoke until the end, so it may still listen.
    var isSaid: Bool {
        switch self {
        case .refused, .connectionClosed, .channelClosed, .violation, .closed: true
        case .transport, .silent, .timeout: false
        }
    }
}

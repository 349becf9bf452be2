package import Wire

/// Why an HTTP/2 connection is over.
package enum CloseReason: Equatable, Sendable, CustomStringConvertible {
    /// It could not be made, or it broke, or the peer closed it.
    case transport(TransportError)
    /// The peer's first SETTINGS did not come in time.
    case settingsTimeout
    /// GOAWAY with this error code came in place of the first SETTINGS; its reason was told by `didReceive goAway`.
    case refused(UInt32)
    /// Nothing came in time after a PING: a black hole.
    case pingTimeout
    /// The peer broke the rules of HTTP/2 or flooded us; what it did.
    case protocolError(String)
    /// `drain` was called or GOAWAY received, and every open request has been answered.
    case drained
    /// As `drained`, but some requests were not answered in time.
    case drainTimeout
    /// `close` was called.
    case closed

    package var description: String {
        switch self {
        case .transport(let error): error.description
        case .settingsTimeout: "no SETTINGS in time"
        case .refused(let code): "refused with GOAWAY, \(HTTP2ErrorCode.name(of: code))"
        case .pingTimeout: "no answer to PING in time"
        case .protocolError(let detail): "HTTP/2: \(detail)"
        case .drained: "drained"
        case .drainTimeout: "requests left unanswered when draining"
        case .closed: "closed by us"
        }
    }
}

/// Hears what happens to a server connection, always on its loop.
///
/// Every call may respond, reset, send GOAWAY, close or abort.
package protocol HTTP2ServerDelegate: AnyObject {
    /// The connection and its TLS stand; nothing was received yet.
    func http2ServerDidOpen(_ server: HTTP2Server)
    /// A request is complete. Its bytes are valid only during the call; answer now or later.
    func http2Server(_ server: HTTP2Server, stream: Int32, didReceive request: HTTP2Request)
    /// The end of a stream whose request was handed over; called once for each.
    func http2Server(_ server: HTTP2Server, stream: Int32, didEnd end: ServerStreamEnd)
    /// It is over; called once, after every stream had its end, also after `close` and `abort`.
    func http2Server(_ server: HTTP2Server, didClose reason: CloseReason)
}

/// How a server's stream ended.
package enum ServerStreamEnd: Equatable, Sendable {
    /// The whole answer was handed to the kernel.
    case answered
    /// It was reset, by the client or by us, with this error code.
    case reset(UInt32)
    /// The connection ended first.
    case connectionLost
}

/// Why a request got no response.
///
/// The difference that matters: a request that was not processed may be sent again freely; of any other nobody knows
/// whether the server acted on it.
package enum StreamFailure: Hashable, Sendable {
    /// The server did not act on the request (RFC 9113 §8.7).
    case notProcessed(NotProcessed)
    /// The server may have acted on it.
    case unknown(Unknown)

    package enum NotProcessed: Hashable, Sendable {
        /// RST_STREAM with REFUSED_STREAM: more streams than the server takes at the moment.
        case refused
        /// The stream is above the last one that a GOAWAY names.
        case goAway
        /// No byte of it left this process.
        case neverSent
    }

    package enum Unknown: Hashable, Sendable {
        /// RST_STREAM with this error code (RFC 9113 §7), other than REFUSED_STREAM.
        case reset(UInt32)
        /// The connection ended first.
        case connectionLost
        /// No complete response within `HTTP2Client.Settings.requestTimeout`.
        case timeout
        /// The response breaks HTTP's rules or our limits.
        case malformed
        /// `HTTP2Client.cancel` was called.
        case cancelled
    }
}

/// The answer to one request.
package struct HTTP2Response {
    package let status: Int
    /// Those of the fields that the client was told to keep.
    package let headers: HeaderList
    package let body: [UInt8]
}

/// Why a request got no answer, and whether the server may have acted on it (RFC 9113 §8.7).
package enum StreamFailure: Equatable, Sendable {
    /// Certainly not processed: safe to send again.
    case notProcessed(NotProcessed)
    /// Possibly processed.
    case unknown(Unknown)

    package enum NotProcessed: Equatable, Sendable {
        /// RST_STREAM with REFUSED_STREAM.
        case refused
        /// GOAWAY named a lower last stream id.
        case goAway
        /// It never left this process.
        case neverSent
    }

    package enum Unknown: Equatable, Sendable {
        /// RST_STREAM with any other code.
        case reset(code: UInt32)
        case connectionLost
        case timeout
        /// The answer was not one: no status, or too large.
        case malformed
    }
}

/// A GOAWAY frame (RFC 9113 §6.8).
package struct GoAway: Equatable, Sendable {
    /// Streams above it were not processed.
    package let lastStreamID: Int32
    package let errorCode: UInt32
    /// At most the first 1 KiB.
    package let debugData: [UInt8]
}

/// Why a connection is over.
package enum CloseReason: Equatable, Sendable, CustomStringConvertible {
    /// This side closed it, at once or after draining.
    case local
    /// The transport ended, or never began.
    case transport(String)
    /// The peer sent no SETTINGS in time.
    case settingsTimeout
    /// The peer answered no PING in time.
    case pingTimeout
    /// The peer broke HTTP/2's rules.
    case protocolError(String)
    /// The peer said GOAWAY and everything it still owed is answered, or was waited for long enough.
    case goAway

    package var description: String {
        switch self {
        case .local: "closed by this side"
        case .transport(let detail): detail
        case .settingsTimeout: "no SETTINGS frame in time"
        case .pingTimeout: "no answer to PING in time"
        case .protocolError(let detail): "HTTP/2 protocol error: \(detail)"
        case .goAway: "closed after GOAWAY"
        }
    }
}

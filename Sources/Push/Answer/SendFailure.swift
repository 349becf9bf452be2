/// Why a request got no answer.
///
/// The two cases differ in what the device may see: `notSent` was certainly not processed and is safe to repeat;
/// `maybeSent` may have been, so that a repetition may show twice. RFC 9113 §8.7 says which is which.
package enum SendFailure: Equatable, Sendable {
    case notSent(Cause)
    case maybeSent(Cause)

    package enum Cause: Equatable, Sendable {
        /// RST_STREAM with REFUSED_STREAM.
        case streamRefused
        /// GOAWAY with a last stream id below this stream's.
        case goAwayUnprocessed
        /// There was no connection to send on.
        case noConnection
        /// Waiting for a stream of its own when the worker began to drain.
        case draining
        /// Apple refused the credential that the connection was made with, and another one is in use by now.
        case credentialReplaced
        /// TCP reset, end of file or TLS error.
        case connectionLost
        /// No answer in time.
        case timeout
        /// RST_STREAM with any other code.
        case reset(code: UInt32)
        /// The peer broke HTTP/2 rules, or its answer had no status.
        case protocolViolation

        /// The name for counters and logs. Bounded: all codes of a reset count as one.
        package var name: String {
            switch self {
            case .streamRefused: "stream_refused"
            case .goAwayUnprocessed: "goaway_unprocessed"
            case .noConnection: "no_connection"
            case .draining: "draining"
            case .credentialReplaced: "credential_replaced"
            case .connectionLost: "connection_lost"
            case .timeout: "timeout"
            case .reset: "reset"
            case .protocolViolation: "protocol_violation"
            }
        }
    }

    package var cause: Cause {
        switch self {
        case .notSent(let cause), .maybeSent(let cause): cause
        }
    }
}

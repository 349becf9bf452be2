internal import CNghttp2

/// The error codes of RST_STREAM and GOAWAY (RFC 9113 §7) that somebody here tells apart.
package enum HTTP2ErrorCode {
    package static let noError: UInt32 = 0
    package static let protocolError: UInt32 = 1
    package static let flowControlError: UInt32 = 3
    package static let streamClosed: UInt32 = 5
    package static let frameSizeError: UInt32 = 6
    package static let refusedStream: UInt32 = 7
    package static let cancel: UInt32 = 8
    package static let compressionError: UInt32 = 9
    /// The peer finds that we ask for too much: fewer streams, or more patience.
    package static let enhanceYourCalm: UInt32 = 11

    /// A code's name in the RFC, `ENHANCE_YOUR_CALM` for instance; the number of one that it does not name.
    package static func name(of code: UInt32) -> String {
        code <= 13 ? String(cString: nghttp2_http2_strerror(code)) : "code \(code)"
    }
}

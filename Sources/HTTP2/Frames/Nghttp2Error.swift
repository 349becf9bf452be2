internal import CNghttp2

enum Nghttp2Error {
    static func text(_ code: Int32) -> String {
        String(cString: nghttp2_strerror(code))
    }

    /// - Parameter code: of GOAWAY, RFC 9113 §7.
    static func text(goodbye code: UInt32, detail: String?) -> String {
        let name = HTTP2ErrorCode.name(of: code)
        return detail.map { "\(name): \($0)" } ?? name
    }
}

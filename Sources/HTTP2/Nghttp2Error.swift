internal import CNghttp2

enum Nghttp2Error {
    static func text(_ code: Int32) -> String {
        String(cString: nghttp2_strerror(code))
    }
}

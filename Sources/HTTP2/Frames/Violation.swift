/// A rule that the peer broke.
struct Violation: Error {
    let rule: String
    /// What our GOAWAY says.
    let code: UInt32

    init(_ rule: String, code: UInt32 = HTTP2ErrorCode.enhanceYourCalm) {
        self.rule = rule
        self.code = code
    }

    /// What nghttp2 says of an error, which may repeat what the peer sent.
    init(_ text: UnsafePointer<CChar>?, _ size: Int) {
        let bytes = UnsafeRawBufferPointer(start: text, count: min(size, 200))
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    static let noSettings = Violation("no SETTINGS at the beginning", code: HTTP2ErrorCode.protocolError)
    static let tooManyFrames = Violation("too many frames to no purpose")
    static let tooMuchData = Violation("too much data to no purpose")
}
